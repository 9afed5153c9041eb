"""Wattle's lab: runs programs and studies, and says where their time and their joules went."""

__version__ = "0.1.0"
