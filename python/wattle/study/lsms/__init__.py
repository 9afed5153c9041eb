"""The two stages of LSMS by MPI and OpenSHMEM: transfers in five access patterns, waits in each governor mode."""
