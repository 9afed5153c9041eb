"""Plans of clocks: groups of PEs with similar waits, a clock for each group, and the file of a plan."""
