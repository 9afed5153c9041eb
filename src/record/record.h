/*
 * record.h - records what a process of a job did: time by state, joules and a file, for every front end.
 *
 * DESIGN. The node's one reader reads the joules and divides them among the processes by their activity (src/power). A
 * process divides its share among its call sites by the same model, which is linear in time by state and in bytes.
 * docs/profile.md describes the fields of the file.
 */
#ifndef WTL_RECORD_H
#define WTL_RECORD_H

#include <stdint.h>
#include <stdio.h>

#include "base/settings.h"
#include "govern/clocks.h"
#include "power/node_split.h"
#include "power/power.h"
#include "profile/modules.h"
#include "profile/profile.h"
#include "profile/python_code.h"
#include "record/caller_list.h"
#include "record/cores_used.h"
#include "record/interfaces.h"
#include "record/operations.h"
#include "wait/door.h"

/* Time on a core so far: the states at the last reading, and the sum. */
typedef struct wtl_ledger {
  wtl_activity states, on_core;
  double cpu_s;
} wtl_ledger;

/* Joules by the model of a second in each state and of a byte; NaN without a model. */
typedef struct wtl_rates {
  double active, spin, yield, asleep, byte;
} wtl_rates;

/* The division of the node's joules, as one process needs it. */
typedef struct wtl_share {
  size_t n_domains;
  const wattle_joules_t *mine; /* by domain */
  wtl_rates rate[2];           /* cpu, dram */
  double wake_s, second_s;     /* as in wtl_activity */
} wtl_share;

/* How a process ended that wrote no profile. The texts are static. */
typedef struct wtl_end {
  int signal, exit_code; /* -1: not known */
  const char *time;      /* how its end is known: "seen", "job" (the end of the job), "record" (its last record) */
  double realtime_s;     /* CLOCK_REALTIME of it */
  bool is_partial;       /* some call sites are missing */
  uintptr_t wait_addr;   /* the site of the wait in progress; 0: none */
  uint32_t wait_call;
  double wait_s;
} wtl_end;

/* A region that a process marked that has ended. Its times are not known. */
typedef struct wtl_past_region {
  const char *name;
  uint32_t outer; /* WTL_NO_REGION: none */
} wtl_past_region;

/* The facts about a process that has ended, which only it could look up while it ran. */
typedef struct wtl_past {
  long pid;
  const char *host, *boot_id, *program, *build_id, *meter;
  wtl_activity states;
  double cpu_s; /* NaN: not known */
  wtl_module *modules;
  size_t n_modules;
  wtl_path_node *nodes; /* of call paths; one that is not known is all zero */
  uint32_t n_nodes;
  wtl_python_place *places; /* of Python frames; one that is not known has no file */
  uint32_t n_places;
  wtl_past_region *regions; /* that the program marked; one that is not known has no name */
  uint32_t n_regions;
  wtl_past_no_core no_core;
  wtl_end end;
} wtl_past;

/* One process of a job: a PE, or a rank of an MPI program. The pointers belong to its owner. */
typedef struct wtl_record {
  int me, n;
  int node;                                 /* its number in the job, from 0; -1: not known */
  const char *api;                          /* the front end: "shmem", "mpi" */
  const wtl_call_info *calls[WTL_N_FRONTS]; /* tables of calls */
  wtl_profile *profile;
  wtl_door *door;
  const wtl_settings *settings;
  wtl_meter *meter; /* on the node's reader; NULL on the others */
  uint64_t start_tick;
  double start_cpu_s;
  double start_machine_s; /* CPU time of all programs of this machine; only on the node's reader */
  wtl_ledger so_far;
  void (*write_network)(FILE *f, const void *arg); /* writes a JSON object or null; NULL: no network */
  const void *network;
  /* Adds the requests that this process served for others. Returns the CPU seconds of the library's own threads, NaN if
   * they are not known. NULL: it serves none. */
  double (*served)(const void *network, wtl_served *to);
  void (*write_clocks)(FILE *f, const void *arg); /* the same for the governor */
  const void *clocks;
  void (*write_transfers)(FILE *f, const void *arg); /* the same for transfers */
  const void *transfers;
  void (*write_passed)(FILE *f,
                       const void *arg);         /* writes a JSON list of calls without a wrapper; NULL: no such list */
  void (*write_mpi)(FILE *f, const void *sysfs); /* writes a JSON object: MPI's library and transport; NULL: no MPI */
  const wtl_off_clock *off;                      /* time at other clocks; NULL without a governor */
  const wtl_off_clock *noted;                    /* the same for clocks that the knob only recorded; NULL otherwise */
  const wtl_machine *noted_prices;               /* the machine profile of that knob */
  wtl_cores_used cores;
  wtl_operations operations; /* only with WATTLE_COUNTERS */
  wtl_interfaces interfaces; /* only with WATTLE_COUNTERS, on the node's reader */
  wtl_caller_list callers;   /* the nodes of call paths in the file, for the timeline; while both are written */
  const wtl_past *past;      /* of a process that has ended (recall.h); NULL: this process */
} wtl_record;

static inline const wtl_call_info *wtl_record_call(const wtl_record *r, uint32_t call)
{
  return wtl_call_of(r->calls, call);
}

/* Adds the governor's changes of clock to the record, or those that a recording knob would have made. To be called
 * before wtl_record_start. `clocks`: of a process with a governor. */
void wtl_record_govern(wtl_record *r, const wtl_clocks *clocks);

/* Starts the record. Earlier waits are dropped, because they do not belong to the program. */
void wtl_record_start(wtl_record *r);

/* Lets wattle.h in the same process read this process's time by state and bytes; ends that. */
void wtl_record_register(wtl_record *r);
void wtl_record_unregister(void);

/* Wall-clock time by state since the start. The states and no_core_s add up to wall_s. */
void wtl_record_states(const wtl_record *r, wtl_activity *out);

/* Time on a core by state. It is added up from call to call, so that it never decreases. A process that is ready but
 * has no core draws nothing. So if it used less CPU time than it was awake, the rest counts as asleep. If threads of
 * the program used more, the rest counts as active. */
void wtl_record_activity(wtl_record *r, wtl_activity *out);

/* Converts one interval of wall-clock time to time on a core, by its CPU seconds. */
void wtl_record_put_on_core(wtl_activity *a, double cpu_s);

/* Time on a core up to the last call of wtl_record_activity, with the time at recorded clocks apart. False if no clock
 * was recorded. */
bool wtl_record_noted(const wtl_record *r, wtl_activity *out);

/* The model's rates: of each state at the mean clock that the process had in it. They suffice, because the model is
 * linear. NaN without a machine profile. */
void wtl_record_rates(const wtl_machine *m, const wtl_activity *a, wtl_rates rate[2]);

/* The modelled joules of an activity of this node; domain 0: cpu, 1: dram. */
double wtl_record_modelled(const wtl_share *share, int domain, const wtl_activity *a);

/* This process's share of the node's joules, cpu or dram without accelerators; NaN if there is none. */
double wtl_record_share(const wtl_share *share, int dram);

#endif
