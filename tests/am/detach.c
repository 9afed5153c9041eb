/*
 * detach.c - tests that data of a handler may be freed when shmemx_am_detach has returned.
 *
 * A handler that the agent runs at that moment has ended by then. A thread that holds a mutex which the handler may
 * want does not wait for the handler.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "am_tests.h"

enum { SLOW = 1, WANTING, ROUNDS = 20 };

static struct state {
  shmemx_am_mutex mutex;
  atomic_int begun, ended;
} all[MOST_PES];

static void on_slow(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  (void)buf, (void)n, (void)from, (void)token;
  s->begun++;
  usleep(2000);
  s->ended++;
}

static void on_wanting(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  (void)buf, (void)n, (void)from, (void)token;
  s->begun++;
  shmemx_am_mutex_lock(&s->mutex);
  shmemx_am_mutex_unlock(&s->mutex);
  s->ended++;
}

/* Sends to the next PE, and waits outside of the library until the handler of the one sent here has begun. */
static void send_and_see(struct state *s, int id)
{
  s->begun = s->ended = 0;
  shmem_barrier_all();
  shmemx_am_request((shmem_my_pe() + 1) % shmem_n_pes(), id, NULL, 0);
  while (!s->begun) usleep(100);
}

int main(int argc, char **argv)
{
  (void)argc, (void)argv;
  shmem_init();
  struct state *s = &all[shmem_my_pe()];
  shmemx_am_mutex_init(&s->mutex);
  for (int round = 0; round < ROUNDS; round++) {
    shmemx_am_attach(SLOW, on_slow);
    send_and_see(s, SLOW);
    shmemx_am_detach(SLOW);
    EXPECT(s->ended == 1, "round %d: the handler still ran", round);
    shmemx_am_quiet();
  }
  shmemx_am_attach(WANTING, on_wanting);
  shmemx_am_mutex_lock(&s->mutex);
  send_and_see(s, WANTING);
  shmemx_am_detach(WANTING);
  EXPECT(s->ended == 0, "the handler had the mutex while this thread held it");
  shmemx_am_mutex_unlock(&s->mutex);
  shmemx_am_quiet();
  shmem_barrier_all();
  EXPECT(s->ended == 1, "the handler did not get the mutex");
  shmemx_am_mutex_destroy(&s->mutex);
  shmem_finalize();
  return failures != 0;
}
