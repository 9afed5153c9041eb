/*
 * PE 0 puts ARG bytes to each other PE, one after the other, and completes each. Prints "us" and the times, by PE.
 * With a second ARG each PE of the first half puts so often to one of the second, all at once. PE 0 prints the time.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
  shmem_init();
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 8;
  char *to = shmem_malloc(n), *from = shmem_malloc(n);
  if (!to || !from) return 1;
  shmem_barrier_all();
  double all = now();
  int times = argc > 2 ? atoi(argv[2]) : 0, half = shmem_n_pes() / 2;
  for (int i = 0; i < times && shmem_my_pe() < half; i++) shmem_putmem_nbi(to, from, n, shmem_my_pe() + half);
  shmem_barrier_all();
  if (times && shmem_my_pe() == 0) printf("us %.9g\n", 1e6 * (now() - all));
  for (int turn = 0; turn < 2 && !times && shmem_my_pe() == 0; turn++) { /* in the first one memory is registered */
    if (turn) printf("us 0");
    for (int pe = 1; pe < shmem_n_pes(); pe++) {
      double began = now();
      shmem_putmem(to, from, n, pe);
      shmem_quiet();
      if (turn) printf(" %.9g", 1e6 * (now() - began));
    }
    if (turn) printf("\n");
  }
  shmem_barrier_all();
  shmem_free(from);
  shmem_free(to);
  shmem_finalize();
  return 0;
}
