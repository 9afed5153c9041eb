/*
 * operations.h - instructions, branches, loads and stores of a process, by the processor's counters: what its compute
 * intensity is known from.
 *
 * Counted is what the thread that starts it runs in user mode, and the threads that it makes from then on: waiting and
 * this library included, what it forks not. Off unless WATTLE_COUNTERS asks for it: with counters a switch from one
 * process to another costs more.
 */
#ifndef WTL_RECORD_OPERATIONS_H
#define WTL_RECORD_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct perf_event_attr;

enum { WTL_INSTRUCTIONS, WTL_BRANCHES, WTL_LOADS, WTL_STORES, WTL_N_OPERATIONS };

/* What it needs of the operating system, so that tests can have a processor of their own. A descriptor or a negative
 * errno; whether all of them could be read. */
typedef struct wtl_operations_sys {
  int (*open)(const struct perf_event_attr *event);
  bool (*read)(int fd, uint64_t *count);
} wtl_operations_sys;

typedef struct wtl_operations {
  const wtl_operations_sys *sys;
  int fd[WTL_N_OPERATIONS];
  bool counts;
  char why[160]; /* why nothing is counted; "" where it is, and where nobody asked */
} wtl_operations;

/* Counts from now on. One counter that cannot be had ends it for all: each is needed. `sys`: NULL for the kernel's. */
void wtl_operations_start(wtl_operations *o, const wtl_operations_sys *sys);

/* A JSON object, docs/profile.md's `operations`; and counts no more. */
void wtl_operations_write(wtl_operations *o, FILE *f);

/* Counts no more; nothing where it never did. */
void wtl_operations_stop(wtl_operations *o);

#endif
