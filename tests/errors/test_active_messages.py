"""Wrong calls of active messages end the job with one line that names the error; dangerous calls are only reported."""

from __future__ import annotations

import re

import pytest
from jobs import mistakes_of, oshrun

WRONG = [  # case, PE that says it (None: either), what it must say
    ("no handler", 1, "a request from PE 0 is for handler 77, which this PE has not attached, and it ends now"),
    ("detached", 1, "a request from PE 0 is for handler 1, which this PE has detached"),
    ("no such PE", 0, "shmemx_am_request: there is no PE 2; this job has PEs 0 to 1"),
    ("no buffer", 0, "shmemx_am_request: source is NULL, but 8 bytes"),
    (
        "too long",
        0,
        r"shmemx_am_request: nbytes=18446744073709551608 is not valid here \(a negative number\?\)",
    ),
    ("too many words", 0, "shmemx_am_request_words: nwords=5 is not valid here; allowed: 0 to 4"),
    ("place not symmetric", 0, "shmemx_am_request_put: target=0x[0-9a-f]+ is not symmetric"),
    *(
        (f"{call}s {to}a number of the library's", 0, f"shmemx_am_{name}: handler_id=-2147483.* but the 16 lowest ones")
        for call, to, name in (("attache", "", "attach"), ("detache", "", "detach"), ("send", "to ", "request"))
    ),
    ("no function", 0, "shmemx_am_attach: handler=0 is not valid here; allowed: a function"),
    ("reply outside", 0, "shmemx_am_reply: called outside of a handler"),
    ("reply in reply", 0, "shmemx_am_reply: handler 2 runs for a reply, and a reply cannot be answered"),
    ("wrong token", 1, "shmemx_am_reply: the token is not that of the request which handler 1 runs for"),
    ("request in handler", 1, "shmemx_am_request: called by handler 1; a handler may call shmemx_am_reply"),
    ("put in handler", 1, "shmem_long_p: called by handler 1; a handler may call"),
    ("barrier in handler", 1, "shmem_barrier_all: called by handler 1"),
    ("quiet in handler", 1, "shmemx_am_quiet: called by handler 1"),
    ("init in handler", 1, "shmem_init: called by handler 1"),
    ("finalize in handler", 1, "shmem_finalize: called by handler 1"),
    ("returns with mutex", 1, "handler 1 returned while it held 1 mutex"),
    ("locks twice", 0, "shmemx_am_mutex_lock: this thread already holds the mutex at 0x"),
    ("unlocks free", 0, "shmemx_am_mutex_unlock: this thread does not hold the mutex at 0x"),
    ("exit in handler", 1, "exit, without shmem_finalize: called by handler 1; a handler may"),
    ("destroys held", 0, "shmemx_am_mutex_destroy: the mutex at 0x[0-9a-f]+ is held"),
    ("makes held anew", 0, "shmemx_am_mutex_init: this thread already holds the mutex at 0x"),
    ("locks destroyed", 0, "shmemx_am_mutex_lock: the mutex at 0x[0-9a-f]+ was destroyed"),
    *(
        (
            f"{call}s no mutex",
            0,
            f"shmemx_am_mutex_{name}: there is no mutex at 0x[0-9a-f]+; use shmemx_am_mutex_init",
        )
        for call, name in (("lock", "lock"), ("unlock", "unlock"), ("destroy", "destroy"))
    ),
    ("tries no mutex", 0, "shmemx_am_mutex_trylock: there is no mutex at 0x[0-9a-f]+; use shmemx_am_mutex_init"),
]


SENDERS = {case: words for case, pe, words in WRONG if pe == 0 and case != "reply in reply"}
# The mistakes of handlers, and two of the sender itself.
IN_JOBS = [row for row in WRONG if row[0] not in SENDERS or row[0] in ("no such PE", "locks twice")]
PLACE = r" at program\+0x[0-9a-f]+ \(\w+\.c:\d+\)"


