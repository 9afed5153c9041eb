"""Two-sided messages, eager and rendezvous, by Open MPI and MPICH or simulated: bytes per joule, power."""
