/* measure_order.c - measures the cost of ordering stores and loads: by a fence, or by membarrier for all processes. */
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calibrate/measure.h"
#include "os/atomic.h"
#include "os/os.h"

/* Adds a sample, unless the peer did not run. Other work may have had its core. */
static void add_if(samples *out, pid_t peer, bool ran, double seconds)
{
  if (!peer || ran) samples_add(out, seconds);
}

static void end_peer(pid_t peer, samples *out)
{
  if (!peer) return;
  bench_end(peer);
  if (out->n == 0 && !out->why[0]) samples_lack(out, "the peer did not run; other work had its core");
}

/* ---- fence ---- */

static void poll_word(const bench *b, void *arg)
{
  for (uint64_t turn = 1; atomic_load_explicit(&b->shared->word, memory_order_acquire) != UINT64_MAX; turn++) {
    if (turn % 64 == 0) atomic_store_explicit(&b->shared->turns, turn, memory_order_relaxed);
    wtl_relax();
  }
}

enum { STORES = 500 };

static uint64_t time_stores(const bench *b, bool fenced)
{
  uint64_t start = wtl_ticks();
  for (uint64_t i = 0; i < STORES; i++) {
    atomic_store_explicit(&b->shared->word, i, memory_order_release);
    if (fenced) wtl_fence();
  }
  return wtl_ticks() - start;
}

/* Each sample is the difference of stores with fences and stores without, taken one after the other. */
void measure_fence(const bench *b, enum wtl_price_beside beside, samples *out)
{
  pid_t peer = beside == WTL_BESIDE_PEER ? bench_help(b, b->other, poll_word, NULL) : 0;
  samples_start(b, out);
  while (samples_more(out)) {
    uint64_t turns = bench_turns(b);
    double with = (double)time_stores(b, true), without = (double)time_stores(b, false);
    add_if(out, peer, bench_turns(b) != turns, (with - without) * b->ns_per_tick * 1e-9 / STORES);
  }
  end_peer(peer, out);
}

/* ---- membarrier ---- */

static long membarrier(int command)
{
  return syscall(SYS_membarrier, command, 0, 0);
}

/*
 * Registers this process, so that membarrier calls of others order its stores. Returns false with the reason on
 * failure.
 */
static bool register_here(samples *out)
{
  enum { NEEDED = MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED };
  long offered = membarrier(MEMBARRIER_CMD_QUERY);
  const char *lack = NULL;
  if (offered < 0)
    lack = strerror(errno);
  else if ((offered & NEEDED) != NEEDED)
    lack = "the kernel has no GLOBAL_EXPEDITED";
  else if (membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) != 0)
    lack = strerror(errno);
  if (lack && out) snprintf(out->why, sizeof out->why, "membarrier: %s", lack);
  return !lack;
}

static void be_registered(const bench *b, void *arg)
{
  register_here(NULL);
  bench_compute(b, arg);
}

void measure_membarrier(const bench *b, enum wtl_price_beside beside, samples *out)
{
  samples_start(b, out);
  if (!register_here(out)) return;
  pid_t peer = beside == WTL_BESIDE_PEER ? bench_help(b, b->other, be_registered, NULL) : 0;
  while (samples_more(out)) {
    uint64_t turns = bench_turns(b);
    bench_linger(bench_ticks(b, 2e-6)); /* a peer that runs makes some turns meanwhile */
    uint64_t start = wtl_ticks(), before = bench_turns(b);
    long done = membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    uint64_t end = wtl_ticks();
    add_if(out, peer, before != turns, (double)(end - start) * b->ns_per_tick * 1e-9);
    if (done != 0) snprintf(out->why, sizeof out->why, "membarrier: %s", strerror(errno));
  }
  end_peer(peer, out);
}

/* The work of a helper: reads the clock in a loop and adds up the gaps in which it did not run. */
static void record_gaps(const bench *b, void *arg)
{
  uint64_t lost = 0, last, now, gap = bench_ticks(b, 400e-9);
  register_here(NULL);
  for (last = wtl_ticks();; last = now) {
    now = wtl_ticks();
    atomic_store_explicit(&b->shared->turns, now, memory_order_relaxed);
    if (now - last < gap) continue;
    lost += now - last;
    atomic_store_explicit(&b->shared->lost, lost, memory_order_relaxed);
  }
}

enum { CALLS = 20 };

/* Returns the ticks that the helper loses while this process calls membarrier, or while it lets the same time pass. */
static double lost_meanwhile(const bench *b, bool calls, uint64_t *duration)
{
  uint64_t before = atomic_load(&b->shared->lost), start = wtl_ticks();
  if (calls) {
    for (int i = 0; i < CALLS; i++) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    *duration = wtl_ticks() - start;
  } else {
    bench_linger(*duration);
  }
  bench_linger(bench_ticks(b, 2e-6)); /* the helper records a gap at its end */
  return (double)(atomic_load(&b->shared->lost) - before);
}

void measure_membarrier_peer(const bench *b, enum wtl_price_beside beside, samples *out)
{
  samples_start(b, out);
  if (!register_here(out)) return;
  atomic_store(&b->shared->lost, 0);
  pid_t peer = bench_help(b, b->other, record_gaps, NULL);
  while (samples_more(out)) {
    uint64_t duration, before = bench_turns(b);
    double called = lost_meanwhile(b, true, &duration);
    uint64_t between = bench_turns(b);
    double quiet = lost_meanwhile(b, false, &duration);
    bool ran = between != before && bench_turns(b) != between;
    add_if(out, peer, ran, (called - quiet) * b->ns_per_tick * 1e-9 / CALLS);
  }
  end_peer(peer, out);
}
