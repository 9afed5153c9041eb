"""Plans of clocks: groups of PEs that wait alike, a clock for each group, and the file of a plan."""
