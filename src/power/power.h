/*
 * power.h - joules for the rooms above: meters, the model, and the split of a node's joules among its PEs.
 *
 * DESIGN. The domains of a meter have a fixed order. Figures are wattle_joules_t (include/wattle.h) and always have a
 * provenance. A figure that is unavailable has joules and uncertainty NaN, never 0. One PE of a node opens a meter, and
 * the others receive the node's joules from it.
 */
#ifndef WTL_POWER_H
#define WTL_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "wattle.h"

/* 20 packages with their memory, some supplies and accelerators. */
enum { WTL_MAX_DOMAINS = 64 };

/*
 * The activity of a PE, or of any process, in an interval: seconds in each state and bytes moved. The model turns this
 * into joules. For a PE with one thread the states add up to wall_s. They are core-seconds, so a process with many
 * threads may have more.
 */
typedef struct wtl_activity {
  double wall_s;                              /* length of the interval */
  double active_s, spin_s, yield_s, asleep_s; /* time in each state */
  double bytes; /* payload bytes that this PE moved through memory, each read once and written once */
  struct {      /* the part of this time for which a knob had set another clock than the base clock */
    double active_s, spin_s, yield_s, asleep_s;
    double active_clock, wait_clock; /* s, the sum of seconds times clock as a share of the base clock */
  } off;
  /*
   * Of wtl_model_cores. wake_s: seconds that sockets are awake, as far as this process keeps them awake. second_s: the
   * part of the busy seconds on a core whose other thread is busy, too.
   */
  double wake_s, second_s;
  double most_j;    /* of wtl_model_cores: the most joules that the power limits leave to this process; 0: no limit */
  double no_core_s; /* ready to run and without a core, outside waits; of wall-clock time only, no power is drawn */
  double wake_ups;  /* voluntary context switches, which bound the wake-ups; 0: not known */
  int64_t pid;      /* of the process, by which accelerators know their users; 0: unknown */
} wtl_activity;

/* A parsed machine profile of machines/. The caller of wtl_machine_load owns it until wtl_machine_free. */
typedef struct wtl_machine wtl_machine;

/*
 * Loads a profile. `name`: "auto" (also NULL and ""), a name from machines/, or a file (it contains a slash or ends in
 * .yaml). `sysfs`: where /sys is mounted, as the setting of that name. Returns NULL on failure, with the reason in
 * `error`: file, line and key if the profile is wrong.
 */
wtl_machine *wtl_machine_load(const char *name, const char *sysfs, char *error, size_t size);
/*
 * Returns whether a job may run without a profile: the settings ask for none, and profiles in files cannot be read. The
 * meter is then `none`, with the reason.
 */
bool wtl_machine_may_be_missing(const wtl_settings *settings);
void wtl_machine_free(wtl_machine *m);
const char *wtl_machine_name(const wtl_machine *m);

/*
 * The model. wtl_model_pe: the joules of one PE beyond the node's idle power, by domain ("cpu", "dram"), at the base
 * clock. For the time in `off` it uses watts between those of the profile's clocks. Outside their range it uses the
 * nearest clock, with an uncertainty that covers the cube of the clock. wtl_model_idle: the idle power of the node over
 * wall_s, with the same domains. Both return 2. Times or bytes that are negative or not finite give unavailable
 * figures.
 */
size_t wtl_model_pe(const wtl_machine *m, const wtl_activity *a, wattle_joules_t out[2]);
size_t wtl_model_idle(const wtl_machine *m, double wall_s, wattle_joules_t out[2]);

/*
 * Finds how many cores of a node were busy on average, and fills wake_s and second_s of the n activities that are on
 * it, in proportion to their busy seconds. wall_s: the length of the interval. others_s: CPU seconds of all other
 * programs of the node. Times that are not finite or negative count as 0. Sets both to 0 if the profile needs neither.
 * Fills most_j, too, if the machine has power limits.
 *
 * Busy times are taken to overlap as little as they can, and a second thread of a core to run only if the first threads
 * of all cores do. So the sockets may be awake for less time, and more threads may share a core.
 */
void wtl_model_cores(const wtl_machine *m, double wall_s, double others_s, wtl_activity *a, size_t n);

/*
 * wtl_model_pe with all time at clock number `clock` of the profile; figures are unavailable if there is no such clock.
 */
size_t wtl_model_pe_at(const wtl_machine *m, size_t clock, const wtl_activity *a, wattle_joules_t out[2]);
size_t wtl_machine_clocks(const wtl_machine *m);                  /* number of clocks, at least 1 */
double wtl_machine_clock_ghz(const wtl_machine *m, size_t clock); /* GHz; NaN if there is no such clock */
size_t wtl_machine_base_clock(const wtl_machine *m);              /* index of the base clock */
/* W of a core that computes at a clock, with its share of the idle node; between the profile's clocks on a straight
 * line. NaN if the profile does not know the number of cores. */
