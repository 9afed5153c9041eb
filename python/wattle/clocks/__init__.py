"""A plan of clocks for a job's PEs: which PEs wait alike, a clock for each group, and the file that keeps it."""
