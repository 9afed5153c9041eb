/*
 * bench.h - what every measurement of this program stands on: two cores, memory that its processes share, helper
 * processes, and samples.
 *
 * The measuring process stays on `core`. Helpers are processes, not threads, as PEs are: a switch between them has to
 * change address spaces. They die with the measuring process, whatever ends it.
 */
#ifndef WTL_CALIBRATE_BENCH_H
#define WTL_CALIBRATE_BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wait/lowpower.h"

/* Each part on lines of its own: only what a measurement is about may go back and forth between cores. */
typedef struct shared {
  _Alignas(128) _Atomic uint32_t bell;   /* number of the last ring */
  _Alignas(128) _Atomic uint32_t asleep; /* the ring that the sleeper is about to wait for */
  _Alignas(128) _Atomic uint32_t reply;  /* the last ring that the sleeper was woken by */
  _Atomic uint64_t woke_at;              /* and when */
  _Alignas(128) _Atomic uint64_t word;   /* the fence's line */
  _Alignas(128) _Atomic uint64_t lost;   /* ticks that a computing helper did not have its core */
  _Alignas(128) _Atomic int started;     /* helpers that run on their core */
  _Alignas(128) _Atomic uint64_t turns;  /* goes on as long as a helper runs */
} shared;

typedef struct bench {
  int core, other;   /* CPU numbers; other: -1 where there is none */
  bool one_physical; /* the two are threads of one core */
  double ns_per_tick;
  double budget_s; /* time for one measurement */
  enum wtl_lowpower lowpower;
  const char *no_lowpower; /* why there is none */
  int eventfd, epoll;
  shared *shared;
} bench;

enum { MOST_SAMPLES = 4096, WHY_BYTES = 160 };

typedef struct samples {
  double seconds[MOST_SAMPLES];
  size_t n;
  uint64_t end;        /* tick at which the time is used up */
  uint64_t last;       /* and at which even too few samples must do */
  char why[WHY_BYTES]; /* why there are none, or no more */
} samples;

/* Chooses the cores, stays on the first, makes the shared memory. Says what is wrong and ends the program where it
 * cannot. */
void bench_start(bench *b);

/* Starts a process on a core that does `work`, which need not return, and waits until it runs there. */
pid_t bench_help(const bench *b, int core, void (*work)(const bench *b, void *arg), void *arg);
void bench_end(pid_t helper);

/* A helper's work: computes. */
void bench_compute(const bench *b, void *arg);

uint64_t bench_ticks(const bench *b, double seconds);
void bench_linger(uint64_t ticks);

/* Waits until *word is `value`, looking at it all the time, 2 s at most. */
bool bench_await(const bench *b, const _Atomic uint32_t *word, uint32_t value);

/* Did the helper run between two readings of this? On a machine with other work it may not have, and then there was no
 * peer. */
static inline uint64_t bench_turns(const bench *b)
{
  return atomic_load_explicit(&b->shared->turns, memory_order_acquire);
}

/* Is there time for another sample? */
void samples_start(const bench *b, samples *s);
bool samples_more(const samples *s);
void samples_add(samples *s, double seconds);
void samples_lack(samples *s, const char *why);

typedef struct summary {
  double least, quarter, median, three_quarters;
} summary;

/* Sorts them. There must be one. */
summary samples_summary(samples *s);

#endif
