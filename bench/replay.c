/*
 * replay.c - computes between barriers as a recorded MPI program did, so that the simulated governor has the same
 * slack.
 *
 * Word: a file of 32-bit numbers: ranks, barriers, then for each barrier the number of its call site (below SITES), and
 * then the nanoseconds that each rank computes before it.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wattle_sim.h>

enum { SITES = 16 };

/* The governor knows a region by the call site of its barrier, so each has one. The comment keeps the compiler from
 * making one call of several. */
#define CASE(n)                                                                                                        \
  case n:                                                                                                              \
    shmem_barrier_all();                                                                                               \
    __asm__ volatile("# site " #n);                                                                                    \
    break;
static void meet(uint32_t site)
{
  switch (site) {
    CASE(0)
    CASE(1)
    CASE(2)
    CASE(3)
    CASE(4)
    CASE(5)
    CASE(6)
    CASE(7)
    CASE(8)
    CASE(9)
    CASE(10)
    CASE(11)
    CASE(12)
    CASE(13)
    CASE(14)
  default: shmem_barrier_all();
  }
}

int main(int argc, char **argv)
{
  uint32_t head[2], *row;
  FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!f || fread(head, sizeof head, 1, f) != 1) {
    fprintf(stderr, "usage: replay FILE\n");
    return 64;
  }
  shmem_init();
  row = malloc((1 + (size_t)head[0]) * sizeof *row);
  if (!row || head[0] != (uint32_t)shmem_n_pes()) shmem_global_exit(64);
  for (uint32_t i = 0; i < head[1]; i++) {
    if (fread(row, sizeof *row, 1 + head[0], f) != 1 + head[0]) shmem_global_exit(65);
    wattle_sim_compute(1e-9 * row[1 + shmem_my_pe()]);
    meet(row[0]);
  }
  free(row);
  fclose(f);
  shmem_finalize();
  return 0;
}
