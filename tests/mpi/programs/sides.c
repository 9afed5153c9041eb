/*
 * sides.c - runs collectives of two groups, alternately from each side.
 *
 * The processes on the root's side that are not the root contribute nothing, and pass counts and types without
 * meaning.
 */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 20, MOST = 40000 };
static int mine[MOST], sum[MOST];

int main(int argc, char **argv)
{
  int me, n, here, beside, beyond, wrong = 0;
  MPI_Comm side, both;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  int color = me < n / 2 ? 0 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, color, 0, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, color ? 0 : n / 2, 7, &both);
  MPI_Comm_rank(side, &here);
  MPI_Comm_size(side, &beside);
  MPI_Comm_remote_size(both, &beyond);
  for (int round = 0; round < ROUNDS; round++) {
    int from = round % 2, root = round % (from == color ? beside : beyond);
    int to = from != color ? root : here == root ? MPI_ROOT : MPI_PROC_NULL;
    int length = to == MPI_PROC_NULL ? 0 : round % 3 ? 1 : MOST, said = from == color ? round : -1;
    MPI_Bcast(&said, to == MPI_PROC_NULL ? 0 : 1, MPI_INT, to, both);
    if (said != round) wrong++;
    for (int i = 0; i < length; i++) mine[i] = i + round;
    MPI_Reduce(mine, sum, length, MPI_INT, MPI_SUM, to, both);
    for (int i = 0; to == MPI_ROOT && i < length; i++) wrong += sum[i] != beyond * (i + round);
    MPI_Gather(mine, to == MPI_PROC_NULL ? 0 : 1, MPI_INT, sum, to == MPI_PROC_NULL ? 0 : 1, MPI_INT, to, both);
    for (int i = 0; to == MPI_ROOT && i < beyond; i++) wrong += sum[i] != round;
    MPI_Scatter(sum, to == MPI_PROC_NULL ? 0 : 1, MPI_INT, &said, to == MPI_PROC_NULL ? 0 : 1, MPI_INT, to, both);
    if (said != round) wrong++;
    MPI_Barrier(both);
  }
  printf("%d wrong\n", wrong);
  MPI_Comm_free(&both);
  MPI_Comm_free(&side);
  MPI_Finalize();
  return wrong != 0;
}
