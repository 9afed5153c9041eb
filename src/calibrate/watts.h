/*
 * watts.h - what a node draws while its cores do one thing, for `wattle calibrate --profile`: idle, computing,
 * spinning, yielding, asleep (woken a thousand times a second), moving memory; each but idle and memory at each clock.
 */
#ifndef WTL_CALIBRATE_WATTS_H
#define WTL_CALIBRATE_WATTS_H

#include <stdio.h>

#include "power/knob.h"
#include "power/meter.h"

enum watts_state { WATTS_IDLE, WATTS_ACTIVE, WATTS_SPIN, WATTS_YIELD, WATTS_ASLEEP, WATTS_STREAM, WATTS_STATES };

/* How all cores are made to do something; tests have their own. */
typedef struct watts_load {
  void *arg;
  int cores;
  void (*start)(void *arg, enum watts_state state);
  void (*stop)(void *arg);
  double (*bytes)(void *arg);  /* moved so far, each read once and written once */
  double (*ghz)(void *arg);    /* at which a core runs just now; NaN where nobody says; NULL: nobody is asked */
  double (*others)(void *arg); /* cores' worth of time that others used, and a host took, so far; NULL, NaN: unknown */
} watts_load;

/* Measures everything, `seconds` each, in parts, and prints it as JSON; the idle node at the beginning and at the end.
 * The knob may be `none`, or one that gives hints, which is left alone. A clock that could not be set has no rows, and
 * `why` says it; what a sensor gave with a gap is measured again, up to twice. `contains`: "memory" or "node" where the
 * sensor that stands for the processors has it in its figures. `steps`: called before each. */
void watts_measure(FILE *out, wtl_meter *meter, wtl_knob *knob, const wtl_sys *sys, const watts_load *load,
                   double seconds, void (*steps)(int done, int all, const char *name));

/* The same with this machine's cores, meter and knob. Returns an exit code, having said what is missing. */
int watts_here(const wtl_settings *settings, double seconds, bool progress);

#endif
