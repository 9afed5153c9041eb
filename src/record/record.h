/*
 * record.h - what a process of a job did, told as time in state, as joules and as a file; for every front end.
 *
 * Node joules come from the node's one reader and are split by what each process did (src/power); a process splits its
 * share among its call sites by the same model, which is linear in time by state and in bytes. docs/profile.md has the
 * file's fields.
 */
#ifndef WTL_RECORD_H
#define WTL_RECORD_H

#include <stdint.h>
#include <stdio.h>

#include "base/settings.h"
#include "govern/clocks.h"
#include "power/power.h"
#include "profile/profile.h"
#include "record/operations.h"
#include "wait/door.h"

/* Time on a core so far: what was seen at the last look, and the sum. */
typedef struct wtl_ledger {
  wtl_activity states, on_core;
  double cpu_s;
} wtl_ledger;

/* What a second in each state and a byte cost by the model, J; NaN where there is no model. */
typedef struct wtl_rates {
  double active, spin, yield, asleep, byte;
} wtl_rates;

/* The node's joules by domain: all, and the share nobody caused. */
typedef struct wtl_node_joules {
  wattle_joules_t total[WTL_MAX_DOMAINS], idle[WTL_MAX_DOMAINS];
} wtl_node_joules;

/* How the node's joules were split, as one process needs it. */
typedef struct wtl_share {
  size_t n_domains;
  const wattle_joules_t *mine; /* by domain */
  wtl_rates rate[2];           /* cpu, dram */
} wtl_share;

/* One process of a job: a PE, or a rank of an MPI program. What it points to is the owner's. */
typedef struct wtl_record {
  int me, n;
  const char *api;                          /* the front end: "shmem", "mpi" */
  const wtl_call_info *calls[WTL_N_FRONTS]; /* tables of calls */
  wtl_profile *profile;
  wtl_door *door;
  const wtl_settings *settings;
  wtl_meter *meter; /* the node's reader has it; the others NULL */
  uint64_t start_tick;
  double start_cpu_s;
  wtl_ledger so_far;
  void (*write_network)(FILE *f, const void *arg); /* a JSON object, or null; NULL: there is no network to speak of */
  const void *network;
  void (*write_clocks)(FILE *f, const void *arg); /* the same of the governor */
  const void *clocks;
  void (*write_transfers)(FILE *f, const void *arg); /* the same of how transfers were waited for */
  const void *transfers;
  const wtl_off_clock *off;        /* what it had at another clock; NULL where nothing is governed */
  const wtl_off_clock *noted;      /* the same of clocks that the knob only noted; NULL where it did more, or nothing */
  const wtl_machine *noted_prices; /* of that knob: what they cost */
  wtl_operations operations;       /* only where WATTLE_COUNTERS asks for them */
} wtl_record;

static inline const wtl_call_info *wtl_record_call(const wtl_record *r, uint32_t call)
{
  return wtl_call_of(r->calls, call);
}

/* What its governor does to clocks is part of the record: as it was, or, of a knob that only notes, as it would have
 * been. Before the start; `clocks`: of a process that has a governor. */
void wtl_record_govern(wtl_record *r, const wtl_clocks *clocks);

/* Counts from now on. What was waited until now is forgotten: it is not the program's. */
void wtl_record_start(wtl_record *r);

/* Lets wattle.h in the same process see this process's time in state and bytes; and no more. */
void wtl_record_register(wtl_record *r);
void wtl_record_unregister(void);

/* Where the time went since the start, by the wall clock: the states add up to wall_s. */
void wtl_record_states(const wtl_record *r, wtl_activity *out);

/*
 * The same as joules see it: time on a core, added up from one call of this to the next, so that it never falls. A
 * process that is ready to run but has no core draws nothing, so where it used less CPU time than it was awake, the
 * rest counts as asleep; where threads of the program used more, it counts as active.
 */
void wtl_record_activity(wtl_record *r, wtl_activity *out);

/* The same up to the last call of that, with time apart that would have been at a noted clock. False where none was
 * noted. */
bool wtl_record_noted(const wtl_record *r, wtl_activity *out);

/* The model's rates, which are all of it, for it is linear: of each state at the clocks at which the process had it, in
 * the mean over its time there. NaN without a machine. */
void wtl_record_rates(const wtl_machine *m, const wtl_activity *a, wtl_rates rate[2]);

/* What the model says of an activity of this node, joules; domain 0: cpu, 1: dram. */
double wtl_record_modelled(const wtl_share *share, int domain, const wtl_activity *a);

/* This process's share of the node's joules, cpu or dram; NaN where there is none. */
double wtl_record_share(const wtl_share *share, int dram);

#endif
