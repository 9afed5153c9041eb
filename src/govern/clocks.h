/*
 * clocks.h - the governor of a process among its neighbours: who claims the node's clocks, when it begins and when it
 * ends.
 *
 * The processes of a node agree on it, or there is none; nodes do not ask each other. The node's first process claims
 * the clock domains, once all have read what they hold, and puts them back when all have come to the end; its guard
 * does if they do not; and if that was killed too, the node's next job does.
 */
#ifndef WTL_GOVERN_CLOCKS_H
#define WTL_GOVERN_CLOCKS_H

#include <stdio.h>
#include <sys/types.h>

#include "govern/governor.h"

/* The processes of a node that are governed together. What it points to is the caller's; settings and votes must
 * outlive the clocks, the rest wtl_clocks_start. */
typedef struct wtl_clocks_node {
  const wtl_settings *settings;
  int me, slot, n_local;          /* PE or rank; by which of this node's it is */
  wtl_votes *votes;               /* in memory that they share, zeroes at first */
  const cpu_set_t *cpus;          /* by slot: where each may run */
  const pid_t *pids;              /* by slot */
  const wtl_profile *profile;     /* whose timeline is told of each change; outlives the clocks */
  const _Atomic uint64_t *waited; /* ticks that this one has waited so far, by stage; outlives the clocks */
  void (*meet)(void *arg);        /* returns once every process of the node has called it */
  void *arg;
} wtl_clocks_node;

typedef struct wtl_clocks {
  const wtl_settings *settings;
  wtl_knob *knob;
  wtl_machine *machine; /* what the clocks of a knob that only records would cost; else NULL */
  bool leads;           /* claims and puts back */
  bool governs;         /* this process has a governor */
  char why[512];        /* why nothing is governed, or not all; "" where all is */
  wtl_governor governor;
} wtl_clocks;

/* Do these settings ask for a governor, or for fixed clocks? */
bool wtl_clocks_wanted(const wtl_settings *settings);

/* Puts back what a job of this node that was killed together with its guard has left behind, and says so. One process
 * of a node calls it, before anything else of a clock is read; whether or not anything is to be governed. Costs a look
 * into a directory. */
void wtl_clocks_repair(const wtl_settings *settings);

/* Collective over the node; all of it must want that. Without a knob nothing is governed and `why` says so, as does the
 * first process. 0; or an exit code, alike in all, where WATTLE_CLOCKS is wrong, with the reason in `error`. */
int wtl_clocks_start(wtl_clocks *c, const wtl_clocks_node *node, char *error, size_t size);

/* The program is over: this process changes no clock any more. Its governor's sums stay readable. */
void wtl_clocks_close(wtl_clocks *c);

/* All processes of the node have closed. */
void wtl_clocks_stop(wtl_clocks *c);

/* What the profile says of it: a JSON object. `arg`: the wtl_clocks. */
void wtl_clocks_write(FILE *f, const void *arg);

#endif
