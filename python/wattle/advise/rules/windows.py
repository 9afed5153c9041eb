"""Windows of MPI that are made again and again: each is a collective call that sets up memory for all ranks."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise import calls
from wattle.advise.evidence import Evidence, Interval, Spot
from wattle.advise.finding import Advice, Effort, Finding, Part, Sure, saved_by
from wattle.advise.language import Snippet
from wattle.text.units import count, seconds

NAME = "windows"
FEWEST_CALLS = 16
# Of making and freeing them. One remains, and a rank that is late makes the others wait at the next call instead. The
# calls at a window take less time while it stays, too: the example saved 98 % where these calls took 93 %.
SAVED = Interval(0.55, 1.1)

CHANGE = Snippet(
    c="""\
MPI_Win_allocate(most_bytes, 1, info, comm, &base, &win);  /* once, for the largest size, before the loop */
MPI_Win_free(&win);                                        /* once, after it */""",
    cxx="""\
MPI_Win_allocate(most_bytes, 1, info, comm, &base, &win);  // once, for the largest size, before the loop
MPI_Win_free(&win);                                        // once, after it""",
    fortran="""\
call MPI_Win_allocate(most_bytes, 1, info, comm, base, win, ierr)  ! once, for the largest size, before the loop
call MPI_Win_free(win, ierr)                                       ! once, after it""",
)


def find(evidence: Evidence) -> Iterator[Finding]:
    frees = [spot for spot in evidence.spots if spot.call == "MPI_Win_free" and spot.most_calls >= FEWEST_CALLS]
    made = [spot for spot in evidence.spots if calls.WINDOW.match(spot.call) and spot.most_calls >= FEWEST_CALLS]
    if frees and sum(spot.calls for spot in frees) < sum(spot.calls for spot in made) / 2:
        frees = []  # most windows stay
    for spot in made if frees else ():
        yield _finding(evidence, spot, frees)


def _finding(evidence: Evidence, spot: Spot, frees: list[Spot]) -> Finding:
    title = f"{count(spot.calls)} windows, made and freed again: make one and keep it"
    seen = [
        f"{spot.words}: {count(spot.calls)} calls of {seconds(spot.mean_s)}",
        *(f"{free.words}: {count(free.calls)} calls" for free in frees),
    ]
    rests = "The time of these calls in this run. A rank that is late may make the others wait elsewhere instead."
    advice = Advice(title, seen, CHANGE.at(spot.place), rests, Effort.LINES, Sure.MEDIUM)
    parts = [Part(each, SAVED) for each in (spot, *frees)]
    return Finding(NAME, [spot, *frees], advice, saved_by(evidence, parts))
