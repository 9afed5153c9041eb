/*
 * Litmus tests. Each is a race of two PEs from one start line, many rounds, with random delays so that every
 * interleaving comes up.
 *
 *   store_load_{word,block,local}   put; quiet; get on both PEs: not both may miss the other's put (store buffering)
 *   message_{word,block}            data; fence; flag on one, flag then data on the other: who sees the flag sees the data
 *   bell                            one waits while the other makes what it waits for true: no wake-up may be lost
 *
 * usage: litmus TEST ROUNDS SECONDS. Ends after that many rounds or seconds, or when it has seen what must not be. The
 * bell's verdict is the profile's count of rescues (no_lost_wakeups.py): a PE that slept on although it was to be
 * woken.
 */
#include <shmem.h>

#include "pes.h"

enum { BATCH = 5000, BLOCK = 3 };

/* Each in a cache line of its own, as store buffers work on lines. */
typedef struct cells {
  _Alignas(128) start_line line;
  _Alignas(128) uint64_t x[BLOCK];
  _Alignas(128) uint64_t y[BLOCK];
  _Alignas(128) uint64_t data[BLOCK];
  _Alignas(128) uint64_t flag;
  _Alignas(128) long lock;
  _Alignas(128) _Atomic uint64_t stop_at;
  _Alignas(128) uint64_t there; /* the turn the other has begun, where it is on another node */
  _Alignas(128) uint64_t seen[BATCH];
} cells;

typedef struct race {
  cells *c, *shared; /* this PE's; PE 0's by shmem_ptr, NULL if the other is on another node */
  int me, other;
  uint32_t turn;
  int batch; /* rounds between looks at the clock; fewer where they take longer */
  uint64_t seed;
} race;

static void start_together(race *r)
{
  meet_other(r->shared ? &r->shared->line : NULL, &r->c->there, ++r->turn, r->other);
}

/* Both know it when they next start together. */
static void stop_at(race *r, uint64_t round)
{
  if (r->shared) {
    atomic_store(&r->shared->stop_at, round);
    return;
  }
  atomic_store(&r->c->stop_at, round);
  shmem_uint64_p((uint64_t *)(void *)&r->c->stop_at, round, r->other);
  shmem_fence();
}

static uint64_t stops_at(const race *r)
{
  return atomic_load(r->shared ? &r->shared->stop_at : &r->c->stop_at);
}

/* Any scale between nothing and a few microseconds is as likely as any other. */
static void delay(race *r, int scales)
{
  uint64_t random = next_random(&r->seed);
  uint64_t turns = (random >> 8) & ((1u << random % (uint64_t)scales) - 1);
  for (uint64_t i = 0; i < turns; i++) wtl_relax();
}

/* --- store buffering ---------------------------------------------------------------------------------------------- */

/* The waiting party's half of a round: stores `value` where the other reads, and returns what it reads itself. */
typedef uint64_t (*half_round)(race *, uint64_t value);

static uint64_t word(race *r, uint64_t value)
{
  uint64_t *mine = r->me ? r->c->y : r->c->x, *theirs = r->me ? r->c->x : r->c->y;
  shmem_uint64_p(theirs, value, r->other);
  shmem_quiet();
  return shmem_uint64_g(mine, r->me);
}

static uint64_t block(race *r, uint64_t value)
{
  uint64_t *mine = r->me ? r->c->y : r->c->x, *theirs = r->me ? r->c->x : r->c->y;
  uint64_t from[BLOCK] = {value, value, value}, to[BLOCK];
  shmem_uint64_put(theirs, from, BLOCK, r->other);
  shmem_quiet();
  shmem_uint64_get(to, mine, BLOCK, r->me);
  return to[0];
}

/* quiet orders the program's own stores to symmetric memory too. */
static uint64_t local(race *r, uint64_t value)
{
  uint64_t *mine = r->me ? r->c->y : r->c->x, *theirs = r->me ? r->c->x : r->c->y;
  __atomic_store_n(mine, value, __ATOMIC_RELAXED);
  shmem_quiet();
  return shmem_uint64_g(theirs, r->other);
}

/* Rounds of one batch in which both missed the other's store, as both PEs count them. */
static int both_missed(race *r, uint64_t first, int n)
{
  uint64_t theirs[BATCH];
  int missed = 0;
  start_together(r);
  shmem_uint64_get(theirs, r->c->seen, (size_t)n, r->other);
  for (int i = 0; i < n; i++) missed += theirs[i] < first + (uint64_t)i && r->c->seen[i] < first + (uint64_t)i;
  start_together(r);
  return missed;
}

static int store_load(race *r, half_round half, uint64_t rounds, double seconds)
{
  double end = seconds_now() + seconds;
  uint64_t done = 0;
  int missed = 0;
  while (done < rounds && !missed && stops_at(r) == 0) {
    for (int i = 0; i < r->batch; i++) {
      start_together(r);
      delay(r, 5);
      r->c->seen[i] = half(r, done + (uint64_t)i + 1);
    }
    missed = both_missed(r, done + 1, r->batch);
    done += (uint64_t)r->batch;
    if (r->me == 0 && seconds_now() > end) stop_at(r, 1);
    start_together(r);
  }
  if (r->me == 0) printf("%d forbidden outcomes in %llu rounds\n", missed, (unsigned long long)done);
  return missed != 0;
}

