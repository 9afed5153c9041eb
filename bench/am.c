/*
 * am.c - active messages compared with puts: bandwidth, message rate and a token ring (am_cases.h).
 *
 *   am         a request each; shmemx_am_quiet. In the ring: the request's handler gives the token to a PE that waits
 *   put        a blocking put each; one shmem_quiet. In the ring: shmem_p to a PE in shmem_wait_until
 *   nbi        a non-blocking put each; one shmem_quiet
 *   put_quiet  a blocking put and a shmem_quiet each
 *   reply      ring of two PEs: PE 1's handler answers by a reply, PE 1 does nothing else
 *   hop        ring of two PEs of one node: plain stores and loads without the library
 *   own        handlers: each locks a mutex that nothing else locks
 *   shared     handlers: each locks the mutex that PE 1 holds while it uses the data
 *
 * Headers: OpenSHMEM's, shmemx.h, C's, and am_cases.h in this folder. -DUSE_WATTLE and -lwattle give joules.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pinning a PE to its core */
#endif
#include <shmem.h>
#include <shmemx.h>
#include <stdatomic.h>

#include "am_cases.h"

enum { AM, PUT, NBI, PUT_QUIET, REPLY, HOP, OWN, SHARED };
static const char *const way_names[] = {"am", "put", "nbi", "put_quiet", "reply", "hop", "own", "shared", NULL};

enum { TAKE = 1, TOKEN, ASK, LOCK_OWN, LOCK_SHARED }; /* handlers */
enum { LINE = 128, SLOTS = 64, STAMP = 0x5a, MASK = 0x3fffffff };

/* Symmetric. Each member has its own cache lines, so that polling one does not slow down access to its neighbour. */
typedef struct shared {
  _Alignas(LINE) int token4;
  _Alignas(LINE) long long token8;
  _Alignas(LINE) _Atomic long long hop;
  _Alignas(LINE) long wrong;
  _Alignas(LINE) double sent;
  _Alignas(LINE) unsigned char landing[SLOTS][LARGEST_MESSAGE];
} shared;

static shared *heap, *others; /* on PE 0 PE 1's, on PE 1 PE 0's, if plain stores reach it; else NULL */
static int me, pes;
static unsigned char stamp[LARGEST_MESSAGE]; /* the contents of messages */
static _Atomic size_t expected;              /* bytes of each expected message */
static _Atomic long taken, strange;          /* counted by handlers: messages as expected, and others */
static long long token;                      /* set by the handler */
static long long hops;                       /* of all rings so far */

/* ---- handlers: those of a PE run one at a time ---- */

