/* rounds.h - tests of rounds that one seed draws, between two symmetric arrays. */
#ifndef WTL_TESTS_ROUNDS_H
#define WTL_TESTS_ROUNDS_H

#include <shmem.h>
#include <stdlib.h>

#include "pes.h"

typedef void (*one_round)(uint64_t *random, uint64_t round, uint64_t *dest, uint64_t *source);

/* Arguments: [SEED [ROUNDS]], of which `usual` are there. `words`: of an array. The program's exit code, finalized. */
static inline int in_rounds(int argc, char **argv, uint64_t usual, size_t words, one_round run)
{
  uint64_t random = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : usual;
  uint64_t *source = shmem_malloc(words * sizeof *source), *dest = shmem_malloc(words * sizeof *dest);
  for (uint64_t round = 0; round < rounds; round++) run(&random, round, dest, source);
  shmem_barrier_all();
  shmem_free(dest);
  shmem_free(source);
  shmem_finalize();
  return failures != 0;
}

#endif
