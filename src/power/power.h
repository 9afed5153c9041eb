/*
 * power.h - joules for the rooms above: meters, the model, and the split of a node's joules among its PEs.
 *
 * Domains are few and fixed order within a meter. Figures are wattle_joules_t (include/wattle.h): always with provenance.
 */
#ifndef WTL_POWER_H
#define WTL_POWER_H

#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "wattle.h"

enum { WTL_MAX_DOMAINS = 32 };

/* What a PE (or a plain process) did in an interval: seconds in each state, bytes it moved. The model turns this into joules. */
typedef struct wtl_activity {
  double wall_s;                              /* the interval */
  double active_s, spin_s, yield_s, asleep_s; /* time in state; their sum is wall_s */
  double bytes;                               /* payload bytes moved through memory by this PE (each is read once, written once) */
} wtl_activity;

/* A machine profile of machines/, parsed. Owned by the caller of wtl_machine_load until wtl_machine_free. */
typedef struct wtl_machine wtl_machine;

/* `name`: "auto", a name from machines/, or a file. On failure returns NULL and says why in `error`. */
wtl_machine *wtl_machine_load(const char *name, char *error, size_t size);
void wtl_machine_free(wtl_machine *m);
const char *wtl_machine_name(const wtl_machine *m);

/*
 * Model: joules of one PE by domain ("cpu", "dram"; in that order) beyond the node's idle draw. Returns 2.
 * Model: the node's idle draw over wall_s, same domains. Returns 2.
 */
size_t wtl_model_pe(const wtl_machine *m, const wtl_activity *a, wattle_joules_t out[2]);
size_t wtl_model_idle(const wtl_machine *m, double wall_s, wattle_joules_t out[2]);

/* A meter of the node. One reader a node opens it. */
typedef struct wtl_meter wtl_meter;

/* Opens the meter the settings ask for. Never fails for lack of a sensor: then the meter is the model's or none's, and wtl_meter_why says why. */
wtl_meter *wtl_meter_open(const wtl_settings *settings, char *error, size_t size);
void wtl_meter_close(wtl_meter *m);
const char *wtl_meter_name(const wtl_meter *m); /* "powercap", "model", "none" */
const char *wtl_meter_why(const wtl_meter *m);  /* why a better one was not taken; "" if there is none */
const wtl_machine *wtl_meter_machine(const wtl_meter *m); /* profile used for the split (and by the model); NULL for none */

/* Starts an interval. A sensor that wraps is read in the background by the meter itself, often enough. */
void wtl_meter_start(wtl_meter *m);

/*
 * Ends the interval and splits it. pe[n]: what each PE of this node did. Results, each n_domains long (<= WTL_MAX_DOMAINS):
 *   node[d]               the node's joules by domain
 *   idle[d]               the share nobody caused
 *   part[i*n_domains+d]   PE i's share
 * and for each domain sum over i of part + idle = node (to rounding). Split by modelled joules; where the meter measures, parts and idle
 * keep provenance MEASURED for the node and MODELLED for the split. Returns n_domains. `part` needs room for n*WTL_MAX_DOMAINS.
 */
size_t wtl_meter_finish(wtl_meter *m, const wtl_activity *pe, size_t n, wattle_joules_t *node, wattle_joules_t *idle,
                        wattle_joules_t *part);

/*
 * How plain wattle.h learns what this process did when a runtime is loaded: the runtime registers a function that adds up time in state and
 * bytes since some fixed moment. NULL takes it back. Without one, active is CPU time and the rest is asleep.
 */
typedef void (*wtl_activity_fn)(void *arg, wtl_activity *since_start);
void wtl_activity_register(wtl_activity_fn fn, void *arg);

#endif