/* --- message passing ---------------------------------------------------------------------------------------------- */

static void send_message(race *r, uint64_t value, bool as_block)
{
  uint64_t from[BLOCK] = {value, value, value};
  if (as_block)
    shmem_uint64_put_nbi(r->c->data, from, BLOCK, r->other);
  else
    shmem_uint64_p(r->c->data, value, r->other);
  shmem_fence();
  shmem_uint64_p(&r->c->flag, value, r->other);
}

static int message(race *r, bool as_block, uint64_t rounds, double seconds)
{
  double end = seconds_now() + seconds;
  uint64_t done = 0, late = 0;
  while (done < rounds && stops_at(r) == 0) {
    for (int i = 0; i < r->batch; i++) {
      uint64_t value = ++done;
      start_together(r);
      delay(r, 5);
      if (r->me == 0) {
        send_message(r, value, as_block);
      } else if (shmem_uint64_test(&r->c->flag, SHMEM_CMP_EQ, value)) {
        late += shmem_uint64_g(r->c->data, r->me) != value;
        late += as_block && shmem_uint64_g(r->c->data + BLOCK - 1, r->me) != value;
      }
    }
    start_together(r);
    if (late || (r->me == 0 && seconds_now() > end)) stop_at(r, 1);
    start_together(r);
  }
  if (r->me == 1)
    printf("%llu messages overtaken in %llu rounds\n", (unsigned long long)late, (unsigned long long)done);
  return late != 0;
}

/* --- the bell ----------------------------------------------------------------------------------------------------- */

/* The ways in which something can come true that a PE waits for. */
enum way { BY_WORD, BY_BLOCK, BY_AMO, BY_BARRIER, BY_LOCK, N_WAYS };

static void make_true(race *r, enum way way, uint64_t value)
{
  uint64_t from[BLOCK] = {value, value, value};
  switch (way) {
  case BY_WORD: shmem_uint64_p(r->c->x, value, r->other); break;
#ifdef WTL_THREADS /* a block is not copied as a whole, so waiting for a word of it is a race by rights, and ThreadSanitizer says so */
  case BY_BLOCK: shmem_uint64_p(r->c->x, from[0], r->other); break;
#else
  case BY_BLOCK: shmem_uint64_put(r->c->x, from, BLOCK, r->other); break;
#endif
  case BY_AMO: shmem_uint64_atomic_set(r->c->x, value, r->other); break;
  default: break;
  }
}

static void bell_round(race *r, uint64_t value)
{
  enum way way = (enum way)(value / 2 % N_WAYS);
  delay(r, 9);
  if (way == BY_BARRIER) {
    shmem_sync_all();
  } else if (way == BY_LOCK) {
    shmem_set_lock(&r->c->lock);
    delay(r, 6);
    shmem_clear_lock(&r->c->lock);
  } else if (r->me == (int)(value & 1)) {
    shmem_uint64_wait_until(r->c->x, SHMEM_CMP_EQ, value);
  } else {
    make_true(r, way, value);
  }
}

/* A wait that lasts longer than half of WATTLE_SLEEP_MAX is suspect: the profile then tells what it was, and there is
 * no need to go on. */
static int bell(race *r, uint64_t rounds, double seconds)
{
  const char *longest = getenv("WATTLE_SLEEP_MAX");
  double end = seconds_now() + seconds, suspect = longest ? atof(longest) / 2 : 0.01;
  uint64_t i;
  for (i = 1; i <= rounds; i++) {
    start_together(r);
    if (stops_at(r) && stops_at(r) <= i) break;
    double begin = seconds_now();
    bell_round(r, i);
    double now = seconds_now();
    if (now - begin > suspect || now > end) stop_at(r, i + 1);
  }
  if (r->me == 0) printf("%llu rounds\n", (unsigned long long)i - 1);
  return 0;
}

static int run(race *r, const char *test, uint64_t rounds, double seconds)
{
  if (strcmp(test, "store_load_word") == 0) return store_load(r, word, rounds, seconds);
  if (strcmp(test, "store_load_block") == 0) return store_load(r, block, rounds, seconds);
  if (strcmp(test, "store_load_local") == 0) return store_load(r, local, rounds, seconds);
  if (strcmp(test, "message_word") == 0) return message(r, false, rounds, seconds);
  if (strcmp(test, "message_block") == 0) return message(r, true, rounds, seconds);
  if (strcmp(test, "bell") == 0) return bell(r, rounds, seconds);
  fprintf(stderr, "litmus: no test %s\n", test);
  return 2;
}

int main(int argc, char **argv)
{
  if (argc != 4) return 2;
  shmem_init();
  race r = {.c = shmem_align(128, sizeof(cells)), .me = shmem_my_pe(), .other = 1 - shmem_my_pe()};
  memset(r.c, 0, sizeof *r.c);
  shmem_barrier_all();
  r.shared = shmem_ptr(r.c, r.other) ? shmem_ptr(r.c, 0) : NULL;
  r.batch = r.shared ? BATCH : BATCH / 10;
  r.seed = 1 + (uint64_t)r.me;
  int bad = shmem_n_pes() == 2 ? run(&r, argv[1], strtoull(argv[2], NULL, 10), atof(argv[3])) : 2;
  shmem_free(r.c);
  shmem_finalize();
  return bad;
}
