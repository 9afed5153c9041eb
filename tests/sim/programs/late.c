/*
 * PE 0 comes late to a barrier, by so many ms of sleep. Prints what the others saw of it, and then computes the same on
 * all PEs: the time that takes depends on the clock alone.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
  volatile long x = 0;
  shmem_init();
  shmem_barrier_all();
  double began = seconds();
  if (shmem_my_pe() == 0) usleep((unsigned)atoi(argv[1]) * 1000);
  shmem_barrier_all();
  double waited = seconds();
  for (int i = 0; i < 1000000; i++) x += i & 3 ? i : -i;
  double computed = seconds();
  if (shmem_my_pe() == 1) printf("waited %.9f computed %.9f\n", waited - began, computed - waited);
  shmem_finalize();
  return 0;
}
