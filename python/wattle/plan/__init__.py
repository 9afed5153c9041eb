"""`wattle plan`: computes a clock for each PE from its waiting in a run."""
