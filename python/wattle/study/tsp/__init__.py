"""The study of the travelling salesman by MPI, buckets, active messages and work stealing."""
