/* basics.c - tests each routine of active messages on every pair of PEs, at lengths around every threshold. */
#include <unistd.h>

#include "am_tests.h"

enum {
  REQUEST = 1,
  ANSWER = 2,
  WORDS = 421,
  PLACED = -7,
  BY_NAME = -8,
  FLAG = 100000,
  MANY = 511,
  MANY_BACK = 512,
  SLOW = 420,
  OWN = 9,
  LONG = 10,
  LONG_BACK = 11,
  LONG_BYTES = 1000000
};

static struct state {
  _Atomic uint64_t requests, answers, words, placed, named, many, slow, long_ones, owns;
  _Atomic uint64_t wrong;
  long *own;
  char *heap, *longest;
} all[MOST_PES];

static uint64_t by_name[MOST_PES]; /* symmetric where PEs are processes */

/* Not symmetric: a thread's own, or, where PEs are processes, on the stack. */
static _Atomic(int *) flags[MOST_PES];

static struct state *mine(void)
{
  return &all[shmem_my_pe()];
}

static const size_t lengths[] = {0,    1,    7,    8,     9,     31,    32,    33,    64,     65,     1000,   1023,
                                 1024, 1025, 4096, 16383, 16384, 16385, 32767, 32768, 100000, 262144, 1048576};
enum { N_LENGTHS = sizeof lengths / sizeof lengths[0] };

static void on_request(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  if (!is_filled(buf, n, n, from, shmem_my_pe()) || (uintptr_t)buf % 8) s->wrong++;
  s->requests++;
  fill(buf, n, n + 1, shmem_my_pe(), from); /* the buffer is the handler's own */
  shmemx_am_reply(ANSWER, buf, n, token);
}

static void on_answer(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  (void)token;
  if (!is_filled(buf, n, n + 1, from, shmem_my_pe())) s->wrong++;
  s->answers++;
}

static void on_words(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  const uint64_t *w = buf;
  (void)token;
  for (size_t i = 0; i < n / 8; i++)
    if (w[i] != (uint64_t)from * 100 + i) mine()->wrong++;
  mine()->words += n / 8;
}

static void on_placed(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  (void)token;
  if ((char *)buf != s->heap + (size_t)from * 100000 || !is_filled(buf, n, n, from, shmem_my_pe())) s->wrong++;
  s->placed++;
}

/* A variable of the program is there by its own name. */
static void on_named(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  (void)token;
  if ((uint64_t *)buf != &by_name[from] || n != sizeof by_name[0] || *(uint64_t *)buf != (uint64_t)shmem_my_pe())
    s->wrong++;
  s->named++;
}

static void on_flag(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from, (void)token;
  __atomic_store_n(flags[shmem_my_pe()], 1, __ATOMIC_RELEASE);
}

static void on_many(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)from, (void)n;
  for (uint64_t i = 0; i < *(uint64_t *)buf; i++) shmemx_am_reply(MANY_BACK, &i, sizeof i, token);
}

static void on_many_back(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)n, (void)from, (void)token;
  mine()->many += *(uint64_t *)buf + 1;
}

static void requests_and_replies_of_all_lengths(int me, int n)
{
  unsigned char *buf = malloc(lengths[N_LENGTHS - 1]);
  struct state *s = mine();
  for (int to = 0; to < n; to++)
    for (int i = 0; i < N_LENGTHS; i++) {
      fill(buf, lengths[i], lengths[i], me, to);
      shmemx_am_request(to, REQUEST, lengths[i] ? buf : NULL, lengths[i]);
      memset(buf, 0, lengths[i]); /* it may be changed on return */
    }
  shmemx_am_quiet();
  EXPECT(s->answers == (uint64_t)n * N_LENGTHS, "%lu", (unsigned long)s->answers);
  shmem_barrier_all();
  EXPECT(s->requests == (uint64_t)n * N_LENGTHS, "%lu", (unsigned long)s->requests);
  free(buf);
}

