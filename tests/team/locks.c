/*
 * locks.c - tests locks: one holder at a time, in order of arrival, without starvation.
 *
 * test_lock never waits. The next holder sees the stores made under the lock.
 */
#include <shmem.h>

#include <pthread.h>

#include "pes.h"

enum { TURNS = 200 };

typedef struct guarded {
  _Alignas(64) long lock, other_lock;
  _Alignas(64) uint64_t plain[5]; /* on PE 0, changed without atomics by the holder of the lock */
  _Alignas(64) uint64_t inside;
  _Alignas(64) uint64_t place, served[64];
} guarded;

/* Gets, changes and puts the numbers. If two PEs held the lock at once, an update would be lost. */
static void change_under_lock(guarded *g)
{
  uint64_t copy[5];
  EXPECT(shmem_uint64_atomic_fetch_inc(&g->inside, 0) == 0, "somebody else is inside");
  shmem_uint64_get(copy, g->plain, 5, 0);
  for (int i = 1; i < 5; i++) EXPECT(copy[i] == copy[0], "stores under the lock were seen in part");
  for (int i = 0; i < 5; i++) copy[i]++;
  shmem_uint64_put(g->plain, copy, 5, 0);
  shmem_quiet();
  shmem_uint64_atomic_add(&g->inside, (uint64_t)-1, 0);
}

static void mutual_exclusion(guarded *g, int me, int n)
{
  for (int i = 0; i < TURNS; i++) {
    if ((i + me) % 4 == 0) {
      while (shmem_test_lock(&g->lock)) sched_yield();
    } else {
      shmem_set_lock(&g->lock);
    }
    change_under_lock(g);
    shmem_clear_lock(&g->lock);
  }
  shmem_barrier_all();
  EXPECT(shmem_uint64_g(g->plain, 0) == (uint64_t)(n * TURNS), "%llu turns",
         (unsigned long long)shmem_uint64_g(g->plain, 0));
}

static void test_lock_tells(guarded *g, int me, int n)
{
  if (me == n - 1) EXPECT(shmem_test_lock(&g->lock) == 0, "a free lock is taken");
  shmem_barrier_all();
  EXPECT(shmem_test_lock(&g->lock) == 1, "a held lock is refused, to its holder too");
  if (me == 0) EXPECT(shmem_test_lock(&g->other_lock) == 0, "another lock is another lock");
  shmem_barrier_all();
  if (me == n - 1) shmem_clear_lock(&g->lock);
  if (me == 0) shmem_clear_lock(&g->other_lock);
  shmem_barrier_all();
}

/* Whether a PE is the last one in the queue. The first half of the lock's long is then its number plus 1, on the PE
 * that has the lock's queue (src/team/lock.c). */
static bool is_queued(guarded *g, int pe, int n)
{
  for (int home = 0; home < n; home++) {
    unsigned long words = shmem_ulong_atomic_fetch((unsigned long *)(void *)&g->lock, home);
    if ((uint32_t)words == (uint32_t)pe + 1) return true;
  }
  return false;
}

/* PE 0 holds the lock while the others queue for it. Each begins when it sees its predecessor in the queue. They must
 * get the lock in that order. */
static void first_come_first_served(guarded *g, int me, int n)
{
  if (me == 0) shmem_set_lock(&g->lock);
  shmem_barrier_all();
  if (me > 0) {
    while (me > 1 && !is_queued(g, me - 1, n)) sched_yield();
    shmem_set_lock(&g->lock);
    uint64_t place = shmem_uint64_g(&g->place, 0);
    shmem_uint64_p(&g->served[place], (uint64_t)me, 0);
    shmem_uint64_p(&g->place, place + 1, 0);
  } else {
    while (n > 1 && !is_queued(g, n - 1, n)) sched_yield();
  }
  shmem_clear_lock(&g->lock);
  shmem_barrier_all();
  for (int i = 0; i < n - 1; i++) EXPECT(shmem_uint64_g(&g->served[i], 0) == (uint64_t)i + 1, "place %d", i);
}

#ifndef WTL_THREADS
static void *take(void *g)
{
  shmem_set_lock(&((guarded *)g)->lock);
  return NULL;
}

/* Two threads of PE 0 ask for a lock at the same time, and none gives it back. */
static void two_threads(guarded *g, int me)
{
  pthread_t other;
  if (me != 0) return;
  pthread_create(&other, NULL, take, g);
  take(g);
  pthread_join(other, NULL);
}
#else /* where PEs are threads, they have none of their own */
static void two_threads(guarded *g, int me)
{
  (void)g;
  (void)me;
}
#endif

int main(int argc, char **argv)
{
  bool several = argc > 1 && strcmp(argv[1], "two_threads") == 0;
  int level;
  shmem_init_thread(several ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &level);
  int me = shmem_my_pe(), n = shmem_n_pes();
  guarded *g = shmem_align(64, sizeof *g);
  memset(g, 0, sizeof *g);
  shmem_barrier_all();
  if (several) two_threads(g, me);
  mutual_exclusion(g, me, n);
  shmem_barrier_all();
  test_lock_tells(g, me, n);
  first_come_first_served(g, me, n);
  shmem_free(g);
  shmem_finalize();
  return failures != 0;
}
