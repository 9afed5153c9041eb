/*
 * races.c - tests for races at the moment when a thread falls asleep.
 *
 * In each round one PE waits and the other ends that wait, in a way drawn at random, after an aimed delay. The waiting
 * PE reports whether the kernel put it to sleep. If so, the next delay is a little shorter, else a little longer. So
 * half of the rounds end just before the sleep and half just after it, at any policy and on any machine. Every fourth
 * delay has any length instead.
 *
 * usage: races ROUNDS SECONDS [messages]: at most SECONDS; with active messages too, which give each PE an agent. The
 * result is the profile's count of rescues (no_lost_wakeups.py).
 */
#include <shmem.h>
#include <shmemx.h>

#include <sys/resource.h>

#include "pes.h"

enum { BLOCK = 3, BULK = 4096, VALUE = 1 };

/* How a wait can be ended: first by stores, then by taking part, then by leaving a lock. */
typedef enum way {
  BY_P,
  BY_PUT,
  BY_BULK,
  BY_PUT_NBI,
  BY_SET,
  BY_ADD,
  BY_FETCH_ADD,
  BY_SWAP,
  BY_COMPARE_SWAP,
  BY_FETCH_NBI,
  BY_XOR,
  BY_SIGNAL,
  BY_SIGNAL_ADD,
  BY_MESSAGE,
  BY_SYNC,
  BY_BARRIER,
  BY_BROADCAST,
  BY_SUM,
  BY_LOCK,
  N_WAYS
} way;

typedef struct cells {
  _Alignas(128) start_line line;
  _Alignas(128) uint64_t x[BLOCK];
  _Alignas(128) uint64_t bulk[BULK];
  _Alignas(128) long lock;
  _Alignas(128) uint64_t there; /* the turn the other has begun, where it is on another node */
  _Alignas(128) uint64_t slept; /* whether the other's last wait did */
  _Alignas(128) uint64_t source, sum, over;
} cells;

typedef struct race {
  cells *c, *shared; /* this PE's; PE 0's by shmem_ptr, NULL if the other is on another node */
  int me, other;
  uint32_t turn;
  uint64_t common, own; /* random numbers that both PEs draw alike, and this PE's */
  uint64_t there;       /* the value of the other's x */
  double aim[N_WAYS];   /* turns of delay after which the other falls asleep */
  double suspect; /* a wait as long as that may have been lost: the profile tells, and there is no need to go on */
  uint64_t *from; /* the source of bulk stores */
  bool messages;
} race;

/* The cells of the PEs of this process, for handlers of messages. */
static cells *cells_of[2];

static void on_value(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  uint64_t value;
  (void)n, (void)from, (void)token;
  memcpy(&value, buf, sizeof value);
  __atomic_store_n(cells_of[shmem_my_pe()]->x, value, __ATOMIC_RELEASE);
}

static void start_together(race *r)
{
  meet_other(r->shared ? &r->shared->line : NULL, &r->c->there, ++r->turn, r->other);
}

/* --- delays ------------------------------------------------------------------------------------------------------- */

static void delay(uint64_t turns)
{
  for (uint64_t i = 0; i < turns; i++) wtl_relax();
}

static uint64_t any_scale(race *r)
{
  uint64_t random = next_random(&r->own);
  return (random >> 8) & ((1u << random % 12) - 1);
}

static uint64_t aimed(race *r, way by)
{
  double spread = 0.8 + 0.4 * (double)(next_random(&r->own) >> 11) * 0x1p-53;
  return (uint64_t)(r->aim[by] * spread);
}

/* Adjusts the aim by the other PE's report after its wait. */
static void aim_again(race *r, way by)
{
  const double most = 1e5;
  bool slept = __atomic_load_n(&r->c->slept, __ATOMIC_ACQUIRE) != 0;
  r->aim[by] = slept ? r->aim[by] * 0.92 : r->aim[by] * 1.09 + 1;
  if (r->aim[by] > most) r->aim[by] = most;
}

/* --- one round ---------------------------------------------------------------------------------------------------- */

static void wait_for(race *r, way by, uint64_t value)
{
  uint64_t *word = by == BY_BULK ? &r->c->bulk[BULK - 1] : r->c->x;
  shmem_uint64_wait_until(word, SHMEM_CMP_EQ, value);
}

/* Stores `value` where the other waits for it. */
static void store(race *r, way by, uint64_t value)
{
  uint64_t old, *x = r->c->x, before = r->there;
  if (by != BY_BULK) r->there = value;
  switch (by) {
  case BY_P: shmem_uint64_p(x, value, r->other); break;
  case BY_PUT: shmem_uint64_put(x, r->from, BLOCK, r->other); break;
  case BY_BULK: shmem_uint64_put(r->c->bulk, r->from, BULK, r->other); break;
  case BY_PUT_NBI:
    shmem_uint64_put_nbi(x, r->from, 1, r->other);
    shmem_quiet();
    break;
  case BY_SET: shmem_uint64_atomic_set(x, value, r->other); break;
  case BY_ADD: shmem_uint64_atomic_add(x, value - before, r->other); break;
  case BY_FETCH_ADD: shmem_uint64_atomic_fetch_add(x, value - before, r->other); break;
  case BY_SWAP: shmem_uint64_atomic_swap(x, value, r->other); break;
  case BY_COMPARE_SWAP: shmem_uint64_atomic_compare_swap(x, before, value, r->other); break;
  case BY_FETCH_NBI:
    shmem_uint64_atomic_fetch_add_nbi(&old, x, value - before, r->other);
    shmem_quiet();
    break;
  case BY_SIGNAL: shmem_uint64_put_signal(r->c->bulk, r->from, 1, x, value, SHMEM_SIGNAL_SET, r->other); break;
  case BY_SIGNAL_ADD:
    shmem_uint64_put_signal(r->c->bulk, r->from, 1, x, value - before, SHMEM_SIGNAL_ADD, r->other);
    break;
  case BY_MESSAGE: shmemx_am_request(r->other, VALUE, &value, sizeof value); break;
  default: shmem_uint64_atomic_xor(x, value ^ before, r->other); break;
  }
}

