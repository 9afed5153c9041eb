/*
 * mutexes.c - tests that a mutex excludes handlers in any thread and the program from each other.
 *
 * They count in plain variables under one mutex. A thread that waits for a mutex sleeps and is woken. A thread that
 * only tries to take it learns whether it has it.
 */
#include <unistd.h>

#include "am_tests.h"

enum { COUNT = 1, ROUNDS = 2000 };

static struct state {
  shmemx_am_mutex mutex;
  long counted; /* guarded by it */
  long tried, busy;
} all[MOST_PES];

static void add(struct state *s)
{
  long before = s->counted;
  if (before % 64 == 0) sched_yield(); /* a chance for others to break in */
  s->counted = before + 1;
}

static void on_count(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  (void)buf, (void)n, (void)from, (void)token;
  shmemx_am_mutex_lock(&s->mutex);
  add(s);
  shmemx_am_mutex_unlock(&s->mutex);
}

static void count(struct state *s, int round)
{
  if (round % 2) {
    shmemx_am_mutex_lock(&s->mutex);
  } else {
    while (!shmemx_am_mutex_trylock(&s->mutex)) sched_yield();
  }
  add(s);
  shmemx_am_mutex_unlock(&s->mutex);
}

int main(int argc, char **argv)
{
  (void)argc, (void)argv;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  struct state *s = &all[me];
  shmemx_am_mutex_init(&s->mutex);
  EXPECT(shmemx_am_mutex_trylock(&s->mutex), "it is free");
  EXPECT(!shmemx_am_mutex_trylock(&s->mutex), "it is held, be it by this thread");
  shmemx_am_mutex_unlock(&s->mutex);
  shmemx_am_attach(COUNT, on_count);
  shmem_barrier_all();
  for (int round = 0; round < ROUNDS; round++) {
    shmemx_am_request((me + round) % n, COUNT, NULL, 0);
    count(s, round);
    if (round % 100 == 0) usleep(1000); /* no thread is in the library when the others' requests arrive */
  }
  shmemx_am_quiet();
  shmem_barrier_all();
  shmemx_am_mutex_lock(&s->mutex);
  EXPECT(s->counted == 2 * ROUNDS, "%ld", s->counted);
  shmemx_am_mutex_unlock(&s->mutex);
  shmemx_am_mutex_destroy(&s->mutex);
  shmem_finalize();
  return failures != 0;
}
