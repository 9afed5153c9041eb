"""Race to halt: jobs, processes and phases, or a program of your own, at each available clock."""
