"""Limits for the contents of files of unknown origin. A file beyond them is rejected before it is used."""

from __future__ import annotations

MIB = 1 << 20

JSON_BYTES = 32 * MIB
TEXT_BYTES = MIB  # plans, host files and clusters, which are written by hand
TABLE_BYTES = 256 * MIB  # Parquet files
TIMELINE_BYTES = (1 << 30) + 4 * MIB  # the largest WATTLE_TIMELINE, and the line before the spans

DEPTH = 32  # nested objects and lists
WHOLE = (-(1 << 63), (1 << 63) - 1)
NUMBER = 1e30  # absolute value; products of several such numbers are still finite
PES = 99_999  # five digits in the name of a profile file
COLLECTIVES = 100_000  # synchronizations of a run that is replayed
SLOWDOWN = 1000.0  # percent of time that a choice of clocks may cost
STEPS = 10_000  # clock steps of a simulated core
COUNT = 1 << 53  # largest count in a sample
SAMPLES = 1_000_000  # rows of a study
NAME = 255  # characters of a host name
HOSTS = 65_536  # hosts of a job, and PEs of one host
CLASSES = 65  # classes of powers of two, of numbers of 64 bits
TICKS = 1 << 61  # ticks of a clock, and nanoseconds: sums of a few fit 64 bits
DIGITS = 18  # digits of a whole number in a text: fits 64 bits
