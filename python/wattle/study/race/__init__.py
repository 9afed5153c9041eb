"""The study of race to halt: jobs, processes and phases at each clock."""
