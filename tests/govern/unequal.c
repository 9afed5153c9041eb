/*
 * unequal.c - PE 0 computes nothing, the others 12 ms, and all meet at a barrier; so many times. Prints what it
 * counted, once.
 *
 * usage: unequal ROUNDS [exit|hang]      exit: PE 0 ends the job with status 3 after the rounds; hang: it goes on for
 * ever
 */
#include <shmem.h>

#include "os/os.h"
#include "pes.h"

static void compute(uint64_t ms)
{
  uint64_t until = wtl_clock_ns() + ms * 1000000;
  while (wtl_clock_ns() < until) wtl_relax();
}

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : 40;
  const char *end = argc > 2 ? argv[2] : "";
  shmem_init();
  long *on_0 = shmem_calloc(1, sizeof *on_0);
  for (int i = 0; i < rounds || strcmp(end, "hang") == 0; i++) {
    if (shmem_my_pe()) compute(12);
    shmem_long_atomic_add(on_0, 1, 0);
    shmem_barrier_all();
    if (i == rounds && shmem_my_pe() == 0) fprintf(stderr, "rounds done\n");
  }
  if (strcmp(end, "exit") == 0 && shmem_my_pe() == 0) shmem_global_exit(3);
  if (strcmp(end, "exit") == 0) shmem_barrier_all();
  long count = *on_0;
  bool is_right = shmem_my_pe() != 0 || count == (long)rounds * shmem_n_pes();
  if (shmem_my_pe() == 0) printf("count %ld\n", count);
  shmem_finalize();
  return !is_right;
}
