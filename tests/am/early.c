/*
 * Attaching does not synchronise: a message for a handler that its target has not attached yet waits for it, in the
 * order in which its sender's came, and what is for other handlers is handled meanwhile. Its sender's quiet waits for it.
 * The first argument: "once" where each attaches and sends at once, or "late" where the target attaches when it has seen other messages only.
 */
#include <unistd.h>

#include "am_tests.h"

enum { EARLY = 420, EARLY_BACK = 100000, READY = 3, FLOOD = 2000, LONGEST = 100000, N_LENGTHS = 5 };

static const size_t lengths[N_LENGTHS] = {0, 8, 3000, 20000, LONGEST};

static struct state {
  _Atomic uint64_t early, back, ready, wrong;
  char *heap;
} all[MOST_PES];

static struct state *mine(void)
{
  return &all[shmem_my_pe()];
}

static void on_early(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  if (!is_filled(buf, n, n, from, shmem_my_pe())) s->wrong++;
  s->early++;
  shmemx_am_reply(EARLY_BACK, buf, n, token);
}

static void on_back(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  (void)token;
  if (!is_filled(buf, n, n, shmem_my_pe(), from)) s->wrong++;
  s->back++;
}

static void on_number(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  (void)n, (void)from, (void)token;
  if (*(uint64_t *)buf != s->early) s->wrong++;
  s->early++;
}

static void on_ready(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from, (void)token;
  mine()->ready++;
}

static void send_to(int to, int me, size_t n, uint64_t *done)
{
  unsigned char *buf = malloc(n + 1);
  fill(buf, n, n, me, to);
  if (done)
    shmemx_am_request_nbi(to, EARLY, buf, n, done);
  else
    shmemx_am_request(to, EARLY, buf, n);
  free(buf);
}

/* Sends a message whose handler the next PE has not attached, then one that reports this and whose handler runs. */
static void late(int me, int n)
{
  struct state *s = mine();
  int next = (me + 1) % n;
  uint64_t done = 0;
  unsigned char put[64];
  shmemx_am_attach(READY, on_ready);
  shmem_barrier_all();
  for (int i = 0; i < N_LENGTHS; i++) send_to(next, me, lengths[i], &done);
  fill(put, sizeof put, sizeof put, me, next);
  shmemx_am_request_put(next, EARLY, s->heap, put, sizeof put);
  shmemx_am_request(next, READY, NULL, 0);
  while (!s->ready) shmemx_am_poll();
  usleep(2000);
  EXPECT(s->early == 0 && done == 0, "%lu handled, %lu done", (unsigned long)s->early, (unsigned long)done);
  shmemx_am_attach(EARLY, on_early);
  shmem_uint64_wait_until((uint64_t *)(void *)&s->early, SHMEM_CMP_EQ, N_LENGTHS + 1);
  EXPECT(s->back == 0 && done == 0, "%lu replies, %lu done", (unsigned long)s->back, (unsigned long)done);
  shmemx_am_attach(EARLY_BACK, on_back);
  shmemx_am_quiet();
  EXPECT(s->back == N_LENGTHS + 1, "%lu replies", (unsigned long)s->back);
  EXPECT(done == N_LENGTHS, "%lu done", (unsigned long)done);
}

/* More than a ring or a window holds, to a PE that attaches only when its sender surely waits; in order. */
static void flood(int me, int n)
{
  struct state *s = mine();
  if (me == 0) usleep(50000);
  if (me != 1 % n) {
    s->early = 0;
    shmemx_am_attach(EARLY + 1, on_number);
  }
  if (me == 1 % n)
    for (uint64_t i = 0; i < FLOOD; i++) shmemx_am_request(0, EARLY + 1, &i, sizeof i);
  shmemx_am_quiet();
  shmem_barrier_all();
  EXPECT(me != 0 || s->early == FLOOD, "%lu", (unsigned long)s->early);
}

int main(int argc, char **argv)
{
  (void)argc;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  struct state *s = mine();
  s->heap = shmem_malloc(64);
  if (!strcmp(argv[1], "late")) {
    late(me, n);
    shmem_barrier_all();
    if (n > 1) flood(me, n);
  } else {
    shmemx_am_attach(EARLY_BACK, on_back);
    shmemx_am_attach(EARLY, on_early);
    for (int i = 0; i < N_LENGTHS; i++) send_to((me + 1) % n, me, lengths[i], NULL);
    shmemx_am_quiet();
    EXPECT(s->back == N_LENGTHS, "%lu replies", (unsigned long)s->back);
  }
  EXPECT(s->wrong == 0, "%lu", (unsigned long)s->wrong);
  shmem_finalize();
  return failures != 0;
}
