/* measure_sleep.c - measures the time from a ring until the waiting process runs, for each way to wait. */
#include <errno.h>
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "calibrate/measure.h"
#include "os/atomic.h"
#include "os/os.h"

typedef struct way {
  void (*sleep)(const bench *b, uint32_t last); /* returns when a ring after `last` has come */
  void (*ring)(const bench *b);                 /* called after the bell has its new number */
} way;

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *limit)
{
  return syscall(SYS_futex, (uint32_t *)word, op, value, limit, NULL, 0);
}

static bool rang(const bench *b, uint32_t last)
{
  return atomic_load_explicit(&b->shared->bell, memory_order_acquire) != last;
}

static void sleep_in_futex(const bench *b, uint32_t last)
{
  while (!rang(b, last)) futex(&b->shared->bell, FUTEX_WAIT, last, NULL);
}

static void ring_futex(const bench *b)
{
  futex(&b->shared->bell, FUTEX_WAKE, 1, NULL);
}

static void sleep_in_epoll(const bench *b, uint32_t last)
{
  struct epoll_event event;
  uint64_t count;
  while (!rang(b, last)) {
    if (epoll_wait(b->epoll, &event, 1, -1) == 1 && read(b->eventfd, &count, sizeof count) < 0) continue;
  }
}

static void ring_eventfd(const bench *b)
{
  eventfd_write(b->eventfd, 1); /* on failure the sleeper does not answer, and the measurement ends */
}

static void spin(const bench *b, uint32_t last)
{
  while (!rang(b, last)) wtl_relax();
}

static void wait_by_instruction(const bench *b, uint32_t last)
{
  while (!rang(b, last)) {
    wtl_lowpower_arm(b->lowpower, &b->shared->bell);
    if (!rang(b, last)) wtl_lowpower_wait(b->lowpower, wtl_ticks() + bench_ticks(b, 1e-3));
  }
}

static void store_is_enough(const bench *b) {}

static const way by_futex = {sleep_in_futex, ring_futex}, by_epoll = {sleep_in_epoll, ring_eventfd},
                 by_spin = {spin, store_is_enough}, by_instruction = {wait_by_instruction, store_is_enough};

/* The work of the sleeper: waits for each ring, stores the tick at which it runs again, and answers. */
static void sleep_and_answer(const bench *b, void *arg)
{
  const way *how = arg;
  for (uint32_t last = 0;; last++) {
    atomic_store(&b->shared->asleep, last + 1);
    how->sleep(b, last);
    atomic_store(&b->shared->woke_at, wtl_ticks());
    atomic_store(&b->shared->reply, last + 1);
    futex(&b->shared->reply, FUTEX_WAKE, 1, NULL);
  }
}

/* Sleeps until the sleeper on this core sleeps, then spins to warm the core. */
static bool let_it_sleep_here(const bench *b, uint32_t ring)
{
  const struct timespec nap = {0, 200000};
  for (int i = 0; atomic_load(&b->shared->asleep) != ring; i++) {
    if (i == 10000) return false;
    nanosleep(&nap, NULL);
  }
  nanosleep(&nap, NULL);
  bench_linger(bench_ticks(b, 20e-6));
  return true;
}

/*
 * Waits until the sleeper on the other core sleeps. The time of its sleep varies, because a core that was idle for
 * longer wakes more slowly.
 */
static bool let_it_sleep_there(const bench *b, uint32_t ring, double least_s, double most_s)
{
  double part = (double)(ring * 2654435761u >> 8) / (1 << 24);
  if (!bench_await(b, &b->shared->asleep, ring)) return false;
  bench_linger(bench_ticks(b, least_s + part * (most_s - least_s)));
  return true;
}

static bool await_reply_asleep(const bench *b, uint32_t ring)
{
  const struct timespec limit = {0, 100000000};
  for (int i = 0; i < 20; i++) {
    uint32_t now = atomic_load(&b->shared->reply);
    if (now == ring) return true;
    futex(&b->shared->reply, FUTEX_WAIT, now, &limit);
  }
  return atomic_load(&b->shared->reply) == ring;
}

static void wake(const bench *b, const way *how, bool same, double least_s, double most_s, samples *out)
{
  shared *s = b->shared;
  uint64_t count;
  atomic_store(&s->bell, 0);
  atomic_store(&s->reply, 0);
  atomic_store(&s->asleep, 0);
  while (read(b->eventfd, &count, sizeof count) > 0) continue; /* an old ring that no process took */
  pid_t sleeper = bench_help(b, same ? b->core : b->other, sleep_and_answer, (void *)(uintptr_t)how);
  samples_start(b, out);
  for (uint32_t ring = 1; samples_more(out); ring++) {
    bool good = same ? let_it_sleep_here(b, ring) : let_it_sleep_there(b, ring, least_s, most_s);
    uint64_t rung_at = wtl_ticks();
    atomic_store(&s->bell, ring);
    how->ring(b);
    if (good) good = same ? await_reply_asleep(b, ring) : bench_await(b, &s->reply, ring);
    if (good)
      samples_add(out, (double)(atomic_load(&s->woke_at) - rung_at) * b->ns_per_tick * 1e-9);
    else
      samples_lack(out, "the other process did not answer within 2 s");
  }
  bench_end(sleeper);
}

void measure_spin_other(const bench *b, enum wtl_price_beside beside, samples *out)
{
  wake(b, &by_spin, false, 2e-6, 20e-6, out);
}

void measure_lowpower_wake(const bench *b, enum wtl_price_beside beside, samples *out)
{
  if (b->no_lowpower)
    samples_lack(out, b->no_lowpower);
  else if (b->lowpower == WTL_LOWPOWER_TPAUSE)
    samples_lack(out, "no store ends tpause");
  else
    wake(b, &by_instruction, false, 2e-6, 20e-6, out);
}

void measure_futex_other(const bench *b, enum wtl_price_beside beside, samples *out)
{
  wake(b, &by_futex, false, 200e-6, 1e-3, out);
}

void measure_futex_same(const bench *b, enum wtl_price_beside beside, samples *out)
{
  wake(b, &by_futex, true, 0, 0, out);
}

void measure_epoll_other(const bench *b, enum wtl_price_beside beside, samples *out)
{
  wake(b, &by_epoll, false, 200e-6, 1e-3, out);
}

void measure_epoll_same(const bench *b, enum wtl_price_beside beside, samples *out)
{
  wake(b, &by_epoll, true, 0, 0, out);
}
