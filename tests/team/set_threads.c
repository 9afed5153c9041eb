/*
 * set_threads.c - tests collectives over active sets of all PEs by two threads of each PE (SHMEM_THREAD_MULTIPLE).
 *
 * Each thread has its own work arrays. Its collectives must not match those of the other thread, and not those of all
 * PEs without a set.
 *
 * usage: set_threads          both threads call collectives
 *        set_threads mixed    one thread of each PE, and PE 0 has a lower thread level than the others
 */
#include <shmem.h>

#include <pthread.h>

#include "pes.h"

enum { THREADS = 2, ROUNDS = 200 };

typedef struct arrays {
  long source, dest, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 1];
  long sync[SHMEM_REDUCE_SYNC_SIZE], barrier_sync[SHMEM_BARRIER_SYNC_SIZE];
} arrays;

typedef struct caller {
  arrays *a;
  int thread, wrong;
} caller;

static void *meet_in_a_set(void *arg)
{
  caller *c = arg;
  arrays *a = c->a;
  int n = shmem_n_pes();
  for (int round = 0; round < ROUNDS; round++) {
    long common = 10L * round + c->thread;
    a->source = common + shmem_my_pe();
    shmem_long_sum_to_all(&a->dest, &a->source, 1, 0, 0, n, a->work, a->sync);
    c->wrong += a->dest != n * common + n * (n - 1L) / 2;
    shmem_barrier(0, 0, n, a->barrier_sync);
  }
  return NULL;
}

static void *meet_without_a_set(void *none)
{
  for (int round = 0; round < ROUNDS; round++) shmem_barrier_all();
  return none;
}

/* A second thread does `other`, while this one calls collectives over a set. */
static void beside(void *(*other)(void *), arrays *a, const char *what)
{
  caller callers[THREADS] = {{a, 0, 0}, {a + 1, 1, 0}};
  pthread_t id;
  if (pthread_create(&id, NULL, other, &callers[1]) != 0) {
    EXPECT(false, "no second thread");
    shmem_global_exit(1);
  }
  meet_in_a_set(&callers[0]);
  pthread_join(id, NULL);
  EXPECT(callers[0].wrong + callers[1].wrong == 0, "%s: %d and %d wrong sums", what, callers[0].wrong,
         callers[1].wrong);
  shmem_barrier_all();
}

int main(int argc, char **argv)
{
  bool mixed = argc > 1 && strcmp(argv[1], "mixed") == 0;
  const char *rank = getenv("PMIX_RANK"); /* the PE's number, before it is one */
  int provided, want = mixed && rank && strcmp(rank, "0") == 0 ? SHMEM_THREAD_SINGLE : SHMEM_THREAD_MULTIPLE;
  shmem_init_thread(want, &provided);
  if (mixed)
    EXPECT((shmem_my_pe() == 0) == (provided < SHMEM_THREAD_MULTIPLE), "level %d", provided);
  else
    EXPECT(provided == SHMEM_THREAD_MULTIPLE, "level %d", provided);
  arrays *a = shmem_calloc(THREADS, sizeof *a); /* SHMEM_SYNC_VALUE is 0 */
  if (mixed) {
    caller alone = {a, 0, 0};
    meet_in_a_set(&alone);
    EXPECT(alone.wrong == 0, "%d wrong sums", alone.wrong);
    shmem_barrier_all();
  } else {
    beside(meet_in_a_set, a, "two sets of all PEs");
    beside(meet_without_a_set, a, "a set of all PEs, and all PEs");
  }
  shmem_free(a);
  shmem_finalize();
  return failures != 0;
}
