/*
 * clocks.h - starts and stops the governor of a process together with the other processes of its node, and sets the
 * values that hold for the whole job (packages.h).
 *
 * DESIGN. The processes of a node either all have a governor or none. Nodes decide independently. Once all processes
 * have read the clock files, the first one claims the clock domains. It restores the clocks when all processes have
 * ended. If they do not end normally its guard restores them, and if the guard was killed too, the node's next job
 * does.
 */
#ifndef WTL_GOVERN_CLOCKS_H
#define WTL_GOVERN_CLOCKS_H

#include <stdio.h>
#include <sys/types.h>

#include "govern/governor.h"
#include "govern/packages.h"
#include "power/sensor/counts.h"

/* The processes of a node that are governed together. The caller owns all that it points to. Settings and votes must
 * outlive the clocks; the rest must outlive wtl_clocks_start, unless stated below. */
typedef struct wtl_clocks_node {
  const wtl_settings *settings;
  bool governs;                   /* all processes of the node want a governor and may have one */
  int me, slot, n_local, n_all;   /* PE or rank, local rank, processes of the node and of the job */
  bool exchanges;                 /* nodes exchange their states in barriers (sync_group.h) */
  wtl_votes *votes;               /* in memory that the processes share, zeroes at first; only with a governor */
  const cpu_set_t *cpus;          /* by local rank: where each may run */
  const pid_t *pids;              /* by local rank */
  const wtl_profile *profile;     /* its timeline records each change; must outlive the clocks */
  const _Atomic uint64_t *waited; /* ticks that this process has waited so far, by stage; must outlive the clocks */
  void (*barrier)(void *arg);     /* a barrier of the node's processes */
  void *arg;
} wtl_clocks_node;

typedef struct wtl_clocks {
  const wtl_settings *settings;
  wtl_knob *knob;
  wtl_knob *uncore;      /* NULL if the governor does not set it */
  wtl_packages packages; /* in the process that leads */
  wtl_machine *machine;  /* the watts of a knob that only records; otherwise NULL */
  bool leads;            /* claims and restores the clocks */
  bool governs;          /* this process has a governor */
  bool counts;           /* the counters are open */
  wtl_counters counters; /* of this process's thread; their `why` says why they are not there */
  char why[512];         /* why no clock or not every clock is governed; "" if all are */
  char why_uncore[512];  /* the same for the uncore */
  wtl_governor governor;
} wtl_clocks;

/* True if these settings ask for a governor, for fixed clocks or for a budget of watts. For values of packages
 * wtl_packages_wanted is asked. */
bool wtl_clocks_wanted(const wtl_settings *settings);

/* The name of the setting that asks for it. */
const char *wtl_clocks_setting(const wtl_settings *settings);

/* Restores the clocks that a job of this node left behind when it and its guard were killed, and reports this. One
 * process of each node calls it before it reads any clock, also without a governor. Costs one look into a folder. */
void wtl_clocks_repair(const wtl_settings *settings);

/* Collective over the node. Without a knob no clock is governed, `why` has the reason, and the first process reports
 * it. Returns 0. If WATTLE_CLOCKS, WATTLE_UNCORE or WATTLE_PACKAGE_LIMIT is wrong, or a budget of
 * watts cannot be kept, it returns the same exit code in all processes, with the reason in `error`. */
int wtl_clocks_start(wtl_clocks *c, const wtl_clocks_node *node, char *error, size_t size);

/* At the end of the program. This process changes no clock afterwards. The sums of its governor stay readable. */
void wtl_clocks_close(wtl_clocks *c);

/* To be called once all processes of the node have called wtl_clocks_close. */
void wtl_clocks_stop(wtl_clocks *c);

/* Writes the profile's JSON object about clocks. `arg`: the wtl_clocks. */
void wtl_clocks_write(FILE *f, const void *arg);

#endif
