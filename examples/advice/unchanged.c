/* unchanged.c - sends its parameters to the next PE in every step, although they never change. */
#include <shmem.h>
#include <stdlib.h>

enum { PARAMETERS = 64, STEPS = 1000000 };
static double parameters[PARAMETERS], theirs[PARAMETERS];
static long step_of;

int main(int argc, char **argv)
{
  int steps = argc > 1 ? atoi(argv[1]) : STEPS;
  shmem_init();
  int right = (shmem_my_pe() + 1) % shmem_n_pes();
  for (int i = 0; i < PARAMETERS; i++) parameters[i] = i;
#ifdef MENDED
  shmem_double_put(theirs, parameters, PARAMETERS, right);
#endif
  for (int step = 0; step < steps; step++) {
#ifndef MENDED
    shmem_double_put(theirs, parameters, PARAMETERS, right); /* flaw */
#endif
    shmem_long_atomic_inc(&step_of, right);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
