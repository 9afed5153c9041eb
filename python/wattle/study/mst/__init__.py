"""The study of a minimum spanning tree by MPI, buckets and active messages."""
