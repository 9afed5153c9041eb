/*
 * All kinds of messages at once, from several threads of each PE, beside puts, atomics, mutexes and collectives. Each
 * message is handled once, whole, and in its thread's order where that is promised; each wait has waited for what it
 * says: the sender finds by a get what the handlers wrote. In bounded memory.
 *
 * usage: mixed ROUNDS LONGEST [THREADS [SEED]]: of each thread; bytes. In the threads build a PE is one thread.
 */
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "am_tests.h"

enum { PLAIN = 1, ASKING, LOCKING, LANDED, WORDS, BARE, SEES_PUT, CHANGING, ANSWER };
enum { MOST_THREADS = 8, PLACES = 8, PLACE_BYTES = 12000, EAGER = 8192, MOST_ANSWERS = 3 };

/* How the sender will know that it was handled. */
enum { BY_QUIET, BY_COUNTER, BY_CONTEXT, WAYS };

typedef struct head {
  uint64_t serial; /* of its thread's messages to that PE, from 1 */
  uint32_t thread, way, answers, answer_bytes;
} head;

/* Messages from one thread of a PE. Handlers write it, one at a time. The sender reads it when all have run. */
typedef struct tally {
  uint64_t n, sum, squares, last_short, last, bare;
} tally;

/* Symmetric. */
typedef struct shared {
  tally came[MOST_PES][MOST_THREADS];
  uint64_t sent_sum[MOST_PES][MOST_THREADS], sent_n[MOST_PES][MOST_THREADS]; /* to that PE, by that thread */
  uint64_t cell[MOST_PES][MOST_THREADS];                                     /* the last value that it put here */
  uint64_t added;                                                            /* by anybody's atomics */
  long in, out;
  uint64_t bits_in[4], bits_out[4];
} shared;

static struct state {
  shared *sym;
  unsigned char *places; /* by PE, thread and place */
  shmemx_am_mutex mutex;
  uint64_t guarded, guarded_by_handlers;
  uint64_t wrong;
  _Atomic uint64_t added;
  _Atomic uint64_t answered[MOST_THREADS][WAYS]; /* by handlers, whom other threads wait for by other PEs alone */
  unsigned char out[70000];                      /* a reply's bytes: of who runs handlers */
} all[MOST_PES];

static void wrong_if(struct state *s, bool is_wrong, const char *what, int from, const head *h)
{
  if (is_wrong && s->wrong++ < 5)
    fprintf(stderr, "PE %d: %s from PE %d thread %u serial %lu\n", shmem_my_pe(), what, from, h->thread,
            (unsigned long)h->serial);
}

static void count(struct state *s, const head *h, size_t n, int from)
{
  tally *t = &s->sym->came[from][h->thread];
  bool is_near = shmem_ptr(s->sym, from) != NULL;
  t->n++;
  t->sum += h->serial;
  t->squares += h->serial * h->serial;
  if (n <= EAGER) {
    wrong_if(s, h->serial <= t->last_short, "out of order", from, h);
    t->last_short = h->serial;
  }
  if (is_near) {
    wrong_if(s, h->serial <= t->last, "out of order on the node", from, h);
    t->last = h->serial;
  }
}

static bool is_whole(const void *buf, size_t n, int from)
{
  head h;
  memcpy(&h, buf, sizeof h);
  return is_filled((const unsigned char *)buf + sizeof h, n - sizeof h, h.serial, from, shmem_my_pe());
}

static head take(void *buf, size_t n, int from)
{
  struct state *s = &all[shmem_my_pe()];
  head h;
  memcpy(&h, buf, sizeof h);
  wrong_if(s, n < sizeof h || h.thread >= MOST_THREADS || !is_whole(buf, n, from), "other bytes", from, &h);
  count(s, &h, n, from);
  return h;
}

static void on_plain(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)token;
  take(buf, n, from);
}

static void on_plain_too(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  on_plain(buf, n, from, token);
}

static void on_asking(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  head h = take(buf, n, from);
  size_t bytes = sizeof h + h.answer_bytes;
  memcpy(s->out, &h, sizeof h);
  for (uint32_t i = 0; i < h.answers; i++) {
    fill(s->out + sizeof h, h.answer_bytes, h.serial + i, shmem_my_pe(), from);
    h.answers = i;
    memcpy(s->out, &h, sizeof h);
    shmemx_am_reply(ANSWER, s->out, bytes, token);
    memcpy(&h, buf, sizeof h);
  }
}

