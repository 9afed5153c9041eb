/* armci_get_put.c - adds to blocks of the next process: gets a block, adds to it and puts it back. */
#include <armci.h>
#include <mpi.h>
#include <stdlib.h>

enum { BLOCKS = 512, LENGTH = 64, ROUNDS = 800 };

int main(int argc, char **argv)
{
  int me, n, rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
  double amounts[LENGTH], one = 1;
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  void **memory = malloc((size_t)n * sizeof *memory);
  ARMCI_Malloc(memory, BLOCKS * LENGTH * sizeof(double));
  int right = (me + 1) % n;
  double (*block)[LENGTH] = memory[right];
  for (int i = 0; i < LENGTH; i++) amounts[i] = i;
  for (int round = 0; round < rounds; round++) {
    for (unsigned k = 0; k < BLOCKS; k++) {
      unsigned i = k * 1657u % BLOCKS;
#ifdef MENDED
      ARMCI_Acc(ARMCI_ACC_DBL, &one, amounts, block[i], sizeof amounts, right);
#else
      double copy[LENGTH];
      ARMCI_Get(block[i], copy, sizeof copy, right); /* flaw */
      for (int j = 0; j < LENGTH; j++) copy[j] += one * amounts[j];
      ARMCI_Put(copy, block[i], sizeof copy, right);
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