/* `last`: the PE that comes last and lets the other one go. */
static void take_part(race *r, way by, int last)
{
  switch (by) {
  case BY_SYNC: shmem_sync_all(); break;
  case BY_BARRIER: shmem_barrier_all(); break;
  case BY_BROADCAST: shmem_uint64_broadcast(SHMEM_TEAM_WORLD, &r->c->sum, &r->c->source, 1, last); break;
  default: shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, &r->c->sum, &r->c->source, 1); break;
  }
}

static void end_all(race *r)
{
  for (int pe = 0; pe < 2; pe++) shmem_uint64_atomic_set(&r->c->over, 1, pe);
}

static long sleeps_of_thread(void)
{
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

static void wait_part(race *r, way by, uint64_t value)
{
  long before = sleeps_of_thread();
  double began = seconds_now();
  if (by == BY_LOCK) {
    shmem_set_lock(&r->c->lock);
    shmem_clear_lock(&r->c->lock);
  } else if (by >= BY_SYNC) {
    take_part(r, by, r->other);
  } else {
    wait_for(r, by, value);
  }
  if (seconds_now() - began > r->suspect) end_all(r);
  shmem_uint64_p(&r->c->slept, sleeps_of_thread() != before, r->other);
}

static void end_wait(race *r, way by, uint64_t value)
{
  delay(next_random(&r->own) % 4 == 0 ? any_scale(r) : aimed(r, by));
  if (by == BY_LOCK)
    shmem_clear_lock(&r->c->lock);
  else if (by >= BY_SYNC)
    take_part(r, by, r->me);
  else
    store(r, by, value);
}

/* A block is not copied as a whole, so waiting for a word of it is a race by rights, and ThreadSanitizer would say
 * so. */
static way draw_way(race *r)
{
  way by = (way)(next_random(&r->common) % N_WAYS);
  if (by == BY_MESSAGE && !r->messages) by = BY_P;
#ifdef WTL_THREADS
  if (by == BY_PUT || by == BY_BULK) by = BY_P;
#endif
  return by;
}

static void round_of(race *r, uint64_t value)
{
  way by = draw_way(r);
  bool waits = (int)(next_random(&r->common) & 1) == r->me;
  if (!waits) {
    for (int i = 0; i < BLOCK; i++) r->from[i] = value;
    r->from[BULK - 1] = value;
    if (by == BY_LOCK) shmem_set_lock(&r->c->lock);
  }
  start_together(r);
  if (waits)
    wait_part(r, by, value);
  else
    end_wait(r, by, value);
  start_together(r);
  if (!waits) aim_again(r, by);
}

/* PE 0 looks at the clock now and then, and both end after the same round. */
static bool is_time_up(race *r, double end)
{
  if (r->me == 0 && seconds_now() > end) end_all(r);
  shmem_quiet();
  start_together(r);
  return shmem_uint64_atomic_fetch(&r->c->over, r->me) != 0;
}

static uint64_t play(race *r, uint64_t rounds, double seconds)
{
  enum { ROUNDS_A_LOOK = 100 };
  double end = seconds_now() + seconds;
  for (uint64_t i = 1; i <= rounds; i++) {
    round_of(r, i);
    if (i % ROUNDS_A_LOOK == 0 && is_time_up(r, end)) return i;
  }
  return rounds;
}

int main(int argc, char **argv)
{
  if (argc < 3 || argc > 4) return 2;
  shmem_init();
  race r = {.c = shmem_align(128, sizeof(cells)), .me = shmem_my_pe(), .other = 1 - shmem_my_pe(), .common = 1};
  r.suspect = getenv("WATTLE_SLEEP_MAX") ? atof(getenv("WATTLE_SLEEP_MAX")) / 2 : 0.01;
  r.from = calloc(BULK, sizeof *r.from);
  r.own = 2 + (uint64_t)r.me;
  memset(r.c, 0, sizeof *r.c);
  cells_of[r.me] = r.c;
  r.messages = argc == 4;
  if (r.messages) shmemx_am_attach(VALUE, on_value);
  shmem_barrier_all();
  r.shared = shmem_ptr(r.c, r.other) ? shmem_ptr(r.c, 0) : NULL;
  uint64_t done = shmem_n_pes() == 2 ? play(&r, strtoull(argv[1], NULL, 10), atof(argv[2])) : 0;
  if (r.me == 0) printf("%llu of %s races\n", (unsigned long long)done, argv[1]);
  shmem_barrier_all();
  free(r.from);
  shmem_free(r.c);
  shmem_finalize();
  return done == 0;
}