double wtl_machine_core_watts(const wtl_machine *m, double ghz);
/* W that a core adds to the idle node at a clock, by its state: 0 computes, 1 spins, 2 yields, 3 is asleep. */
double wtl_machine_state_watts(const wtl_machine *m, int state, double ghz);
/* W of all packages of the node while a core is busy, without those of the cores. */
double wtl_machine_always_watts(const wtl_machine *m);

/* Mean watts of a domain in an interval of the monotonic clock. */
typedef struct wtl_watts {
  uint64_t begin_ns, end_ns;
  double watts;
} wtl_watts;

/* A meter of the node. One process of the node opens it. */
typedef struct wtl_meter wtl_meter;

/*
 * Opens the meter that the settings ask for. `auto` takes the best sensor of the processors, else the model, and beside
 * it the sensors of all accelerators and of the node. A missing sensor is no error: `auto` then takes the model, and
 * `powercap` takes `none`, because a user who asks for measured joules gets no modelled ones. wtl_meter_why has the
 * reason. Returns NULL with the reason in `error` for a wrong machine profile.
 */
wtl_meter *wtl_meter_open(const wtl_settings *settings, char *error, size_t size);
void wtl_meter_close(wtl_meter *m);
const char *wtl_meter_name(const wtl_meter *m); /* "powercap", "model", "none", "powercap+nvml", ... */
/*
 * Returns why no better meter is used and how to grant access, and how many readings were left out as impossible. It
 * also names domains that stand still or have not advanced yet, and accelerators whose driver names no processes. ""
 * if there is nothing to say. The meter owns the text, which is valid until the next call.
 */
const char *wtl_meter_why(wtl_meter *m);
const wtl_machine *wtl_meter_machine(const wtl_meter *m); /* the profile of the split and the model; NULL: none */

/*
 * Keeps the watts of a sensor's domains over time, read each every_s seconds (at least 1 ms) until wtl_meter_finish.
 * Does nothing for a meter without a sensor of the node.
 */
void wtl_meter_trace(wtl_meter *m, double every_s);

/*
 * The kept watts of domain number `d` (below WTL_MAX_DOMAINS), after wtl_meter_finish. Returns the number of points.
 * Name and points belong to the meter.
 */
size_t wtl_meter_watts(const wtl_meter *m, size_t d, const char **name, const wtl_watts **point);

/* Starts an interval. A meter reads a sensor that wraps in the background, often enough. */
void wtl_meter_start(wtl_meter *m);

/* Starts the next interval at the moment of the last wtl_meter_finish, so that no joule lies between the two. */
void wtl_meter_start_next(wtl_meter *m);

/*
 * Ends the interval and splits it. pe[n]: the activity of each PE of this node. Results, each of n_domains (at most
 * WTL_MAX_DOMAINS) figures:
 *
 *   node[d]               the node's joules by domain; no domain contains another
 *   idle[d]               the share that no PE caused
 *   part[i*n_domains+d]   the share of PE i
 *
 * For each domain the parts and idle add up to node, except for rounding. The split is in proportion to modelled
 * joules. Those of an accelerator go to the PEs whose processes use it, and otherwise to idle. If its driver has no
 * list of processes, parts and idle are unavailable, and node keeps the joules. If the meter measures,
 * node stays MEASURED; parts and idle are MODELLED, with a source that names both. If no sensor covers DRAM, the model
 * adds a "dram". `part` needs space for n*WTL_MAX_DOMAINS figures. The interval goes on, so the function may be called
 * again. Returns n_domains.
 */
size_t wtl_meter_finish(wtl_meter *m, const wtl_activity *pe, size_t n, wattle_joules_t *node, wattle_joules_t *idle,
                        wattle_joules_t *part);

/*
 * Figures that the last wtl_meter_finish left out because other domains contain them, or are contained in them, such as
 * the node at its supply beside its packages. Writes at most WTL_MAX_DOMAINS and returns their number.
 */
size_t wtl_meter_nested(const wtl_meter *m, wattle_joules_t *out);

/* Is the main meter, the one of the processors, a sensor? */
bool wtl_meter_measures(const wtl_meter *m);

/*
 * Registers the function by which wattle.h learns the activity of this process from a runtime: it adds up time in each
 * state and bytes since a fixed moment. NULL removes it. Without a function, active is the CPU time and the rest is
 * asleep. The process has one such function. It is called under a lock, so it must not call this header. It is not
 * called any more after the register call that replaces it has returned.
 */
typedef void (*wtl_activity_fn)(void *arg, wtl_activity *since_start);
void wtl_activity_register(wtl_activity_fn fn, void *arg);

/*
 * Registers the function that a runtime provides to learn of regions marked with wattle.h. It is called at each begin
 * and end. NULL removes it. The process has one such function, called under a lock as above.
 */
typedef void (*wtl_region_fn)(void *arg, const char *name, bool begins);
void wtl_region_register(wtl_region_fn fn, void *arg);
void wtl_region_report(const char *name, bool begins);

#endif