@pytest.mark.parametrize("who", ["caller", "auto"])
def test_each_mistake_of_a_sender_ends_its_process_with_a_line(who: str) -> None:
    result = oshrun(2, "wrong_am_each", *SENDERS, env={"WATTLE_PROGRESS": who})
    assert result.code == 0, result
    wrong = [
        (case, code, said)
        for case, (code, said) in mistakes_of(result.out, result.err).items()
        if code != "64" or not re.fullmatch(f"wattle: PE 0: .*{SENDERS[case]}.*\n", re.sub(PLACE, "", said))
    ]
    assert wrong == [] and result.out.count(": 64\n") == len(SENDERS), result


# Each where the PE itself makes progress, and two where its agent may.
BY_WHOM = [("caller", *row) for row in IN_JOBS] + [("auto", *row) for row in IN_JOBS if row[1] == 1][:2]


@pytest.mark.parametrize(("who", "case", "pe", "words"), BY_WHOM)
def test_it_ends_the_job_with_a_line(who: str, case: str, pe: int, words: str) -> None:
    result = oshrun(2, "wrong_am", case, env={"WATTLE_PROGRESS": who})
    assert result.code == 64, result
    (line,) = result.said
    assert line.startswith(f"wattle: PE {pe}: "), result
    assert re.search(words, re.sub(PLACE, "", line)), result


@pytest.mark.parametrize("case", ["longjmp", "longjmp and end"])
def test_a_handler_left_by_longjmp_is_named(case: str) -> None:
    """PE 0 sends to itself and runs the handler in its own thread, from which it jumps."""
    result = oshrun(1, "wrong_am", case, env={"WATTLE_PROGRESS": "caller"})
    assert result.code == 64, result
    assert re.search("handler 1 was left by longjmp; a handler must return", result.said[0]), result


CIRCLES = [("both orders", 2), ("circle of three", 3)]


@pytest.mark.parametrize(("case", "mutexes"), CIRCLES)
def test_mutexes_taken_in_a_circle_are_reported_once(case: str, mutexes: int) -> None:
    result = oshrun(2, "wrong_am", case, env={"WATTLE_AM_DEBUG": "on"})
    assert result.code == 0, result
    (line,) = result.said
    assert "mutexes are locked in a circular order, " in line
    orders = re.findall("(0x[0-9a-f]+) and then (0x[0-9a-f]+) by the program", line)
    assert len(orders) == mutexes and all(a[1] == b[0] for a, b in zip(orders, orders[1:] + orders[:1], strict=True))
    assert oshrun(2, "wrong_am", case).said == []


@pytest.mark.parametrize("case", ["mutex in the place of another", "only tried", "many in one order"])
def test_what_cannot_wait_for_ever_is_not_reported(case: str) -> None:
    result = oshrun(1, "wrong_am", case, env={"WATTLE_AM_DEBUG": "on"})
    assert result.code == 0 and result.said == [], result


def test_a_handler_that_holds_a_mutex_for_long_is_reported() -> None:
    result = oshrun(2, "wrong_am", "slow lock", env={"WATTLE_AM_DEBUG": "on"})
    assert result.code == 0, result
    (line,) = result.said
    assert re.search("handler 1 held the mutex at 0x[0-9a-f]+ for [0-9.]+ ms", line)


def test_one_that_does_so_often_is_reported_once_and_counted_at_the_end() -> None:
    result = oshrun(2, "wrong_am", "slow locks", env={"WATTLE_AM_DEBUG": "on"})
    assert result.code == 0, result
    first, last = result.said
    assert re.search("handler 1 held the mutex at 0x[0-9a-f]+ for [0-9.]+ ms; no other handler", first), result
    assert re.search("handler 1 held a mutex too long, 3 times, [0-9.]+ ms at most$", last), result


@pytest.mark.parametrize(
    ("case", "times"),
    [
        ("waits with one", {"shmemx_am_request": 2, "shmemx_am_quiet": 2}),
        ("waits on a context with one", {"shmemx_ctx_am_quiet": 2}),
        ("sends with one", {"shmemx_am_request": 3}),
    ],
)
def test_a_call_that_may_wait_for_handlers_with_a_mutex_is_reported_once(case: str, times: dict[str, int]) -> None:
    result = oshrun(2, "wrong_am", case, env={"WATTLE_AM_DEBUG": "on"})
    assert result.code == 0, result
    said = "\n".join(result.said)
    assert len(result.said) == 2 * len(times), result
    for call, n in times.items():
        assert said.count(f"PE 0: active messages: {call} may wait for handlers, and the thread") == 1, result
        assert f"{call} was called {n} times by threads that held a mutex" in said, result
    assert oshrun(2, "wrong_am", case).said == []