static void on_answer(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  head h;
  (void)token;
  memcpy(&h, buf, sizeof h);
  wrong_if(s,
           n != sizeof h + h.answer_bytes ||
               !is_filled((unsigned char *)buf + sizeof h, h.answer_bytes, h.serial + h.answers, from, shmem_my_pe()),
           "another answer", from, &h);
  s->answered[h.thread][h.way]++;
}

static void on_locking(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  on_asking(buf, n, from, token);
  shmemx_am_mutex_lock(&s->mutex);
  s->guarded++;
  shmemx_am_mutex_unlock(&s->mutex);
  s->guarded_by_handlers++;
}

static void on_landed(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  head h = take(buf, n, from);
  unsigned char *place = s->places + ((size_t)from * MOST_THREADS + h.thread) * PLACES * PLACE_BYTES;
  (void)token;
  wrong_if(s, (unsigned char *)buf < place || (unsigned char *)buf >= place + PLACES * PLACE_BYTES, "landed elsewhere",
           from, &h);
}

static void on_words(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  const uint64_t *w = buf;
  head h = {.serial = w[0], .thread = (uint32_t)w[1]};
  (void)token;
  wrong_if(s, n != 32 || w[2] != ~w[0] || w[3] != w[0] * w[1], "other words", from, &h);
  count(s, &h, n, from);
}

/* Too short to say more than whose it is. */
static void on_bare(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  (void)token;
  if (n > 1) s->wrong++;
  s->sym->came[from][n ? *(unsigned char *)buf : 0].bare++;
}

/* Data that were put and completed before the request are there. */
static void on_sees_put(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  struct state *s = &all[shmem_my_pe()];
  head h = take(buf, n, from);
  (void)token;
  wrong_if(s, s->sym->cell[from][h.thread] != h.serial, "a put that has not come", from, &h);
}

typedef struct player {
  int thread, me, n, rounds;
  uint64_t seed;
  size_t longest;
  pthread_t id;
  /* Figures of the messages that it has sent. */
  uint64_t serial[MOST_PES], sum[MOST_PES], squares[MOST_PES], bare[MOST_PES];
  uint64_t asked[WAYS], done, counted, guarded;
  int used[MOST_PES]; /* places since the last quiet */
  unsigned char *buf;
  shmem_ctx_t ctx;
  int failures;
} player;

/* The next message to `to`, of `n` bytes with its head. */
static head make(player *p, int to, size_t n, uint64_t r)
{
  head h = {.serial = ++p->serial[to], .thread = (uint32_t)p->thread, .way = (uint32_t)(r % WAYS)};
  p->sum[to] += h.serial;
  p->squares[to] += h.serial * h.serial;
  h.answers = (uint32_t)(r >> 8) % (MOST_ANSWERS + 1);
  h.answer_bytes = (uint32_t)(r >> 16) % 64;
  if ((r >> 24) % 16 == 0) h.answer_bytes = (uint32_t)(r >> 28) % 20000;
  if ((r >> 24) % 64 == 1) h.answer_bytes = (uint32_t)(r >> 28) % 60000;
  fill(p->buf + sizeof h, n - sizeof h, h.serial, p->me, to);
  return h;
}

static void send(player *p, int to, int id, head h, size_t n)
{
  if (id != ASKING && id != LOCKING) h.answers = 0;
  memcpy(p->buf, &h, sizeof h);
  p->asked[h.way] += h.answers;
  switch (h.way) {
  case BY_QUIET: shmemx_am_request(to, id, p->buf, n); break;
  case BY_COUNTER:
    shmemx_am_request_nbi(to, id, p->buf, n, &p->done);
    p->counted++;
    break;
  default: shmemx_ctx_am_request(p->ctx, to, id, p->buf, n);
  }
  memset(p->buf, 0xa5, n < 64 ? n : 64); /* it may be reused */
}

/* Handlers of this PE may run while this reads: but those whose end was waited for have. */
static void expect_answered(player *p, int way)
{
  uint64_t answered = atomic_load_explicit(&all[p->me].answered[p->thread][way], memory_order_relaxed);
  EXPECT(answered == p->asked[way], "thread %d way %d: %lu of %lu answers", p->thread, way, (unsigned long)answered,
         (unsigned long)p->asked[way]);
}

