"""Payloads of 1 B to 2 MiB in 1 fragment up to one a byte: energy, power, bandwidth, counters."""
