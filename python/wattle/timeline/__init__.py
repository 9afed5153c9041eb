"""Timelines of a run: the activity of each PE over time."""