static void quiet(player *p)
{
  tally t;
  shmemx_am_quiet();
  for (int way = 0; way < WAYS; way++) expect_answered(p, way);
  for (int to = 0; to < p->n; to++) {
    shmem_getmem(&t, &all[p->me].sym->came[p->me][p->thread], sizeof t, to);
    EXPECT(t.n == p->serial[to] && t.sum == p->sum[to] && t.squares == p->squares[to] && t.bare == p->bare[to],
           "thread %d to PE %d: %lu of %lu, %lu of %lu without a head", p->thread, to, (unsigned long)t.n,
           (unsigned long)p->serial[to], (unsigned long)t.bare, (unsigned long)p->bare[to]);
    p->used[to] = 0;
  }
}

static void put_and_tell(player *p, int to, uint64_t r)
{
  quiet(p); /* an earlier one of its kind has been handled */
  head h = make(p, to, sizeof h, r);
  shmem_uint64_p(&all[p->me].sym->cell[p->me][p->thread], h.serial, to);
  shmem_quiet();
  send(p, to, SEES_PUT, h, sizeof h);
}

static void land(player *p, int to, uint64_t r)
{
  size_t n = sizeof(head) + (size_t)(r >> 20) % (r % 3 ? 200 : PLACE_BYTES - sizeof(head));
  if (p->used[to] == PLACES) quiet(p);
  size_t place = ((size_t)p->me * MOST_THREADS + (size_t)p->thread) * PLACES + (size_t)p->used[to]++;
  head h = make(p, to, n, r);
  h.answers = 0;
  memcpy(p->buf, &h, sizeof h);
  shmemx_am_request_put(to, LANDED, all[p->me].places + place * PLACE_BYTES, p->buf, n);
}

static void guard(player *p, uint64_t r)
{
  struct state *s = &all[p->me];
  if (r % 2)
    shmemx_am_mutex_lock(&s->mutex);
  else if (!shmemx_am_mutex_trylock(&s->mutex))
    return;
  if (r % 41 == 0) usleep(300); /* others fall asleep */
  s->guarded++;
  p->guarded++;
  shmemx_am_mutex_unlock(&s->mutex);
}

static void meet_all(const player *p, uint64_t r)
{
  shared *s = all[p->me].sym;
  switch (r % 3) {
  case 0: shmem_barrier_all(); break;
  case 1:
    s->in = p->me + 1;
    shmem_sync_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &s->out, &s->in, 1);
    EXPECT(s->out == (long)p->n * (p->n + 1) / 2, "%ld", s->out);
    break;
  default:
    for (int i = 0; i < 4; i++) s->bits_in[i] = r + (uint64_t)i;
    shmem_uint64_broadcast(SHMEM_TEAM_WORLD, s->bits_out, s->bits_in, 4, (int)(r / 3 % (uint64_t)p->n));
    EXPECT(s->bits_out[3] == r + 3, "%lx", (unsigned long)s->bits_out[3]);
    shmem_sync_all();
  }
}

static void one_round(player *p, uint64_t r, uint64_t more)
{
  static const int ids[] = {PLAIN, PLAIN, ASKING, ASKING, LOCKING, CHANGING};
  int to = (int)(r % (uint64_t)p->n);
  size_t most = more % 5 ? 200 : more % 7 ? 3000 : p->longest;
  size_t n = sizeof(head) + (size_t)(more >> 20) % most;
  struct state *s = &all[p->me];
  switch ((r >> 16) % 16) {
  default: send(p, to, ids[(r >> 24) % 6], make(p, to, n, more), n); break;
  case 8: {
    uint64_t serial = ++p->serial[to], thread = (uint64_t)p->thread;
    p->sum[to] += serial;
    p->squares[to] += serial * serial;
    shmemx_am_request_words(to, WORDS, 4, serial, thread, ~serial, serial * thread);
    break;
  }
  case 9: {
    unsigned char whose = (unsigned char)p->thread;
    shmemx_am_request(to, BARE, &whose, p->thread > 0 || more % 2);
    p->bare[to]++;
    break;
  }
  case 10: land(p, to, more); break;
  case 11: guard(p, more); break;
  case 12:
    shmem_uint64_atomic_add(&s->sym->added, more % 100, to);
    atomic_fetch_add(&s->added, more % 100);
    break;
  case 13:
    if (more % 4 == 0) put_and_tell(p, to, more);
    if (more % 4 == 1) shmemx_am_attach(CHANGING, more % 8 == 1 ? on_plain_too : on_plain);
    break;
  case 14:
    if (more % 8 == 0) quiet(p);
    if (more % 8 == 1) shmemx_ctx_am_quiet(p->ctx), expect_answered(p, BY_CONTEXT);
    if (more % 8 == 2) shmem_uint64_wait_until(&p->done, SHMEM_CMP_EQ, p->counted), expect_answered(p, BY_COUNTER);
    if (more % 8 == 3) usleep(more % 500);
    if (more % 8 == 4) shmem_fence();
    break;
  case 15:
    if (more % 4 == 0) shmemx_am_poll();
    if (more % 4 == 1) EXPECT(shmem_uint64_atomic_fetch(&s->sym->added, to) < UINT64_MAX, "never");
    break;
  }
}

