"""Waiting at a barrier, in time and in scale, under each wait policy and mode; straight lines with r2."""
