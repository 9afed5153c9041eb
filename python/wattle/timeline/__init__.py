"""Timelines of a run: what each PE did when."""
