"""The command `wattle scale`: time and joules over the number of processes, and how many to use."""
