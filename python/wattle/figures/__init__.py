"""Computes the figures of a run from its record: call sites, waiting, balance, power, POP factors."""