static void add_one(_Atomic long *count)
{
  atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

static void take(void *buf, size_t n, int from, shmemx_am_token_t request)
{
  add_one(n == expected && *(unsigned char *)buf == STAMP ? &taken : &strange);
}

static shmemx_am_mutex own_data, shared_data;

static void take_locked(shmemx_am_mutex *data, void *buf, size_t n, int from, shmemx_am_token_t request)
{
  shmemx_am_mutex_lock(data);
  take(buf, n, from, request);
  shmemx_am_mutex_unlock(data);
}

static void take_own(void *buf, size_t n, int from, shmemx_am_token_t request)
{
  take_locked(&own_data, buf, n, from, request);
}

static void take_shared(void *buf, size_t n, int from, shmemx_am_token_t request)
{
  take_locked(&shared_data, buf, n, from, request);
}

static long long token_in(const void *buf, size_t n)
{
  int small;
  long long large;
  if (n == sizeof large) return memcpy(&large, buf, sizeof large), large;
  return memcpy(&small, buf, sizeof small), small;
}

static void take_token(void *buf, size_t n, int from, shmemx_am_token_t request)
{
  __atomic_store_n(&token, token_in(buf, n), __ATOMIC_RELEASE);
}

static void answer(void *buf, size_t n, int from, shmemx_am_token_t request)
{
  long long next = (token_in(buf, n) + 1) & MASK;
  int small = (int)next;
  add_one(&taken);
  shmemx_am_reply(TOKEN, n == sizeof next ? (void *)&next : (void *)&small, n, request);
}

/* ---- streams ---- */

static void stream(int way, const scene *s, int to)
{
  for (long i = 0; i < s->in_flight; i++) {
    unsigned char *there = heap->landing[i % SLOTS];
    switch (way) {
    case AM: shmemx_am_request(to, TAKE, stamp, s->bytes); break;
    case OWN: shmemx_am_request(to, LOCK_OWN, stamp, s->bytes); break;
    case SHARED: shmemx_am_request(to, LOCK_SHARED, stamp, s->bytes); break;
    case PUT: shmem_putmem(there, stamp, s->bytes, to); break;
    case NBI: shmem_putmem_nbi(there, stamp, s->bytes, to); break;
    default: shmem_putmem(there, stamp, s->bytes, to), shmem_quiet();
    }
  }
  if (way == AM || way == OWN || way == SHARED)
    shmemx_am_quiet();
  else if (way != PUT_QUIET)
    shmem_quiet();
}

/* PE 1 uses its data under the mutex, and other data as long without it, until it has taken all messages. */
static void use_data(long messages)
{
  static unsigned char data[2][LARGEST_MESSAGE / 16];
  while (taken + strange < messages) {
    shmemx_am_mutex_lock(&shared_data);
    memset(data[0], STAMP, sizeof data[0]);
    shmemx_am_mutex_unlock(&shared_data);
    memset(data[1], STAMP, sizeof data[1]);
    shmemx_am_poll();
  }
}

static bool sends(const scene *s)
{
  return s->t == UNI || s->t == HANDLERS ? me == 0 : s->t == BI ? me < 2 : me != 0;
}

static bool receives(const scene *s)
{
  return s->t == UNI || s->t == HANDLERS ? me == 1 : s->t == BI ? me < 2 : me == 0;
}

/* Checks the data of the puts, and clears it for the next time. */
static bool has_landed(const scene *s)
{
  long slots = s->in_flight < SLOTS ? s->in_flight : SLOTS;
  bool right = true;
  for (long i = 0; i < slots; i++) {
    right = right && !memcmp(heap->landing[i], stamp, s->bytes);
    memset(heap->landing[i], 0, s->bytes);
  }
  return right;
}

static bool stream_is_right(int way, const scene *s, long rounds)
{
  long want = 0;
  bool by_handler = way == AM || way == OWN || way == SHARED;
  if (by_handler && receives(s)) want = rounds * s->in_flight * (s->t == MANY ? pes - 1 : 1);
  bool right = taken == want && strange == 0;
  taken = strange = 0;
  return by_handler || !receives(s) ? right : right && has_landed(s);
}

/* ---- rings ---- */

static void send_token(int way, const scene *s, int to, long long v)
{
  int small = (int)v;
  void *message = s->bytes == sizeof small ? (void *)&small : (void *)&v;
  if (way == AM)
    shmemx_am_request(to, TOKEN, message, s->bytes);
  else if (way == HOP)
    atomic_store_explicit(&others->hop, v, memory_order_release);
  else if (s->bytes == sizeof small)
    shmem_int_p(&heap->token4, small, to);
  else
    shmem_longlong_p(&heap->token8, v, to);
}

static void pause_core(void)
{
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static void wait_for_token(int way, const scene *s, long long v)
{
  if (way == AM || way == REPLY)
    shmem_longlong_wait_until(&token, SHMEM_CMP_EQ, v);
  else if (way == HOP)
    while (atomic_load_explicit(&heap->hop, memory_order_acquire) != v) pause_core();
  else if (s->bytes == sizeof(int))
    shmem_int_wait_until(&heap->token4, SHMEM_CMP_EQ, (int)v);
  else
    shmem_longlong_wait_until(&heap->token8, SHMEM_CMP_EQ, v);
}

static void ask(const scene *s, long long v)
{
  int small = (int)v;
  shmemx_am_request(1, ASK, s->bytes == sizeof small ? (void *)&small : (void *)&v, s->bytes);
}

/* Each hop increments the token. */
static void run_ring(int way, const scene *s, long rounds)
{
  for (long r = 0; r < rounds; r++) {
    long long lap = hops + (long long)r * pes;
    if (me && way == REPLY) return;
    if (me) wait_for_token(way, s, (lap + me) & MASK);
    if (way == REPLY)
      ask(s, (lap + 1) & MASK);
    else
      send_token(way, s, (me + 1) % pes, (lap + me + 1) & MASK);
    if (!me) wait_for_token(way, s, (lap + pes) & MASK);
  }
}

static long long token_now(int way, const scene *s)
{
  if (way == AM || way == REPLY) return __atomic_load_n(&token, __ATOMIC_ACQUIRE);
  if (way == HOP) return atomic_load(&heap->hop);
  return s->bytes == sizeof(int) ? heap->token4 : heap->token8;
}

static bool ring_is_right(int way, const scene *s, long rounds)
{
  long long last = (hops + (long long)(me ? rounds - 1 : rounds) * pes + me) & MASK;
  bool right = way == REPLY && me ? taken == rounds : token_now(way, s) == last;
  hops += (long long)rounds * pes;
  taken = 0;
  return right;
}

/* ---- functions for am_cases.h ---- */

static bool can(int way, const scene *s)
{
  if (s->t == HANDLERS) return way == OWN || way == SHARED;
  if (s->t != RING) return way <= NBI || (way == PUT_QUIET && s->t != MANY);
  if (s->bytes != sizeof(int) && s->bytes != sizeof(long long)) return false;
  if (way == HOP) return pes == 2 && from_first(others != NULL) != 0;
  return way == AM || way == PUT || (way == REPLY && pes == 2);
}

static void do_rounds(int way, const scene *s, long rounds)
{
  if (s->t == RING) {
    run_ring(way, s, rounds);
    return;
  }
  int to = s->t == MANY ? 0 : 1 - me;
  for (long r = 0; r < rounds && sends(s); r++) stream(way, s, to);
  if (s->t == HANDLERS && receives(s)) use_data(rounds * s->in_flight);
}

static bool is_right(int way, const scene *s, long rounds)
{
  return s->t == RING ? ring_is_right(way, s, rounds) : stream_is_right(way, s, rounds);
}

static void prepare(const scene *s)
{
  expected = s->bytes;
}

static void meet(void)
{
  shmem_barrier_all();
}

static double from_first(double v)
{
  heap->sent = v;
  shmem_barrier_all();
  double first = shmem_double_g(&heap->sent, 0);
  shmem_barrier_all();
  return first;
}

static bool all_of(bool mine)
{
  if (!mine) shmem_long_atomic_inc(&heap->wrong, 0);
  shmem_barrier_all();
  long wrong = shmem_long_g(&heap->wrong, 0);
  shmem_barrier_all();
  if (me == 0) heap->wrong = 0;
  return wrong == 0;
}

int main(int argc, char **argv)
{
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
  int code = read_options(argc, argv, me, pes);
  memset(stamp, STAMP, sizeof stamp);
  heap = shmem_align(LINE, sizeof *heap);
  memset(heap, 0, sizeof *heap);
  if (pes == 2) others = shmem_ptr(heap, 1 - me);
  shmemx_am_attach(TAKE, take);
  shmemx_am_attach(TOKEN, take_token);
  shmemx_am_attach(ASK, answer);
  shmemx_am_mutex_init(&own_data);
  shmemx_am_mutex_init(&shared_data);
  shmemx_am_attach(LOCK_OWN, take_own);
  shmemx_am_attach(LOCK_SHARED, take_shared);
  shmem_barrier_all();
  code = run(code, me, pes);
  shmem_free(heap);
  shmem_finalize();
  return code;
}
