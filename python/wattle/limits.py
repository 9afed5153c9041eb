"""How much a file that others wrote may hold. What is beyond is refused before anything is made of it."""

from __future__ import annotations

MIB = 1 << 20

JSON_BYTES = 32 * MIB
TEXT_BYTES = MIB  # plans, host files, clusters: written by hand
TABLE_BYTES = 256 * MIB  # Parquet
TIMELINE_BYTES = (1 << 30) + 4 * MIB  # WATTLE_TIMELINE at its most, and the line before the spans

DEPTH = 32  # objects and lists in each other
WHOLE = (-(1 << 63), (1 << 63) - 1)
NUMBER = 1e30  # either side of 0; products of several such numbers are still finite
PES = 99_999  # five digits in the name of a profile file
MEETINGS = 100_000  # of a run that is replayed
SLOWDOWN = 1000.0  # percent of time that a choice of clocks may cost
STEPS = 10_000  # clocks of a simulated core
COUNT = 1 << 53  # of anything in a sample
SAMPLES = 1_000_000  # rows of a study
NAME = 255  # characters of a host's name
HOSTS = 65_536  # of a job, and PEs of one host
TICKS = 1 << 61  # of a clock, and nanoseconds: sums of a few are whole numbers of 64 bits
DIGITS = 18  # of a whole number in a text: fits 64 bits
