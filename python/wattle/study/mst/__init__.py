"""A minimum spanning tree by MPI, buckets and active messages: time, CPU seconds, joules, waits."""
