/*
 * counts.h - counts what a thread does while the program runs: instructions, cycles and last-level cache misses.
 *
 * All three are read at once, so their ratios belong to one interval. They count the thread that opens them, in user
 * mode. In simulation the simulated core counts.
 */
#ifndef WTL_POWER_COUNTS_H
#define WTL_POWER_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

/* Sums since the counters were opened. `misses` is NaN where the processor does not count them. */
typedef struct wtl_counts {
  double instructions, cycles, misses;
} wtl_counts;

/* The calls of the operating system, which tests replace. `open`: see wtl_perf_event_open. */
typedef struct wtl_counters_sys {
  int (*open)(const struct perf_event_attr *event, int cpu, int group);
  long (*read)(int fd, void *buffer, size_t size);
} wtl_counters_sys;

typedef struct wtl_counters {
  const wtl_counters_sys *sys;
  int fd[3];     /* the first is the group's; -1: not open */
  char why[192]; /* why nothing is counted; "" where it is */
} wtl_counters;

/* Starts counting in the calling thread. `sys`: NULL for the kernel's. False if instructions or cycles cannot be
 * counted; `why` then has the reason. */
bool wtl_counters_open(wtl_counters *c, const wtl_counters_sys *sys);

/* Reads all three, from the thread that opened them. False if the kernel has not let them run. */
bool wtl_counters_read(wtl_counters *c, wtl_counts *now);

/* Also for counters that could not be opened. */
void wtl_counters_close(wtl_counters *c);

#endif
