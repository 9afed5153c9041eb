/*
 * power.h - joules for the rooms above: meters, the model, and the split of a node's joules among its PEs.
 *
 * Invariants. Domains have a fixed order within a meter. Figures are wattle_joules_t (include/wattle.h): always with
 * provenance. A figure that could not be had is unavailable and its joules and uncertainty are NaN, never 0. One reader
 * a node: of the PEs of a node only one opens a meter; what the others know of the node's joules they have from it.
 */
#ifndef WTL_POWER_H
#define WTL_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "wattle.h"

enum { WTL_MAX_DOMAINS = 32 };

/*
 * What a PE (or a plain process) did in an interval: seconds in each state, bytes it moved. The model turns this into
 * joules. For a PE of one thread the states add up to wall_s. They are core-seconds: a process of many threads may have
 * more.
 */
typedef struct wtl_activity {
  double wall_s;                              /* the interval */
  double active_s, spin_s, yield_s, asleep_s; /* time in state */
  double bytes; /* payload bytes moved through memory by this PE (each is read once, written once) */
  struct {      /* of that time, what a knob had at another clock than the base clock: part of the above */
    double active_s, spin_s, yield_s, asleep_s;
    double active_clock,
        wait_clock; /* s, each second times its clock as a share of the base clock: sums can be added */
  } off;
} wtl_activity;

/* A machine profile of machines/, parsed. Owned by the caller of wtl_machine_load until wtl_machine_free. */
typedef struct wtl_machine wtl_machine;

/*
 * `name`: "auto" (NULL and "" too), a name from machines/, or a file (it has a slash or ends in .yaml). On failure
 * returns NULL and says why in `error`: file, line and key where the profile is at fault.
 */
wtl_machine *wtl_machine_load(const char *name, char *error, size_t size);
void wtl_machine_free(wtl_machine *m);
const char *wtl_machine_name(const wtl_machine *m);

/*
 * The model. _pe: joules of one PE by domain ("cpu", "dram"; in that order) beyond the node's idle draw, at the base
 * clock. For the time that the activity says was `off` it, watts between those of the profile's clocks; beyond them the
 * nearest one's, with an uncertainty that grows by what the cube of the clock would change. _idle: the node's idle draw
 * over wall_s, same domains. Both return 2. Times or bytes that are negative or not finite give unavailable figures.
 */
size_t wtl_model_pe(const wtl_machine *m, const wtl_activity *a, wattle_joules_t out[2]);
size_t wtl_model_idle(const wtl_machine *m, double wall_s, wattle_joules_t out[2]);

/*
 * The same, all of it at clock number `clock` of the profile (see wtl_machine_clock_ghz); an index the profile lacks:
 * unavailable.
 */
size_t wtl_model_pe_at(const wtl_machine *m, size_t clock, const wtl_activity *a, wattle_joules_t out[2]);
size_t wtl_machine_clocks(const wtl_machine *m);                  /* how many clocks the profile knows, at least 1 */
double wtl_machine_clock_ghz(const wtl_machine *m, size_t clock); /* GHz; NaN for an index it lacks */
size_t wtl_machine_base_clock(const wtl_machine *m);              /* index of the base clock */

/* A meter of the node. One reader a node opens it. */
typedef struct wtl_meter wtl_meter;

/*
 * Opens the meter the settings ask for. Never fails for lack of a sensor: `auto` then takes the model, `powercap` takes
 * none (who asks for measured joules is not handed modelled ones), and wtl_meter_why says why. Fails for a wrong
 * machine profile.
 */
wtl_meter *wtl_meter_open(const wtl_settings *settings, char *error, size_t size);
void wtl_meter_close(wtl_meter *m);
const char *wtl_meter_name(const wtl_meter *m); /* "powercap", "model", "none" */
const char *
wtl_meter_why(const wtl_meter *m); /* why a better one was not taken, how to grant it; "" if there is none */
const wtl_machine *
wtl_meter_machine(const wtl_meter *m); /* profile used for the split (and by the model); NULL for none */

/* Starts an interval. A sensor that wraps is read in the background by the meter itself, often enough. */
void wtl_meter_start(wtl_meter *m);

/*
 * Ends the interval and splits it. pe[n]: what each PE of this node did. Results, each n_domains long (<=
 * WTL_MAX_DOMAINS):
 *   node[d]               the node's joules by domain; no domain contains another
 *   idle[d]               the share nobody caused
 *   part[i*n_domains+d]   PE i's share
 * and for each domain sum over i of part + idle = node (to rounding). Split by modelled joules; where the meter
 * measures, the node keeps MEASURED and parts and idle are MODELLED, with a source that names both. A sensor without
 * DRAM gets a "dram" from the model. Returns n_domains. `part` needs room for n*WTL_MAX_DOMAINS. The interval runs on:
 * finish may be called again.
 */
size_t wtl_meter_finish(wtl_meter *m, const wtl_activity *pe, size_t n, wattle_joules_t *node, wattle_joules_t *idle,
                        wattle_joules_t *part);

/*
 * How plain wattle.h learns what this process did when a runtime is loaded: the runtime registers a function that adds
 * up time in state and bytes since some fixed moment. NULL takes it back. Without one, active is CPU time and the rest
 * is asleep. State of the process: one function at a time. It is called under a lock: it must not call this header, and
 * once the register call that replaces it has returned it is not called any more.
 */
typedef void (*wtl_activity_fn)(void *arg, wtl_activity *since_start);
void wtl_activity_register(wtl_activity_fn fn, void *arg);

/*
 * How a runtime hears of the regions that the program marks with wattle.h: a function that is told each begin and end.
 * NULL takes it back. As above: state of the process, called under a lock.
 */
typedef void (*wtl_region_fn)(void *arg, const char *name, bool begins);
void wtl_region_register(wtl_region_fn fn, void *arg);
void wtl_region_tell(const char *name, bool begins);

#endif
