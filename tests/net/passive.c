/*
 * A target that computes is served all the same. PE 1 computes until PE 0, which puts, adds and gets meanwhile, tells it by a put to
 * stop: without a progress agent this program hangs. The other PE waits asleep; its CPU time is printed.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long counter, stop;
static char block[1 << 20];

static double cpu_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int reach_it(void)
{
  static char here[sizeof block];
  int wrong = 0;
  for (int i = 0; i < 100; i++) wrong |= shmem_long_atomic_fetch_add(&counter, 1, 1) != i;
  memset(here, 7, sizeof here);
  shmem_putmem(block, here, sizeof here, 1);
  shmem_quiet();
  memset(here, 0, sizeof here);
  shmem_getmem(here, block, sizeof here, 1);
  for (size_t i = 0; i < sizeof here; i++) wrong |= here[i] != 7;
  shmem_long_p(&stop, 1, 1);
  return wrong;
}

int main(void)
{
  int wrong = 0;
  shmem_init();
  wrong = shmem_ptr(&counter, 1 - shmem_my_pe()) != NULL; /* no address reaches another node */
  shmem_barrier_all();
  if (shmem_my_pe() == 0) wrong |= reach_it();
  if (shmem_my_pe() == 1)
    for (volatile double x = 0; !*(volatile long *)&stop;) x += 1; /* no call of the library */
  double before = cpu_seconds();
  if (shmem_my_pe() == 1) nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) printf("cpu %.4f\n", cpu_seconds() - before);
  shmem_finalize();
  if (wrong) fprintf(stderr, "wrong data\n");
  return wrong;
}
