/*
 * An OpenSHMEM program of about SECONDS, for faults to hit. usage: shmem_work PLACE SECONDS FOLDER
 *
 * rounds: all PEs put, count and meet. collect: they exchange data. barrier, wait, lock: the last PE is late, the others
 * wait for it there. crash: as barrier, but the last PE dies of SIGSEGV. compute: no PE calls the library.
 */
#include <shmem.h>

#include "marks.h"

static long stop, counter, flag, lock, source[64], all[64 * 64];

static void meet_until_over(const task *t, void (*work)(int me, int n))
{
  int me = shmem_my_pe(), n = shmem_n_pes();
  for (long round = 1; stop == 0 || stop >= round; round++) {
    work(me, n);
    if (me == 0 && !stop && is_over(t))
      for (int pe = n - 1; pe >= 0; pe--) shmem_long_p(&stop, round, pe);
    shmem_barrier_all();
  }
}

static void put_and_count(int me, int n)
{
  shmem_long_put_nbi(all, source, 64, (me + 1) % n);
  shmem_long_atomic_inc(&counter, (me + n - 1) % n);
  shmem_fence();
  shmem_long_atomic_fetch(&counter, (me + 1) % n);
  shmem_quiet();
}

static void collect(int me, int n)
{
  (void)me, (void)n;
  shmem_long_fcollect(SHMEM_TEAM_WORLD, all, source, 8);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, all, source, 64);
}

/* The work of the last PE while the others wait. */
static void be_late(const task *t)
{
  while (!is_over(t)) usleep(10000);
  if (is_at(t, "crash")) crash();
}

static void wait_for_the_last(const task *t)
{
  int last = shmem_my_pe() == shmem_n_pes() - 1;
  if (is_at(t, "lock") && last) shmem_set_lock(&lock);
  shmem_barrier_all();
  if (last) be_late(t);
  if (is_at(t, "lock")) {
    if (!last) shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
  }
  if (is_at(t, "wait")) {
    for (int pe = 0; last && pe < shmem_n_pes(); pe++) shmem_long_p(&flag, 1, pe);
    shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
  }
  shmem_barrier_all();
}

int main(int argc, char **argv)
{
  task t = task_of(argc, argv);
  shmem_init();
  int me = shmem_my_pe();
  begin(&t, me);
  if (is_at(&t, "rounds"))
    meet_until_over(&t, put_and_count);
  else if (is_at(&t, "collect"))
    meet_until_over(&t, collect);
  else if (is_at(&t, "compute"))
    compute(&t);
  else
    wait_for_the_last(&t);
  mark(&t, "ending", me);
  shmem_finalize();
  mark(&t, "end", me);
  return 0;
}
