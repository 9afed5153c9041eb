/*
 * ring.c - exchanges data in a ring: data that go left come from the right.
 *
 * Of two processes each is the other's neighbour twice, and one process is its own neighbour. It prints the data that
 * each edge received by each call.
 */
#include <mpi.h>
#include <stdio.h>

static int me, mine[2], got[2];

static void tell(const char *call)
{
  printf("%d %s %d %d\n", me, call, got[0], got[1]);
  got[0] = got[1] = -1;
}

int main(int argc, char **argv)
{
  int n, round = 1;
  const int one[2] = {1, 1}, at[2] = {0, 1};
  const MPI_Aint bytes[2] = {0, sizeof(int)};
  const MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &round, 0, &ring);
  MPI_Comm_rank(ring, &me);
  mine[0] = 2 * me;
  mine[1] = 2 * me + 1;
  MPI_Neighbor_alltoall(mine, 1, MPI_INT, got, 1, MPI_INT, ring);
  tell("alltoall");
  MPI_Neighbor_alltoallv(mine, one, at, MPI_INT, got, one, at, MPI_INT, ring);
  tell("alltoallv");
  MPI_Neighbor_alltoallw(mine, one, bytes, ints, got, one, bytes, ints, ring);
  tell("alltoallw");
  MPI_Neighbor_allgather(mine, 1, MPI_INT, got, 1, MPI_INT, ring);
  tell("allgather");
  MPI_Neighbor_allgatherv(mine, 1, MPI_INT, got, one, at, MPI_INT, ring);
  tell("allgatherv");
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
