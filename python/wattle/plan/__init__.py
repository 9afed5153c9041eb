"""`wattle plan`: a clock for each PE, from what a run has waited."""
