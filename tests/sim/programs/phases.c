/*
 * phases.c - regions that move bytes and regions that compute, alternately. Words: loops, then for each region the
 * milliseconds of computing at the base clock and the megabytes that it moves.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <wattle_sim.h>

enum { MOST = 4 };

/* Each barrier has a call site of its own, which is what the governor knows a region by. The comment keeps the compiler
 * from making one call of several. */
#define CASE(n)                                                                                                        \
  case n:                                                                                                              \
    shmem_barrier_all();                                                                                               \
    __asm__ volatile("# site " #n);                                                                                    \
    break;
static void meet(int region)
{
  switch (region) {
    CASE(0)
    CASE(1)
    CASE(2)
    CASE(3)
  }
}

int main(int argc, char **argv)
{
  int regions = (argc - 2) / 2;
  if (argc < 4 || regions > MOST) return 64;
  shmem_init();
  for (int i = 0; i < atoi(argv[1]); i++)
    for (int r = 0; r < regions; r++) {
      wattle_sim_compute(1e-3 * atof(argv[2 + 2 * r]));
      wattle_sim_move((size_t)(1e6 * atof(argv[3 + 2 * r])));
      meet(r);
    }
  shmem_finalize();
  return 0;
}
