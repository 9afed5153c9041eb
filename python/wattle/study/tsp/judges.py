"""What the dissertation says of the travelling salesman's three versions (D 13.4.4), and the bars this project sets
itself."""

from __future__ import annotations

from wattle.study.published import NotTestable, Outcome, Published, verdict_of
from wattle.study.versions import judges as rows
from wattle.study.versions.analysis import Analysis

FOUR, FOURTEEN, FIFTEEN = "4 cities", "14 cities", "15 cities"
SETUP = "2 to 256 PEs, one a core, on several nodes over InfiniBand"
CLOSE = 1.25  # times this or less apart is close
LOSS = 1.25  # slower by this is a loss
OURS_SETUP = "this machine"


def _worst_on_few(a: Analysis) -> Outcome:
    rows.given_input(a, FOUR)
    worst = []
    for n in a.pes:
        times = {v: rows.seconds(a, v, FOUR, n).median for v in ("mpi", "bucket", "am")}
        worst.append((n, max(times, key=lambda v: times[v])))
    ours = ", ".join(f"{version} at {n} PEs" for n, version in worst)
    holds = all(version == "mpi" for _, version in worst)
    return Outcome(f"slowest: {ours}", verdict_of(holds), () if holds else (rows.other(a),))


def _bucket_falls_behind(given: str) -> rows.Judge:
    def judge(a: Analysis) -> Outcome:
        rows.given_input(a, given)
        counts = rows.counted(a, lambda n: n > 32, "more than 32 PEs")
        found = [rows.ratio(a, "bucket", "am", given, n).median for n in counts]
        ours = rows.ratios_text(a, "bucket", "am", given, counts)
        return Outcome(ours, verdict_of(all(r >= LOSS for r in found)))

    return judge


def _trend(given: str) -> rows.Judge:
    """Does the bucket version lose ground to the one with active messages as PEs are added?"""

    def judge(a: Analysis) -> Outcome:
        rows.given_input(a, given)
        if len(a.pes) < 2:
            raise NotTestable("one number of PEs shows no trend")
        ends = (a.pes[0], a.pes[-1])
        first, last = (rows.ratio(a, "bucket", "am", given, n).median for n in ends)
        ours = rows.ratios_text(a, "bucket", "am", given, ends)
        holds = last > first
        return Outcome(ours, verdict_of(holds), () if holds else (rows.other(a),))

    return judge


def _close_at_scale(given: str) -> rows.Judge:
    def judge(a: Analysis) -> Outcome:
        rows.given_input(a, given)
        n = a.pes[-1]
        found = rows.ratio(a, "am", "mpi", given, n).median
        ours = rows.ratios_text(a, "am", "mpi", given, [n])
        holds = 1 / CLOSE <= found <= CLOSE
        return Outcome(ours, verdict_of(holds), () if holds else (rows.other(a),))

    return judge


def _varies_with_few(a: Analysis) -> Outcome:
    rows.given_input(a, FIFTEEN)
    if len(a.pes) < 2:
        raise NotTestable("one number of PEs cannot be compared with another")
    few, many = a.pes[0], a.pes[-1]
    spreads = {}
    for version, n in (("am", few), ("am", many), ("mpi", few)):
        rows.seconds(a, version, FIFTEEN, n)
        spreads[version, n] = a.spread(version, FIFTEEN, n) or 0.0
    ours = ", ".join(f"{version} {value * 100:.0f} % at {n} PEs" for (version, n), value in spreads.items())
    holds = spreads["am", few] > spreads["am", many] and spreads["am", few] > spreads["mpi", few]
    why = (
        ()
        if holds
        else (
            "One handler at a time runs on the master here, so handlers never wait for each other's lock: only the "
            "master's own thread and a handler can meet at it.",
        )
    )
    return Outcome(f"middle half over the median: {ours}", verdict_of(holds), why)


def _row(name: str, condition: str, published: str, tolerance: str, judge: rows.Judge) -> Published[Analysis]:
    return Published(name, "published", "D 13.4.4, figure 13.6", condition, published, tolerance, judge, SETUP)


ROWS: list[Published[Analysis]] = [
    _row("mpi-worst", FOUR, "MPI is the slowest", "the largest median at every number of PEs", _worst_on_few),
    *(
        _row(
            f"bucket-behind-{given.split()[0]}",
            f"{given}, more than 32 PEs",
            "The bucket version falls behind",
            f"at least {LOSS} times the time of active messages",
            _bucket_falls_behind(given),
        )
        for given in (FOURTEEN, FIFTEEN)
    ),
    *(
        _row(
            f"bucket-trend-{given.split()[0]}",
            f"{given}, fewest and most PEs here",
            "Scanning costs more with every worker",
            "bucket / am is larger with the most PEs than with the fewest",
            _trend(given),
        )
        for given in (FOURTEEN, FIFTEEN)
    ),
    *(
        _row(
            f"am-close-{given.split()[0]}",
            f"{given}, most PEs here",
            "Active messages are close to MPI at scale",
            f"within a factor of {CLOSE}",
            _close_at_scale(given),
        )
        for given in (FOURTEEN, FIFTEEN)
    ),
    _row(
        "am-varies",
        f"{FIFTEEN}, few PEs",
        "Active messages vary widely, and less with more PEs",
        "a larger middle half than with the most PEs, and than MPI's",
        _varies_with_few,
    ),
]


def _bar(name: str, condition: str, promise: str, tolerance: str, judge: rows.Judge) -> Published[Analysis]:
    return Published(name, "bar", "this project", condition, promise, tolerance, judge, OURS_SETUP)


BARS: list[Published[Analysis]] = [
    *(
        _bar(
            f"bar-mpi-{given.split()[0]}",
            f"{given}, 2 to 32 PEs",
            "Active messages take no longer than MPI",
            "am / mpi at most 1, medians",
            rows.at_most("am", "mpi", given, 1.0, 2, 32),
        )
        for given in (FOURTEEN, FIFTEEN)
    ),
    *(
        _bar(
            f"bar-bucket-{given.split()[0]}",
            f"{given}, 8 to 32 PEs",
            "Active messages are well ahead of buckets",
            "am / bucket at most 0.7, medians",
            rows.at_most("am", "bucket", given, 0.7, 8, 32),
        )
        for given in (FOURTEEN, FIFTEEN)
    ),
    _bar(
        "bar-asleep",
        "workers whose first work is held back",
        "Workers without work sleep",
        "CPU seconds at most 2 % of the time",
        rows.asleep(("am", "steal", "bucket"), 0.02),
    ),
]
