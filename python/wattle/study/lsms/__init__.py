"""The study of LSMS: the transfers and the waits of a real application's pattern, by MPI and OpenSHMEM."""
