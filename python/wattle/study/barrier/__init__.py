"""Waiting at a barrier, by the wait's length and by the number of PEs that wait."""