def test_mutexes_made_anew_for_ever_are_counted_and_the_first_eight_named() -> None:
    result = oshrun(2, "wrong_am", "sends with new ones", env={"WATTLE_AM_DEBUG": "on"})
    assert result.code == 0, result
    *named, last = result.said
    assert len(named) == 8 and all("shmemx_am_request may wait for handlers, and the thread" in s for s in named), (
        result
    )
    assert "shmemx_am_request was called 20 times by threads that held a mutex; the first 8 such" in last, result


def test_circular_orders_of_new_mutexes_are_counted_and_the_first_eight_named() -> None:
    result = oshrun(2, "wrong_am", "circles of new ones", env={"WATTLE_AM_DEBUG": "on"})
    assert result.code == 0, result
    *named, last = result.said
    assert len(named) == 8 and all("mutexes are locked in a circular order, " in s for s in named), result
    assert "mutexes were locked in 20 circular orders; the first 8 are named above" in last, result


def test_the_call_that_the_program_makes_with_a_mutex_is_named() -> None:
    """shmem_barrier_all waits for handlers as shmemx_am_quiet does."""
    result = oshrun(2, "wrong_am", "meets with one", env={"WATTLE_AM_DEBUG": "on"})
    assert result.code == 0, result
    assert [re.search(r"messages: (\w+) may wait", s).group(1) for s in result.said] == [
        "shmemx_am_request",
        "shmem_barrier_all",
    ]


def test_each_way_of_sending_with_a_mutex_is_named() -> None:
    result = oshrun(2, "wrong_am", "sends in each way with one", env={"WATTLE_AM_DEBUG": "on"})
    assert result.code == 0, result
    assert [re.search(r"messages: (\w+) may wait", s).group(1) for s in result.said] == [
        "shmemx_am_request_words",
        "shmemx_am_request_nbi",
        "shmemx_ctx_am_request",
        "shmemx_am_request_put",
    ]


def test_a_barrier_with_a_mutex_is_reported_where_its_pe_has_sent_nothing_either() -> None:
    """Another PE may come to it only when a handler of this one has had the mutex."""
    result = oshrun(2, "wrong_am", "only meets with one", env={"WATTLE_AM_DEBUG": "on"})
    assert result.code == 0, result
    (line,) = result.said
    assert "PE 0: active messages: shmem_barrier_all may wait for handlers, and the thread" in line


@pytest.mark.parametrize("case", ["waits long with one", "waits long on a context with one"])
def test_a_long_wait_with_a_mutex_is_reported_once(case: str) -> None:
    """Whether or not anything is to be reported: it may be waited for for ever."""
    result = oshrun(2, "wrong_am", case, env={"WATTLE_AM_PATIENCE": "50ms"})
    assert result.code == 0, result
    (line,) = result.said
    assert re.search(
        r"PE 0: active messages: a request, .* has waited for 0\.05 s in a thread that holds 1 mutex;", line
    )


def test_a_handler_that_waits_long_for_a_mutex_is_named() -> None:
    result = oshrun(2, "wrong_am", "held for long", env={"WATTLE_AM_PATIENCE": "50ms"})
    assert result.code == 0, result
    (line,) = result.said
    assert re.search(r"PE 0: active messages: handler 1 has waited for 0\.05 s for the mutex at 0x[0-9a-f]+, and", line)


def test_a_message_that_waits_long_for_its_handler_is_named() -> None:
    result = oshrun(2, "wrong_am", "early", env={"WATTLE_AM_PATIENCE": "50ms"})
    assert result.code == 0, result
    (line,) = result.said
    words = (
        "PE 1: active messages: a request from PE 0 has waited for 0.05 s for handler 3, which this PE has not attached"
    )
    assert words in line, result
