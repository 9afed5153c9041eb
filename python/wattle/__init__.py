"""Wattle's lab: runs programs and studies and shows where their time and joules went."""

__version__ = "0.1.0"
