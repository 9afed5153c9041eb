/*
 * Patches put, accumulated and got by PE 0 in the last one's memory, each with a fence: so many that the messages which
 * answer them can be counted in the profile. usage: answers ROUNDS
 */
#include "armci_tests.h"

enum { ROWS = 64, ROW = 1024, PATCH = ROWS * ROW }; /* more than two messages carry, and less than three */

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 100;
  ARMCI_Init();
  int me = shmem_my_pe(), n = shmem_n_pes(), strides[] = {2 * ROW}, count[] = {ROW, ROWS};
  double scale = 1, *here = calloc(2, PATCH);
  void **memory = calloc((size_t)n, sizeof *memory);
  REQUIRE(here && memory);
  EXPECT(ARMCI_Malloc(memory, 2 * PATCH) == 0, "no memory");
  ARMCI_Barrier();
  for (int i = 0; me == 0 && i < rounds; i++) {
    ARMCI_PutS(here, strides, memory[n - 1], strides, count, 1, n - 1);
    ARMCI_Fence(n - 1);
    ARMCI_AccS(ARMCI_ACC_DBL, &scale, here, strides, memory[n - 1], strides, count, 1, n - 1);
    ARMCI_Fence(n - 1);
    ARMCI_GetS(memory[n - 1], strides, here, strides, count, 1, n - 1);
    ARMCI_Fence(n - 1);
  }
  ARMCI_Barrier();
  ARMCI_Free(memory[me]);
  free(memory);
  free(here);
  ARMCI_Finalize();
  return failures != 0;
}
