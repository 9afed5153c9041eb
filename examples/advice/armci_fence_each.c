/* armci_fence_each.c - puts to scattered places of the next process, with a fence after each. */
#include <armci.h>
#include <mpi.h>
#include <stdlib.h>

enum { PLACES = 4096, ROUNDS = 400 };

int main(int argc, char **argv)
{
  int me, n, rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  void **memory = malloc((size_t)n * sizeof *memory);
  ARMCI_Malloc(memory, PLACES * 2 * sizeof(double));
  int right = (me + 1) % n;
  double (*table)[2] = memory[right];
  for (int round = 0; round < rounds; round++) {
    for (unsigned i = 0; i < PLACES; i++) {
      double value[2] = {round, i};
      ARMCI_Put(value, table[i * 1657u % PLACES], sizeof value, right);
#ifndef MENDED
      ARMCI_Fence(right); /* flaw */
#endif
    }
    ARMCI_Barrier();
  }
  ARMCI_Free(memory[me]);
  free(memory);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
