/* halo_mpi.c - exchanges borders with both neighbours, and computes. */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH = 16384, ROUNDS = 1500 };

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me, n;
  static double border[2][LENGTH], other[2][LENGTH];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  int near[2] = {(me + n - 1) % n, (me + 1) % n};
  for (int round = 0; round < rounds; round++) {
    MPI_Request request[4];
    for (int side = 0; side < 2; side++) {
      MPI_Irecv(other[side], LENGTH, MPI_DOUBLE, near[side], !side, MPI_COMM_WORLD, &request[side]);
      MPI_Isend(border[side], LENGTH, MPI_DOUBLE, near[side], side, MPI_COMM_WORLD, &request[2 + side]);
    }
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < LENGTH; i++) border[0][i] = border[1][i] = (other[0][i] + other[1][i]) / 2;
  }
  MPI_Finalize();
  return 0;
}