static void words_and_places(int me, int n)
{
  struct state *s = mine();
  unsigned char buf[100000];
  static const size_t sizes[] = {0, 8, 100, 5000, 100000};
  for (int to = 0; to < n; to++)
    for (int w = 0; w <= 4; w++)
      shmemx_am_request_words(to, WORDS, w, (uint64_t)me * 100, (uint64_t)me * 100 + 1, (uint64_t)me * 100 + 2,
                              (uint64_t)me * 100 + 3);
  shmemx_am_quiet();
  shmem_barrier_all();
  EXPECT(s->words == (uint64_t)n * 10, "%lu", (unsigned long)s->words);
  for (int to = 0; to < n; to++)
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      fill(buf, sizes[i], sizes[i], me, to);
      shmemx_am_request_put(to, PLACED, s->heap + (size_t)me * 100000, buf, sizes[i]);
      shmemx_am_quiet(); /* the next one goes to the same place */
    }
  shmem_barrier_all();
  EXPECT(s->placed == (uint64_t)n * 5, "%lu", (unsigned long)s->placed);
  for (int to = 0; shmem_addr_accessible(by_name, me) && to < n; to++) {
    uint64_t word = (uint64_t)to;
    shmemx_am_request_put(to, BY_NAME, &by_name[me], &word, sizeof word);
  }
  shmemx_am_quiet();
  shmem_barrier_all();
  EXPECT(!shmem_addr_accessible(by_name, me) || s->named == (uint64_t)n, "%lu", (unsigned long)s->named);
}

static void counted_requests(int me, int n)
{
  struct state *s = mine();
  uint64_t before = s->answers, done = 0;
  unsigned char buf[20000];
  static const size_t sizes[] = {0, 8, 33, 20000};
  for (int round = 0; round < 50; round++)
    for (int to = 0; to < n; to++)
      for (int i = 0; i < 4; i++) {
        fill(buf, sizes[i], sizes[i], me, to);
        shmemx_am_request_nbi(to, REQUEST, buf, sizes[i], &done);
      }
  shmem_uint64_wait_until(&done, SHMEM_CMP_EQ, (uint64_t)n * 200);
  EXPECT(s->answers == before + (uint64_t)n * 200, "counted before its reply was handled: %lu",
         (unsigned long)(s->answers - before));
  shmem_barrier_all();
}

static void on_long(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  (void)buf, (void)n, (void)from;
  shmemx_am_reply(LONG_BACK, s->longest, LONG_BYTES, token);
}

static void on_long_back(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from, (void)token;
  mine()->long_ones++;
}

/* Long replies may be overtaken by what says that their request is done. */
static void counted_requests_with_long_replies(int me, int n)
{
  enum { TURNS = 10 };
  struct state *s = mine();
  uint64_t done = 0;
  shmem_ctx_t ctx;
  s->longest = calloc(1, LONG_BYTES);
  EXPECT(shmem_ctx_create(0, &ctx) == 0, "a context");
  shmem_barrier_all();
  for (uint64_t turn = 1; turn <= TURNS; turn++) {
    shmemx_am_request_nbi((me + 1) % n, LONG, NULL, 0, &done);
    shmem_uint64_wait_until(&done, SHMEM_CMP_EQ, turn);
    EXPECT(s->long_ones == 2 * turn - 1, "counted before its reply was handled: %lu", (unsigned long)s->long_ones);
    shmemx_ctx_am_request(ctx, (me + 1) % n, LONG, NULL, 0);
    shmemx_ctx_am_quiet(ctx);
    EXPECT(s->long_ones == 2 * turn, "quiet before its reply was handled: %lu", (unsigned long)s->long_ones);
  }
  shmem_barrier_all();
  shmem_ctx_destroy(ctx);
  free(s->longest);
}

/* A message to the PE itself waits for no other PE. */
static void on_own(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = mine();
  int me = shmem_my_pe();
  long three[3] = {1, 2, 3}, back[3] = {0};
  (void)buf, (void)n, (void)from, (void)token;
  if (shmem_long_atomic_swap(&s->own[0], 5, me) != 4 || shmem_long_swap(&s->own[0], 6, me) != 5) s->wrong++;
  shmem_long_atomic_inc(&s->own[0], me);
  shmem_long_p(&s->own[1], 8, me);
  if (shmem_long_g(&s->own[0], me) != 7 || shmem_long_g(&s->own[1], me) != 8) s->wrong++;
  shmem_putmem(&s->own[2], three, sizeof three, me);
  shmem_long_get_nbi(back, &s->own[2], 3, me);
  if (memcmp(back, three, sizeof back) != 0) s->wrong++;
  s->own[0] = 4;
  s->owns++;
}

static void handlers_use_their_own_pe(int me, int n)
{
  struct state *s = mine();
  s->own = shmem_malloc(8 * sizeof *s->own);
  s->own[0] = 4;
  shmem_barrier_all();
  for (int i = 0; i < 20; i++) shmemx_am_request((me + 1) % n, OWN, NULL, 0);
  shmem_barrier_all();
  EXPECT(s->owns == 20, "%lu", (unsigned long)s->owns);
  shmem_free(s->own);
}

