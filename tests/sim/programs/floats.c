/*
 * The floating-point environment of each PE is its own: PE 0 has the default one, PE 1 rounds upward, and all others
 * trap every exception. No call changes it or sets a flag.
 */
#define _GNU_SOURCE /* feenableexcept */
#include <fenv.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BIG = 300000 };

static long counter;
static char to[BIG], from[BIG];
static int traps, rounding;

static void check(const char *call)
{
  if (fetestexcept(FE_ALL_EXCEPT) == 0 && fegetround() == rounding && fegetexcept() == traps) return;
  printf("after %s: flags 0x%x, traps 0x%x of 0x%x, rounding 0x%x of 0x%x\n", call, fetestexcept(FE_ALL_EXCEPT),
         fegetexcept(), traps, fegetround(), rounding);
  exit(1);
}

#define CALL(call) (call, check(#call))

int main(int argc, char **argv)
{
  const int number = atoi(argv[argc - 1]);
  struct timespec now;
  rounding = fegetround();
  check("the start");
  CALL(shmem_init());
  const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  if (me == 1) rounding = fesetround(FE_UPWARD) == 0 ? FE_UPWARD : rounding;
  if (me > 1) traps = feenableexcept(FE_ALL_EXCEPT) < 0 ? 0 : FE_ALL_EXCEPT;
  for (int i = 0; i < number; i++) {
    CALL(clock_gettime(CLOCK_MONOTONIC, &now));
    CALL(usleep(10));
    CALL(memset(from, i, BIG));
    CALL(shmem_putmem(to, from, BIG, next));
    CALL(shmem_long_atomic_add(&counter, 1, next));
    CALL(shmem_barrier_all());
    CALL(shmem_getmem(from, to, BIG, next));
    CALL(clock());
    CALL(shmem_barrier_all());
  }
  CALL(shmem_finalize());
  puts("good");
  return 0;
}
