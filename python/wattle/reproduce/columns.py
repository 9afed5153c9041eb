"""The meaning and the unit of every column of the studies' samples."""

from __future__ import annotations

# Column: unit (empty: a text or a count) and meaning. The columns of joules are described by their ends, below.
KNOWN = {
    "series": ("", "the part of the study"),
    "test": ("", "the test: one direction, both directions, or a ring"),
    "way": ("", "the way of sending: active messages, puts, MPI or UCX by itself"),
    "pattern": ("", "the pattern of writes: P put, Q quiet, M copy, A atomic flag"),
    "version": ("", "the version of the mini-app"),
    "input": ("", "the input of the mini-app"),
    "name": ("", "the program, kernel or operation"),
    "who": ("", "the PEs of the sample: all of them, or sender or receiver"),
    "wait": ("", "WATTLE_WAIT, the wait policy"),
    "mode": ("", "the mode of the governor of clocks, or off"),
    "scaling": ("", "reactive or proactive scaling of clocks"),
    "knob": ("", "the interface that sets clocks"),
    "clock": ("GHz", "the fixed clock; null: not fixed"),
    "clear": ("", "how caches were cleared before each iteration"),
    "verified": ("", "whether the data were correct"),
    "x": ("", "the swept value of the series (length of a wait in ms, load ratio, bytes, fragments)"),
    "y": ("", "the second swept value"),
    "bytes": ("B", "the bytes of a message"),
    "payload": ("B", "all bytes that are moved"),
    "fragments": ("", "the number of user buffers"),
    "fragment_bytes": ("B", "the bytes of a user buffer"),
    "in_flight": ("", "the messages that are sent before a wait for their completion"),
    "pes": ("", "the number of PEs"),
    "repeat": ("", "the number of the repeat, from 0"),
    "round": ("", "the number of the round, from 0"),
    "job": ("", "the number of the job"),
    "turn": ("", "the position in the order of the repeat"),
    "rounds": ("", "the rounds of a block"),
    "messages": ("", "the messages of a block"),
    "iterations": ("", "the iterations of a block"),
    "block_s": ("s", "the time of the whole block"),
    "message_s": ("s", "the time a message"),
    "latency_s": ("s", "the median time of an iteration"),
    "latency_p25_s": ("s", "the first quartile of the times of iterations"),
    "latency_p75_s": ("s", "the third quartile of the times of iterations"),
    "latency_mean_s": ("s", "the mean time of an iteration"),
    "latency_min_s": ("s", "the shortest time of an iteration"),
    "unpack_s": ("s", "the receiver's time to unpack; null: nothing is unpacked"),
    "bandwidth_Bps": ("B/s", "payload over latency"),
    "message_rate_per_s": ("1/s", "fragments over latency"),
    "seconds": ("s", "the time of the measured part"),
    "cpu_s": ("s", "the CPU time of the PEs"),
    "wait_s": ("s", "the PEs' time in waits of the measured part"),
    "wait_cpu_s": ("s", "the CPU time of these waits"),
    "idle_J": ("J", "the nodes' idle draw during the measured part, which no PE caused"),
    "energy_interval_s": ("s", "the time over which joules were counted"),
    "energy_covered_s": ("s", "the part of that time that the meter saw"),
    "energy_why": ("", "why joules are missing"),
    "energy_json": ("", "all figures of energy, as the program gave them (JSON)"),
    "spans_json": ("s", "begin, end (since 1970) and share of the spans whose joules an external meter gives (JSON)"),
    "more_json": ("", "further values that only some programs give (JSON)"),
    "instructions": ("", "the instructions of the sender for one payload; null: not counted"),
    "cycles": ("", "the core cycles of the sender for one payload; null: not counted"),
    "cache_references": ("", "the sender's accesses to the last-level cache for one payload; null: not counted"),
    "cache_misses": ("", "the sender's misses of the last-level cache for one payload; null: not counted"),
    "counted_why": ("", "why a count is missing"),
    "interfaces_json": ("", "packets and bytes of each network interface of the sender's node for one payload (JSON)"),
    "no_core": ("", "the share of its time for which a PE of the job lacked a core; null: not known"),
    "job_changes": ("", "the changes of clock in the whole job"),
    "job_slack_s": ("s", "the time of all PEs in slack, in the whole job"),
    "job_slow_s": ("s", "the time of all PEs at a lower clock, in the whole job"),
    "job_active_s": ("s", "the time of all PEs in the state active, in the whole job"),
    "job_spin_s": ("s", "the time of all PEs in the state spin, in the whole job"),
    "job_yield_s": ("s", "the time of all PEs in the state yield, in the whole job"),
    "job_asleep_s": ("s", "the time of all PEs in the state asleep, in the whole job"),
    "job_waits_json": ("", "the wall time and the wait of each PE in the whole job, in s (JSON)"),
}
ENDS = {
    "_uncertainty_J": ("J", "the half-width of {} joules, at about 95 %"),
    "_provenance": ("", "the provenance of {} joules: measured, modelled or unavailable"),
    "_source": ("", "the sensor or machine profile of {} joules"),
    "_J": ("J", "{} joules of the sample"),
}
# Ends of names that carry their unit, for columns that this table does not have.
UNITS = {"_s": "s", "_J": "J", "_W": "W", "_GHz": "GHz", "_Bps": "B/s", "_per_s": "1/s", "_bytes": "B"}


def _of(name: str) -> tuple[str, str] | None:
    if name in KNOWN:
        return KNOWN[name]
    for end, (unit_of, meaning) in ENDS.items():
        if name.endswith(end):
            return unit_of, meaning.format(name.removesuffix(end).upper())
    return None


def unit(name: str) -> str:
    """The unit of a column; empty for a text or a count."""
    found = _of(name)
    if found is not None:
        return found[0]
    return next((unit_of for end, unit_of in UNITS.items() if name.endswith(end)), "")


def words(name: str) -> str:
    """The meaning of a column; empty where it is not known."""
    found = _of(name)
    return "" if found is None else found[1]