static void a_private_flag(int me, int n)
{
  int flag = 0;
  flags[me] = &flag;
  shmem_barrier_all();
  for (int round = 0; round < 20; round++) {
    shmemx_am_request((me + 1) % n, FLAG, NULL, 0);
    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
    flag = 0;
    shmem_barrier_all();
  }
}

/* PEs of a context have its team's numbers, and its quiet waits for its own requests. */
static void on_contexts(int me, int n)
{
  int flag = 0;
  shmem_team_t reversed;
  shmem_ctx_t ctx;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &reversed);
  EXPECT(shmem_team_create_ctx(reversed, 0, &ctx) == 0, "a context");
  flags[me] = &flag;
  shmem_barrier_all();
  shmemx_ctx_am_quiet(ctx); /* nothing was sent */
  for (int round = 1; round <= 20; round++) {
    shmemx_ctx_am_request(ctx, me, FLAG, NULL, 0); /* to PE n - 1 - me */
    shmemx_ctx_am_quiet(ctx);
    shmem_barrier_all();
    EXPECT(flag == 1, "round %d", round);
    flag = 0;
    shmem_barrier_all();
  }
  shmemx_ctx_am_request(SHMEM_CTX_DEFAULT, n - 1 - me, FLAG, NULL, 0);
  shmemx_ctx_am_quiet(SHMEM_CTX_DEFAULT);
  shmem_barrier_all();
  EXPECT(flag == 1, "the default context");
  shmem_ctx_destroy(ctx);
  shmem_team_destroy(reversed);
}

static void several_replies(int me, int n)
{
  uint64_t count = 3000; /* more than a ring holds */
  (void)me;
  shmemx_am_request((me + 1) % n, MANY, &count, sizeof count);
  shmemx_am_quiet();
  EXPECT(mine()->many == count * (count + 1) / 2, "%lu", (unsigned long)mine()->many);
  shmem_barrier_all();
}

static void on_slow(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from, (void)token;
  usleep(20);
  mine()->slow++;
}

/* A PE that has left a barrier has handled all requests sent to it before. */
static void barriers_complete_requests(int me, int n)
{
  enum { TURNS = 4, EACH = 50 };
  long *sync = shmem_malloc(SHMEM_BARRIER_SYNC_SIZE * sizeof *sync);
  for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  for (uint64_t turn = 1; turn <= TURNS; turn++) {
    for (int i = 0; i < EACH; i++) shmemx_am_request((me + 1) % n, SLOW, NULL, 0);
    if (turn % 2)
      shmem_barrier_all();
    else
      shmem_barrier(0, 0, n, sync);
    EXPECT(mine()->slow == turn * EACH, "%lu of %lu", (unsigned long)mine()->slow, (unsigned long)turn * EACH);
    shmem_sync_all();
  }
  shmem_free(sync);
}

static void handlers_come_and_go(int me, int n)
{
  shmemx_am_detach(MANY);
  shmemx_am_detach(MANY);   /* is gone already */
  shmemx_am_detach(987654); /* never was */
  shmemx_am_attach(MANY, on_flag);
  int flag = 0;
  flags[me] = &flag;
  shmem_barrier_all();
  shmemx_am_request((me + 1) % n, MANY, NULL, 0);
  while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) shmemx_am_poll();
  shmem_barrier_all();
}

int main(int argc, char **argv)
{
  (void)argc, (void)argv;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  mine()->heap = shmem_malloc((size_t)n * 100000);
  shmemx_am_attach(REQUEST, on_request);
  shmemx_am_attach(ANSWER, on_answer);
  shmemx_am_attach(WORDS, on_words);
  shmemx_am_attach(PLACED, on_placed);
  shmemx_am_attach(BY_NAME, on_named);
  shmemx_am_attach(FLAG, on_flag);
  shmemx_am_attach(MANY, on_many);
  shmemx_am_attach(MANY_BACK, on_many_back);
  shmemx_am_attach(SLOW, on_slow);
  shmemx_am_attach(OWN, on_own);
  shmemx_am_attach(LONG, on_long);
  shmemx_am_attach(LONG_BACK, on_long_back);
  shmem_barrier_all();
  shmemx_am_quiet(); /* nothing was sent */
  requests_and_replies_of_all_lengths(me, n);
  words_and_places(me, n);
  counted_requests(me, n);
  counted_requests_with_long_replies(me, n);
  handlers_use_their_own_pe(me, n);
  a_private_flag(me, n);
  on_contexts(me, n);
  several_replies(me, n);
  barriers_complete_requests(me, n);
  handlers_come_and_go(me, n);
  EXPECT(mine()->wrong == 0, "%lu", (unsigned long)mine()->wrong);
  shmem_finalize();
  return failures != 0;
}
