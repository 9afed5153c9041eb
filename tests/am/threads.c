/*
 * Several threads of a PE send, count, wait for room, for the end of requests and for mutexes at once
 * (SHMEM_THREAD_MULTIPLE); nothing is lost, and none is forgotten asleep.
 *
 * usage: threads ROUNDS
 */
#include <pthread.h>
#include <unistd.h>

#include "am_tests.h"

enum { THREADS = 4, SMALL = 1, LONG = 2, ANSWER = 3, TICKET = 4, STUB = 5, LONGEST = 50000 };

static struct state {
  shmemx_am_mutex mutex;
  long guarded;
  uint64_t came, wrong, answers;
  _Atomic uint64_t stubs[THREADS]; /* of the tickets of each thread */
} mine;
static shmem_ctx_t common;

typedef struct player {
  int thread, me, n, rounds;
  pthread_t id;
} player;

static void on_small(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  mine.came++;
  if (!is_filled(buf, n, n, from, shmem_my_pe())) mine.wrong++;
  shmemx_am_reply(ANSWER, buf, n, token);
}

static void on_long(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  on_small(buf, n, from, token);
  shmemx_am_mutex_lock(&mine.mutex);
  mine.guarded++;
  shmemx_am_mutex_unlock(&mine.mutex);
}

static void on_answer(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)token;
  if (!is_filled(buf, n, n, shmem_my_pe(), from)) mine.wrong++;
  mine.answers++;
}

static void on_ticket(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)from;
  shmemx_am_reply(STUB, buf, n, token);
}

static void on_stub(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)n, (void)from, (void)token;
  mine.stubs[*(int *)buf]++;
}

/* Requests on a context of all threads: when its quiet returns, this thread's requests are complete, independent of
 * those of other threads. */
static void draw_tickets(const player *p, uint64_t *drawn)
{
  for (int i = 0; i < 3; i++, ++*drawn)
    shmemx_ctx_am_request(common, (p->me + p->thread + i) % p->n, TICKET, &p->thread, sizeof p->thread);
  shmemx_ctx_am_quiet(common);
  uint64_t stubs = atomic_load_explicit(&mine.stubs[p->thread], memory_order_relaxed);
  EXPECT(stubs == *drawn, "thread %d: %lu of %lu tickets", p->thread, (unsigned long)stubs, (unsigned long)*drawn);
}

static void *play(void *arg)
{
  player *p = arg;
  unsigned char *buf = malloc(LONGEST);
  uint64_t seed = (uint64_t)(p->me * THREADS + p->thread), done = 0, asked = 0, drawn = 0;
  shmem_ctx_t ctx;
  EXPECT(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0, "a context");
  for (int i = 0; i < p->rounds; i++) {
    uint64_t r = next_random(&seed);
    int to = (int)(r % (uint64_t)p->n);
    size_t n = r % 7 == 0 ? r >> 32 & 0x7fff : r >> 32 & 63;
    if (r % 97 == 0) n = LONGEST;
    fill(buf, n, n, p->me, to);
    if (r % 11 == 0) draw_tickets(p, &drawn);
    if (r % 3 == 0)
      shmemx_am_request_nbi(to, LONG, buf, n, &done), asked++;
    else if (r % 4 == 0)
      shmemx_ctx_am_request(ctx, to, r % 5 ? SMALL : LONG, buf, n);
    else
      shmemx_am_request(to, r % 5 ? SMALL : LONG, buf, n);
    if (r % 31 == 0) shmemx_am_quiet();
    if (r % 37 == 0) shmemx_ctx_am_quiet(ctx);
    if (r % 29 == 0) shmem_uint64_wait_until(&done, SHMEM_CMP_EQ, asked);
    if (r % 11 == 0) {
      shmemx_am_mutex_lock(&mine.mutex);
      if (r % 13 == 0) usleep(200); /* others fall asleep */
      mine.guarded++;
      shmemx_am_mutex_unlock(&mine.mutex);
    }
  }
  shmem_uint64_wait_until(&done, SHMEM_CMP_EQ, asked);
  shmemx_am_quiet();
  shmem_ctx_destroy(ctx);
  free(buf);
  return NULL;
}

/* Repeats the thread's actions from its numbers alone: requests to this PE, and how often `guarded` grew here. */
static void replay(int me, int thread, int rounds, int n, int here, uint64_t *came, long *guarded)
{
  uint64_t seed = (uint64_t)(me * THREADS + thread);
  for (int i = 0; i < rounds; i++) {
    uint64_t r = next_random(&seed);
    bool to_here = (int)(r % (uint64_t)n) == here, is_long = r % 3 == 0 || r % 5 == 0;
    *came += to_here;
    *guarded += (to_here && is_long) + (me == here && r % 11 == 0);
  }
}

int main(int argc, char **argv)
{
  player players[THREADS];
  int provided, rounds = argc > 1 ? atoi(argv[1]) : 1000;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  int me = shmem_my_pe(), n = shmem_n_pes();
  uint64_t came = 0;
  long guarded = 0;
  shmemx_am_attach(SMALL, on_small);
  shmemx_am_attach(LONG, on_long);
  shmemx_am_attach(ANSWER, on_answer);
  shmemx_am_attach(TICKET, on_ticket);
  shmemx_am_attach(STUB, on_stub);
  EXPECT(shmem_ctx_create(0, &common) == 0, "a context of all threads");
  shmem_barrier_all();
  for (int t = 0; t < THREADS; t++) {
    players[t] = (player){.thread = t, .me = me, .n = n, .rounds = rounds};
    EXPECT(pthread_create(&players[t].id, NULL, play, &players[t]) == 0, "thread %d", t);
  }
  for (int t = 0; t < THREADS; t++) pthread_join(players[t].id, NULL);
  EXPECT(mine.answers == (uint64_t)rounds * THREADS, "%lu answers", (unsigned long)mine.answers);
  shmem_barrier_all();
  for (int pe = 0; pe < n; pe++)
    for (int t = 0; t < THREADS; t++) replay(pe, t, rounds, n, me, &came, &guarded);
  EXPECT(mine.came == came, "%lu of %lu", (unsigned long)mine.came, (unsigned long)came);
  EXPECT(mine.guarded == guarded, "%ld of %ld", mine.guarded, guarded);
  EXPECT(mine.wrong == 0, "%lu", (unsigned long)mine.wrong);
  shmem_finalize();
  return failures != 0;
}
