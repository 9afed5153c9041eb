/*
 * near.c - times operations on a node that has several PEs. Prints "us" and the times, by PE 0.
 *
 * usage: near times BYTES | near cross BYTES | near pointer SECONDS | near never
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "wattle_sim.h"

static long flag;
static double us[64];

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A put and a get of `n` bytes, and an atomic operation. */
static void print_times(char *mine, char *other, size_t n)
{
  double t[4] = {now()};
  shmem_putmem(other, mine, n, 1);
  t[1] = now();
  shmem_getmem(mine, other, n, 1);
  t[2] = now();
  shmem_long_atomic_inc(&flag, 1);
  t[3] = now();
  printf("us %.9g %.9g %.9g\n", 1e6 * (t[1] - t[0]), 1e6 * (t[2] - t[1]), 1e6 * (t[3] - t[2]));
}

/* Each PE of the first half puts to one of the second, all at once. */
static void print_crossing(char *mine, char *other, size_t n)
{
  int me = shmem_my_pe(), half = shmem_n_pes() / 2;
  for (int i = 0; i < 2; i++) { /* the first time memory is registered */
    double began = now();
    if (me < half) shmem_putmem(other, mine, n, me + half);
    shmem_quiet();
    shmem_barrier_all();
    us[0] = 1e6 * (now() - began);
  }
  if (me == 0) printf("us %.9g\n", us[0]);
}

/* PE 1 stores to PE 0 without a call; PE 0 prints how long it waited. */
static void store_directly(double seconds)
{
  double began = now();
  if (shmem_my_pe() == 1) {
    volatile long *there = shmem_ptr(&flag, 0);
    if (!there) exit(1);
    wattle_sim_compute(seconds);
    *there = 1;
    wattle_sim_compute(seconds);
  } else if (shmem_my_pe() == 0) {
    shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
    printf("us %.9g\n", 1e6 * (now() - began));
  }
}

int main(int argc, char **argv)
{
  shmem_init();
  const char *how = argc > 1 ? argv[1] : "";
  size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  char *mine = shmem_malloc(n + 1), *other = shmem_malloc(n + 1);
  shmem_barrier_all();
  if (!strcmp(how, "times") && shmem_my_pe() == 0) print_times(mine, other, n);
  if (!strcmp(how, "cross")) print_crossing(mine, other, n);
  if (!strcmp(how, "pointer")) store_directly(atof(argv[2]));
  if (!strcmp(how, "never") && shmem_my_pe() == 0) shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