static void *play(void *arg)
{
  player *p = arg;
  uint64_t seed = p->seed << 32 | (uint64_t)(p->me * MOST_THREADS + p->thread), common = p->seed;
  p->buf = malloc(sizeof(head) + p->longest + PLACE_BYTES);
  EXPECT(shmem_ctx_create(SHMEM_CTX_PRIVATE, &p->ctx) == 0, "a context");
  for (int i = 0; i < p->rounds; i++) {
    uint64_t r = next_random(&seed), more = next_random(&seed);
    one_round(p, r, more);
    if (p->thread == 0 && i % 256 == 255) meet_all(p, next_random(&common));
  }
  quiet(p);
  EXPECT(p->done == p->counted, "%lu of %lu counted", (unsigned long)p->done, (unsigned long)p->counted);
  shmem_ctx_destroy(p->ctx);
  free(p->buf);
  p->failures = failures;
  return NULL;
}

static long resident_kib(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int main(int argc, char **argv)
{
  if (argc < 3) return 2;
  int provided, threads = argc > 3 ? atoi(argv[3]) : 1, bad = 0;
  shmem_init_thread(threads > 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &provided);
  int me = shmem_my_pe(), n = shmem_n_pes();
  struct state *s = &all[me];
  player *players = calloc((size_t)threads, sizeof *players);
  s->sym = shmem_calloc(1, sizeof *s->sym);
  s->places = shmem_malloc((size_t)n * MOST_THREADS * PLACES * PLACE_BYTES);
  memset(s->places, 0, (size_t)n * MOST_THREADS * PLACES * PLACE_BYTES); /* touched before memory is measured */
  shmemx_am_mutex_init(&s->mutex);
  shmemx_am_attach(PLAIN, on_plain);
  shmemx_am_attach(ASKING, on_asking);
  shmemx_am_attach(LOCKING, on_locking);
  shmemx_am_attach(LANDED, on_landed);
  shmemx_am_attach(WORDS, on_words);
  shmemx_am_attach(BARE, on_bare);
  shmemx_am_attach(SEES_PUT, on_sees_put);
  shmemx_am_attach(CHANGING, on_plain);
  shmemx_am_attach(ANSWER, on_answer);
  shmem_barrier_all();
  long before = resident_kib();
  for (int t = 0; t < threads; t++) {
    players[t] = (player){.thread = t,
                          .me = me,
                          .n = n,
                          .rounds = atoi(argv[1]),
                          .seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1,
                          .longest = (size_t)atol(argv[2])};
    if (t > 0) EXPECT(pthread_create(&players[t].id, NULL, play, &players[t]) == 0, "thread %d", t);
  }
  play(&players[0]);
  for (int t = 1; t < threads; t++) {
    pthread_join(players[t].id, NULL);
    failures += players[t].failures;
  }
  shmem_barrier_all();
  uint64_t guarded = s->guarded_by_handlers;
  s->sym->bits_in[0] = s->sym->added;
  s->sym->bits_in[1] = s->added;
  shmem_sync_all();
  shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, s->sym->bits_out, s->sym->bits_in, 2);
  EXPECT(s->sym->bits_out[0] == s->sym->bits_out[1], "%lu added, %lu came", (unsigned long)s->sym->bits_out[1],
         (unsigned long)s->sym->bits_out[0]);
  for (int t = 0; t < threads; t++) guarded += players[t].guarded;
  EXPECT(s->guarded == guarded, "%lu of %lu", (unsigned long)s->guarded, (unsigned long)guarded);
  EXPECT(s->wrong == 0, "%lu", (unsigned long)s->wrong);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  long grown = resident_kib() - before, most = 64 * 1024 + (long)(n * threads) * (long)players[0].longest / 512;
  EXPECT(grown < most, "memory grew by %ld KiB (bound %ld)", grown, most);
#else
  (void)before;
#endif
  bad = failures != 0;
  shmemx_am_mutex_destroy(&s->mutex);
  shmem_barrier_all();
  free(players);
  shmem_finalize();
  return bad;
}
