/*
 * A job to be broken off in a known place. usage: vanish rounds|transfer|barrier|wait|finalize|init|talk
 *
 * rounds and transfer keep all PEs at it; in the others the last PE stays away while the rest wait. In init and talk they
 * wait in shmem_init; in talk the last PE writes meanwhile, which its launcher's daemon sends on. PE 0 says "under way"
 * when all are there, or, where that cannot be known, just before it goes.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 16 << 20 };
static long counter, flag;
static char large[LARGE];

static void say_under_way(void)
{
  if (shmem_my_pe() != 0) return;
  puts("under way");
  fflush(stdout);
}

static void stay_away(void)
{
  for (;;) pause();
}

static void talk(void)
{
  for (;; usleep(50000)) puts("still here"), fflush(stdout);
}

static void rounds(void)
{
  for (;;) {
    shmem_long_atomic_add(&counter, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
  }
}

/* To the last PE, so that it is on its way whichever node goes. */
static void transfers(int me, int n)
{
  char *here = malloc(LARGE);
  memset(here, me, LARGE);
  for (;;) {
    shmem_putmem(large, here, LARGE, me == n - 1 ? 0 : n - 1);
    shmem_quiet();
  }
}

int main(int argc, char **argv)
{
  const char *place = argc > 1 ? argv[1] : "rounds", *rank = getenv("PMIX_RANK"),
             *size = getenv("OMPI_COMM_WORLD_SIZE");
  int talks = strcmp(place, "talk") == 0, before = talks || strcmp(place, "init") == 0;
  if (before && rank && size && atoi(rank) == atoi(size) - 1) talks ? talk() : stay_away();
  if (before && rank && atoi(rank) == 0) puts("under way"), fflush(stdout);
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_barrier_all();
  say_under_way();
  if (strcmp(place, "rounds") == 0) rounds();
  if (strcmp(place, "transfer") == 0) transfers(me, n);
  if (me == n - 1) stay_away();
  if (strcmp(place, "barrier") == 0) shmem_barrier_all();
  if (strcmp(place, "wait") == 0) shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
  shmem_finalize();
  return 0;
}
