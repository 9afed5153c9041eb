/*
 * cores_used.h - finds the cores that the threads of a process may use and how many threads need one, to explain time
 * without a core. The field `no_core` of docs/profile.md has it.
 */
#ifndef WTL_RECORD_CORES_USED_H
#define WTL_RECORD_CORES_USED_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>

#include "wait/no_core.h"

/* Figures of the other threads of the process and of its cgroups, at the start of the record. */
typedef struct wtl_cores_used {
  uint64_t others_ran, others_waited; /* ns with and without a core, of all other threads */
  double throttled_s;                 /* NaN: not known */
} wtl_cores_used;

/* Reads the figures at the start, in the thread that `n` of the next call measures. */
void wtl_record_cores_start(wtl_cores_used *c);

/* Writes the figures since the start as a JSON object, in the same thread. `wall_s`: the time since then. */
void wtl_record_cores_write(const wtl_cores_used *c, const wtl_no_core *n, double wall_s, FILE *f);

/* The same of a process that has ended (recall.h), as far as it had kept them. */
typedef struct wtl_past_no_core {
  enum wtl_no_core_source source;
  double until_s, in_waits_s; /* until_s: from the start of the record; NaN: the time without a core is not known */
  const cpu_set_t *cores;     /* that the process could use at its start */
} wtl_past_no_core;

void wtl_record_cores_write_past(const wtl_past_no_core *past, FILE *f);

#endif
