/*
 * on_nodes.c - sends a known number of operations within and between nodes: puts, gets, atomic operations, signals and
 * collectives. Each PE starts the next operation only when the one before is complete, so that none share a message.
 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 512, TIMES = 3 };

static long word, flag, source[WORDS], dest[WORDS], sums[2], gathered[2 * WORDS];
static uint64_t signals;

static void to_each(int me, int n)
{
  for (int i = 1; i < n; i++) {
    int pe = (me + i) % n;
    shmem_long_put(dest, source, WORDS, pe);
    shmem_quiet();
    shmem_long_get(source, source, WORDS, pe);
    shmem_long_atomic_inc(&word, pe);
    shmem_quiet();
    if (shmem_long_atomic_fetch(&flag, pe) != 0) printf("wrong flag\n");
  }
  shmem_barrier_all();
}

static void around(int me, int n)
{
  shmem_long_put_signal(dest, source, 8, &signals, 1, SHMEM_SIGNAL_ADD, (me + 1) % n);
  shmem_quiet();
  shmem_signal_wait_until(&signals, SHMEM_CMP_NE, 0);
  shmem_barrier_all();
  signals = 0;
  shmem_barrier_all();
}

static void together(int me, int n)
{
  sums[0] = me;
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums + 1, sums, 1);
  if (sums[1] != n * (n - 1) / 2) printf("wrong sum\n");
  shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, WORDS, 1);
  shmem_long_fcollect(SHMEM_TEAM_WORLD, gathered, source, 2);
  shmem_barrier_all();
}

int main(void)
{
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_barrier_all();
  for (int i = 0; i < TIMES; i++) {
    to_each(me, n);
    around(me, n);
    together(me, n);
  }
  if (word != TIMES * (n - 1)) printf("wrong count %ld on PE %d\n", word, me);
  if (me == 0) printf("done\n");
  shmem_finalize();
  return 0;
}
