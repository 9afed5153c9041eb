/*
 * joules.h - the joules of a block of a benchmark, as members of a JSON line (json_line.h).
 *
 * With -DUSE_WATTLE and -lwattle they come from Wattle's meter: the model counts the calling process, a sensor the
 * whole machine. Otherwise joules are unavailable, and the line gives the reason.
 */
#ifndef BENCH_JOULES_H
#define BENCH_JOULES_H

#include <stdlib.h>
#include <string.h>

#include "clocks.h"
#include "json_line.h"

#if defined(USE_WATTLE)
#include <wattle.h>
static const char no_joules[] = "the meter is none";
#else
/* A library without a meter. */
static const char no_joules[] = "built without wattle.h";
enum { WATTLE_UNAVAILABLE };
typedef void wattle_energy_t;
typedef struct wattle_joules {
  const char *domain, *source;
  int provenance, scope;
  double joules, uncertainty, interval_s, covered_s;
} wattle_joules_t;
#define wattle_energy_open(meter) NULL
#define wattle_energy_close(e) ((void)(e))
#define wattle_energy_meter(e) ((void)(e), "none")
#define wattle_energy_why(e) ((void)(e), "")
#define wattle_energy_add_bytes(e, bytes) ((void)(e), (void)(bytes))
#define wattle_region_begin(e, name) ((void)(e), (void)(name))
#define wattle_region_end(e, name) ((void)(e), (void)(name))
#define wattle_region_joules(e, name, out, max) ((void)(e), (void)(name), (void)(out), 0)
#define wattle_provenance_name(provenance) ((void)(provenance), "")
#define wattle_scope_name(scope) ((void)(scope), "")
#endif

enum { JOULES_DOMAINS = 32, JOULES_INTERVALS = 10 };
static const double joules_sensor_s = 1e-3; /* interval between updates of a sensor, see wattle.h */

/* The simulation's meter can be read without taking time. */
typedef enum meter_kind { NO_METER, SENSOR, MODEL, SIMULATED } meter_kind;

static inline meter_kind meter_kind_of(const wattle_energy_t *meter)
{
  const char *name = meter ? wattle_energy_meter(meter) : "none";
  if (!strcmp(name, "none")) return NO_METER;
  return !strcmp(name, "model") ? MODEL : !strcmp(name, "simgrid") ? SIMULATED : SENSOR;
}

/* Opens a meter. Where the settings are wrong, it prints the reason and calls `leave`. */
static inline wattle_energy_t *open_meter(const char *program, void (*leave)(int))
{
  wattle_energy_t *meter = wattle_energy_open(NULL);
#if defined(USE_WATTLE)
  if (!meter) {
    fprintf(stderr, "%s: %s\n", program, wattle_last_error());
    leave(2);
  }
#else
#endif
  return meter;
}

static inline void print_meter(const wattle_energy_t *meter)
{
  if (meter) {
    print_text("meter", wattle_energy_meter(meter));
    print_text("meter_why", wattle_energy_why(meter));
  } else {
    printf(",\"meter\":null,\"meter_why\":\"%s\"", no_joules);
  }
}

/* Prints the list of the joules of `n` domains, divided by `share`; null where there are none. */
static inline void print_figures(const wattle_joules_t *found, int n, double share)
{
  printf(n > 0 ? "[" : "null");
  for (const wattle_joules_t *f = found; f < found + n && f < found + JOULES_DOMAINS; f++) {
    bool known = f->provenance != WATTLE_UNAVAILABLE;
    printf("%s{\"scope\":\"%s\"", f > found ? "," : "", wattle_scope_name(f->scope));
    print_text("domain", f->domain);
    print_text("source", f->source);
    print_text("provenance", wattle_provenance_name(f->provenance));
    print_number("joules", known ? f->joules / share : (double)NAN);
    print_number("uncertainty", known ? f->uncertainty / share : (double)NAN);
    print_number("interval_s", f->interval_s);
    print_number("covered_s", f->covered_s);
    putchar('}');
  }
  if (n > 0) putchar(']');
}

/* Prints the joules, and the reason where there are none: `n` is the result of wattle_region_joules(). */
static inline void print_joules(const wattle_joules_t *found, int n, double share)
{
  printf(",\"energy\":");
  print_figures(found, n, share);
  if (n > 0)
    printf(",\"energy_why\":null");
  else
    print_text("energy_why", n < 0 ? "the meter failed" : no_joules);
}

/* Prints the joules that are used while this process sleeps for 0.2 s, as a line of its own. */
static inline void print_floor(wattle_energy_t *meter)
{
  wattle_joules_t drawn[JOULES_DOMAINS];
  if (meter_kind_of(meter) == NO_METER) return;
  wattle_region_begin(meter, "floor");
  sleep_for(0.2);
  wattle_region_end(meter, "floor");
  int n = wattle_region_joules(meter, "floor", drawn, JOULES_DOMAINS);
  printf("{\"kind\":\"floor\"");
  print_joules(drawn, n, 1);
  end_line();
}

/* A meter of this process. handle: opened again for each block; NULL without a meter. */
typedef struct joules {
  wattle_energy_t *handle;
  meter_kind kind;
} joules;

static inline joules joules_open(void)
{
  joules j = {.handle = open_meter("joules", exit)};
  j.kind = meter_kind_of(j.handle);
  return j;
}

/* The shortest block, in seconds, for which a sensor's joules are useful. */
static inline double joules_least_s(const joules *j)
{
  return j->kind == SENSOR ? JOULES_INTERVALS * joules_sensor_s : 0;
}

static inline void joules_begin(joules *j)
{
  if (j->kind == NO_METER) return;
  wattle_energy_close(j->handle);
  j->handle = wattle_energy_open(NULL);
  wattle_region_begin(j->handle, "block");
}

static inline void joules_end(joules *j)
{
  if (j->kind != NO_METER) wattle_region_end(j->handle, "block");
}

/* Prints the joules of the block by domain, divided by `messages`. */
static inline void joules_print(const joules *j, double messages)
{
  wattle_joules_t found[JOULES_DOMAINS];
  int n = j->kind != NO_METER ? wattle_region_joules(j->handle, "block", found, JOULES_DOMAINS) : 0;
  print_joules(found, n, messages);
}

#endif
