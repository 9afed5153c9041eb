/*
 * watts.h - measures the power of a node while its cores are in one state, for `wattle calibrate --profile`.
 *
 * The states are idle, computing, spinning, yielding, asleep (woken 1,000 times a second) and moving memory. All states
 * except idle and moving memory are measured at each clock.
 */
#ifndef WTL_CALIBRATE_WATTS_H
#define WTL_CALIBRATE_WATTS_H

#include <stdio.h>

#include "power/knob/knob.h"
#include "power/meter.h"

enum watts_state { WATTS_IDLE, WATTS_ACTIVE, WATTS_SPIN, WATTS_YIELD, WATTS_ASLEEP, WATTS_STREAM, WATTS_STATES };

/* The functions that bring all cores into a state. Tests have their own. */
typedef struct watts_load {
  void *arg;
  int cores;
  void (*start)(void *arg, enum watts_state state);
  void (*stop)(void *arg);
  double (*bytes)(void *arg);  /* bytes copied so far, each read once and written once */
  double (*ghz)(void *arg);    /* present clock of a core; NaN: unknown; NULL: not asked */
  double (*others)(void *arg); /* CPU seconds that other processes and a host used so far; NULL or NaN: unknown */
} watts_load;

/*
 * Measures all states, `seconds` each, in parts, and prints them as JSON to `out`. The idle node is measured at the
 * beginning and at the end. The knob may be `none`, or one that gives hints, which is not used. A clock that could not
 * be set has no rows, and the field `why` has the reason. A measurement with a gap is repeated up to twice. The field
 * `contains` is "memory" or "node" if the sensor of the processors includes it. `steps` is called before each
 * measurement.
 */
void watts_measure(FILE *out, wtl_meter *meter, wtl_knob *knob, const wtl_sys *sys, const watts_load *load,
                   double seconds, void (*steps)(int done, int all, const char *name));

/* Measures with this machine's cores, meter and knob. Returns an exit code, after a message on failure. */
int watts_here(const wtl_settings *settings, double seconds, bool progress);

#endif
