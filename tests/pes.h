/*
 * pes.h - for test programs of several PEs: checks that name the PE, random numbers, and a start line that is not the
 * runtime's.
 *
 * In the threads build PEs share a process, so state is kept per thread. Include after <shmem.h>.
 */
#ifndef WTL_TESTS_PES_H
#define WTL_TESTS_PES_H

#include <sched.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/atomic.h"
#include "threads_main.h"

static _Thread_local int failures __attribute__((unused));
static _Thread_local bool quiet_failures __attribute__((unused)); /* count them, say nothing */

/* Goes on after a failure, so that one run tells all; says only the first few of many. */
#define EXPECT(condition, ...)                                                                                         \
  do {                                                                                                                 \
    if (!(condition) && ++failures <= 20 && !quiet_failures) {                                                         \
      fprintf(stderr, "%s:%d: PE %d: not true: %s: ", __FILE__, __LINE__, shmem_my_pe(), #condition);                  \
      fprintf(stderr, __VA_ARGS__);                                                                                    \
      fputc('\n', stderr);                                                                                             \
    }                                                                                                                  \
  } while (0)

/* splitmix64: the same numbers from the same seed on every PE. */
static inline uint64_t next_random(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline double seconds_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A barrier of C11 atomics in PE 0's memory, so that tests of the runtime's waiting can start together without it. */
typedef struct start_line {
  _Atomic uint32_t arrived, epoch;
} start_line;

/* `line`: PE 0's, as shmem_ptr gives it. `turn` counts this PE's arrivals from 1. */
static inline void meet(start_line *line, uint32_t n, uint32_t turn)
{
  if (atomic_fetch_add(&line->arrived, 1) + 1 == n * turn) atomic_store(&line->epoch, turn);
  for (int i = 0; atomic_load(&line->epoch) < turn; i++) {
    if (i > 2000)
      sched_yield();
    else
      wtl_relax();
  }
}

/* Two PEs begin a turn together. line: PE 0's, or NULL where the other is on another node: then by the library's own
 * calls, which cannot be waited for without them; `there`, symmetric, holds the turn that the other has begun. */
static inline void meet_other(start_line *line, uint64_t *there, uint32_t turn, int other)
{
  if (line) {
    meet(line, 2, turn);
    return;
  }
  shmem_uint64_p(there, turn, other);
  while (!shmem_uint64_test(there, SHMEM_CMP_GE, turn)) continue;
}

#endif
