/*
 * joules.h - what a block of a benchmark cost in joules, as members of a JSON line.
 *
 * With -DUSE_WATTLE and -lwattle by Wattle's meter: the model counts the process that asks, a sensor sees the whole
 * machine. Without, joules are unavailable, and the line says why. Units: seconds, joules. What is not known is null.
 */
#ifndef BENCH_JOULES_H
#define BENCH_JOULES_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void print_number(const char *name, double v)
{
  if (isfinite(v))
    printf("\"%s\":%.9g", name, v);
  else
    printf("\"%s\":null", name);
}

#if defined(USE_WATTLE)
#include <time.h>
#include <wattle.h>

enum { JOULES_DOMAINS = 32, JOULES_INTERVALS = 10 };
static const double joules_sensor_s = 1e-3; /* how often sensors move on, see wattle.h */

/* A meter of this process. handle: opened anew for each block; NULL where nothing is counted. */
typedef struct joules {
  wattle_energy_t *handle;
  bool counts, sensor;
} joules;

/* Ends the process with the meter's words where the settings are wrong. */
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

/* The least that a block must last, so that its joules mean something. */
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

static inline void joules_print_figure(const wattle_joules_t *f, double share)
{
  bool known = f->provenance != WATTLE_UNAVAILABLE;
  printf("{\"domain\":\"%s\",\"source\":\"%s\",\"provenance\":\"%s\",\"scope\":\"%s\",", f->domain, f->source,
         wattle_provenance_name(f->provenance), wattle_scope_name(f->scope));
  print_number("joules", known ? f->joules / share : (double)NAN);
  printf(",");
  print_number("uncertainty", known ? f->uncertainty / share : (double)NAN);
  printf(",");
  print_number("interval_s", f->interval_s);
  printf(",");
  print_number("covered_s", f->covered_s);
  printf("}");
}

static inline void joules_print_region(const joules *j, const char *region, double share)
{
  wattle_joules_t found[JOULES_DOMAINS];
  int n = j->counts ? wattle_region_joules(j->handle, region, found, JOULES_DOMAINS) : 0;
  if (n <= 0) {
    printf("\"energy\":null,\"energy_why\":\"%s\"", n < 0 ? "the meter failed" : "the meter is none");
    return;
  }
  printf("\"energy_why\":null,\"energy\":[");
  for (int d = 0; d < n && d < JOULES_DOMAINS; d++) {
    printf("%s", d ? "," : "");
    joules_print_figure(&found[d], share);
  }
  printf("]");
}

/* Joules of the block by domain, divided by `messages`. */
static inline void joules_print(const joules *j, double messages)
{
  joules_print_region(j, "block", messages);
}

/* What is drawn while this process sleeps for 0.2 s, as a line of its own. */
static inline void joules_print_floor(joules *j)
{
  const struct timespec a_while = {.tv_nsec = 200 * 1000 * 1000};
  if (!j->counts) return;
  wattle_region_begin(j->handle, "floor");
  nanosleep(&a_while, NULL);
  wattle_region_end(j->handle, "floor");
  printf("{\"kind\":\"floor\",");
  joules_print_region(j, "floor", 1);
  printf("}\n");
}

static inline void joules_print_text(const char *name, const char *text)
{
  printf("\"%s\":\"", name);
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      printf("\\%c", *text);
    else
      putchar((unsigned char)*text < ' ' ? ' ' : *text);
  putchar('"');
}

static inline void joules_print_meter(const joules *j)
{
  joules_print_text("meter", wattle_energy_meter(j->handle));
  printf(",");
  joules_print_text("meter_why", wattle_energy_why(j->handle));
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
