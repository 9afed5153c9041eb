/*
 * operations.h - counts instructions, branches, loads, stores, cycles, and the references and misses of the last-level
 * cache of a process.
 *
 * The counters cover user mode of the thread that starts them and of the threads that it creates later, with waiting
 * and this library, but without child processes. They are off unless WATTLE_COUNTERS is set, because they make each
 * switch between processes slower.
 */
#ifndef WTL_RECORD_OPERATIONS_H
#define WTL_RECORD_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct perf_event_attr;

enum {
  WTL_INSTRUCTIONS,
  WTL_BRANCHES,
  WTL_LOADS,
  WTL_STORES,
  WTL_CYCLES,
  WTL_CACHE_REFERENCES,
  WTL_CACHE_MISSES,
  WTL_N_OPERATIONS
};

/* The calls of the operating system, which tests replace. `open` returns a descriptor or a negative errno. `read`
 * returns false if the counter cannot be read. */
typedef struct wtl_operations_sys {
  int (*open)(const struct perf_event_attr *event);
  bool (*read)(int fd, uint64_t *count);
} wtl_operations_sys;

typedef struct wtl_operations {
  const wtl_operations_sys *sys;
  int fd[WTL_N_OPERATIONS];    /* -1: not open */
  int error[WTL_N_OPERATIONS]; /* the errno of a counter that could not be opened */
} wtl_operations;

/* Starts the counters that this processor has and that are permitted. `sys`: NULL for the kernel's. */
void wtl_operations_start(wtl_operations *o, const wtl_operations_sys *sys);

/* Writes the JSON object `operations` (docs/profile.md) and stops counting. A counter that is not there is null, and
 * `why` gives the reason. */
void wtl_operations_write(wtl_operations *o, FILE *f);

/* Stops counting; does nothing if it was never started. */
void wtl_operations_stop(wtl_operations *o);

#endif
