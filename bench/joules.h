/*
 * joules.h - the joules of a block of a benchmark, as members of a JSON line.
 *
 * With -DUSE_WATTLE and -lwattle they come from Wattle's meter: the model counts the calling process, a sensor the
 * whole machine. Otherwise joules are unavailable, and the line gives the reason. Units: seconds, joules. An unknown
 * value is null.
 */
#ifndef BENCH_JOULES_H
#define BENCH_JOULES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_line.h"

#if defined(USE_WATTLE)

enum { JOULES_INTERVALS = 10 };

/* A meter of this process. handle: opened again for each block; NULL without a meter. */
typedef struct joules {
  wattle_energy_t *handle;
  bool counts, sensor;
} joules;

/* Ends the process with the meter's message where the settings are wrong. */
static inline joules joules_open(void)
{
  joules j = {.handle = wattle_energy_open(NULL)};
  if (!j.handle) {
    fprintf(stderr, "joules: %s\n", wattle_last_error());
    exit(2);
  }
  j.counts = strcmp(wattle_energy_meter(j.handle), "none") != 0;
  j.sensor = j.counts && strcmp(wattle_energy_meter(j.handle), "model") != 0 &&
             strcmp(wattle_energy_meter(j.handle), "simgrid") != 0;
  return j;
}

static inline void joules_close(joules *j)
{
  wattle_energy_close(j->handle);
}

/* The shortest block, in seconds, for which a sensor's joules are useful. */
static inline double joules_least_s(const joules *j)
{
  return j->sensor ? JOULES_INTERVALS * joules_sensor_s : 0;
}

static inline void joules_begin(joules *j)
{
  if (!j->counts) return;
  wattle_energy_close(j->handle);
  j->handle = wattle_energy_open(NULL);
  wattle_region_begin(j->handle, "block");
}

static inline void joules_end(joules *j)
{
  if (j->counts) wattle_region_end(j->handle, "block");
}

/* Prints the joules of the block by domain, divided by `messages`. */
static inline void joules_print(const joules *j, double messages)
{
  wattle_joules_t found[JOULES_DOMAINS];
  int n = j->counts ? wattle_region_joules(j->handle, "block", found, JOULES_DOMAINS) : 0;
  print_joules(found, n, messages);
}

static inline void joules_print_floor(joules *j)
{
  if (j->counts) print_floor(j->handle);
}

static inline void joules_print_meter(const joules *j)
{
  print_meter(j->handle);
}

#else

typedef struct joules {
  int none;
} joules;

static inline joules joules_open(void)
{
  return (joules){0};
}
static inline void joules_close(joules *j)
{
  (void)j;
}
static inline double joules_least_s(const joules *j)
{
  return (void)j, 0;
}
static inline void joules_begin(joules *j)
{
  (void)j;
}
static inline void joules_end(joules *j)
{
  (void)j;
}
static inline void joules_print(const joules *j, double messages)
{
  (void)j, (void)messages;
  printf("\"energy\":null,\"energy_why\":\"built without wattle.h\"");
}
static inline void joules_print_floor(joules *j)
{
  (void)j;
}
static inline void joules_print_meter(const joules *j)
{
  (void)j;
  printf("\"meter\":null,\"meter_why\":\"built without wattle.h\"");
}
#endif

#endif
