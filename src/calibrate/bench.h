/*
 * bench.h - the base of every measurement: two cores, memory shared by its processes, helper processes, and samples.
 *
 * DESIGN. The measuring process stays on `core`. Helpers are processes, not threads, because PEs are processes and a
 * switch between them changes the address space. Helpers are killed when the measuring process ends. A helper counts
 * its turns in shared memory, so that a measurement can see whether the helper ran. A measurement takes samples until
 * its time is used up, and reports the median and the quartiles.
 */
#ifndef WTL_CALIBRATE_BENCH_H
#define WTL_CALIBRATE_BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wait/lowpower.h"

/*
 * Each field that one core writes and the other reads has cache lines of its own, so that a measurement moves no other
 * line.
 */
typedef struct shared {
  _Alignas(128) _Atomic uint32_t bell;   /* number of the last ring */
  _Alignas(128) _Atomic uint32_t asleep; /* number of the ring that the sleeper is about to wait for */
  _Alignas(128) _Atomic uint32_t reply;  /* number of the last ring that woke the sleeper */
  _Atomic uint64_t woke_at;              /* tick of that wake-up */
  _Alignas(128) _Atomic uint64_t word;   /* the cache line for the fence */
  _Alignas(128) _Atomic uint64_t lost;   /* ticks during which a computing helper did not have its core */
  _Alignas(128) _Atomic int started;     /* helpers that run on their core */
  _Alignas(128) _Atomic uint64_t turns;  /* changes as long as a helper runs */
} shared;

typedef struct bench {
  int core, other;   /* CPU numbers; other: -1 if there is only one */
  bool one_physical; /* the two are threads of one core */
  double ns_per_tick;
  double budget_s; /* time for one measurement */
  enum wtl_lowpower lowpower;
  const char *no_lowpower; /* reason if there is no low-power wait */
  int eventfd, epoll;
  shared *shared;
} bench;

enum { MOST_SAMPLES = 4096, WHY_BYTES = 160 };

typedef struct samples {
  double seconds[MOST_SAMPLES];
  size_t n;
  uint64_t end;        /* tick at which the time is used up */
  uint64_t last;       /* tick at which the measurement ends even with too few samples */
  char why[WHY_BYTES]; /* reason if there are no samples, or no more */
} samples;

/*
 * Chooses the cores, stays on the first one and makes the shared memory. On failure reports the reason and ends the
 * program.
 */
void bench_start(bench *b);

/* Starts a process that runs `work` on a core, and returns when it runs there. `work` need not return. */
pid_t bench_help(const bench *b, int core, void (*work)(const bench *b, void *arg), void *arg);
void bench_end(pid_t helper);

/* The work of a helper: computes. */
void bench_compute(const bench *b, void *arg);

uint64_t bench_ticks(const bench *b, double seconds);
void bench_linger(uint64_t ticks);

/* Polls until *word is `value`, for at most 2 s. Returns false after that. */
bool bench_await(const bench *b, const _Atomic uint32_t *word, uint32_t value);

/*
 * Returns a number that changes while the helper runs. On a machine with other work the helper may not run, and then
 * there was no peer.
 */
static inline uint64_t bench_turns(const bench *b)
{
  return atomic_load_explicit(&b->shared->turns, memory_order_acquire);
}

/* samples_more: is there time for another sample? samples_lack: ends the measurement and keeps the reason. */
void samples_start(const bench *b, samples *s);
bool samples_more(const samples *s);
void samples_add(samples *s, double seconds);
void samples_lack(samples *s, const char *why);

typedef struct summary {
  double least, quarter, median, three_quarters;
} summary;

/* Sorts the samples and summarizes them. There must be at least one. */
summary samples_summary(samples *s);

#endif
