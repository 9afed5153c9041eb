"""Race to halt: jobs, processes and phases at each clock."""
