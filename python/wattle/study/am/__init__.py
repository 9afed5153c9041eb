"""Active messages beside puts, MPI and UCX: bandwidth, message rate and a token ring."""
