"""The travelling salesman by MPI, buckets, active messages and work stealing: time, CPU seconds, joules, waits."""
