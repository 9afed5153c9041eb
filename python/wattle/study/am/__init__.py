"""Active messages beside puts, MPI and UCX: bandwidth, message rate, a token ring, energy a message."""
