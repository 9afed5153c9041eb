/*
 * patterns_meter.h - joules of an iteration of patterns.c, which PE 0 determines.
 *
 * A sensor counts the whole node and is slow. It measures a block of iterations including clearing, and then a block
 * of clearing alone. The power of the second, for the time that the first spent outside its timed parts, is
 * subtracted. Clearing takes longer after a transfer, so subtracting its joules alone would be too little. The model
 * counts this PE, as does a simulated core's meter, so they measure only the timed parts. The cost of reading them
 * is measured by empty regions and subtracted, too.
 */
#ifndef BENCH_PATTERNS_METER_H
#define BENCH_PATTERNS_METER_H

#include <shmem.h>

#include "joules.h"

static const double least_covered = 0.5; /* share of the iterations; with less, joules are not known */

/* A region, with the number of its figures by domain. An iteration without a figure (disturbed) is left out. */
typedef struct {
  const char *name;
  int n, known[JOULES_DOMAINS];
  double covered_s[JOULES_DOMAINS];
} span;

typedef struct {
  wattle_energy_t *handle; /* opened again for each block; NULL on PEs other than PE 0, and where it cannot be opened */
  meter_kind kind;
  bool modelled;     /* its joules are taken for each iteration, and not for a block of them */
  span work, rest;   /* the wanted joules, and those to subtract: clearing, or the reading itself */
  double rest_share; /* the share of `rest` that `work` includes */
} meter;

static void span_begin(const meter *e, const span *s)
{
  wattle_region_begin(e->handle, s->name);
}

static void span_end(const meter *e, span *s)
{
  wattle_joules_t now[JOULES_DOMAINS];
  wattle_region_end(e->handle, s->name);
  int n = wattle_region_joules(e->handle, s->name, now, JOULES_DOMAINS);
  for (int d = 0; d < n && d < JOULES_DOMAINS; d++) {
    s->known[d] += now[d].covered_s > s->covered_s[d];
    s->covered_s[d] = now[d].covered_s;
  }
  s->n++;
}

static void meter_block_begin(meter *e)
{
  if (e->kind == NO_METER) return;
  wattle_energy_close(e->handle);
  e->handle = wattle_energy_open(NULL);
  e->work = (span){.name = "work"};
  e->rest = (span){.name = "rest"};
  e->rest_share = 1;
  if (e->kind == SENSOR) span_begin(e, &e->work);
}

static void meter_block_end(meter *e)
{
  if (e->kind == SENSOR) span_end(e, &e->work);
}

static void meter_clears_begin(meter *e)
{
  if (e->kind == SENSOR) span_begin(e, &e->rest);
}

static void meter_clears_end(meter *e, double share)
{
  if (e->kind == SENSOR) span_end(e, &e->rest);
  e->rest_share = share;
}

static void meter_iteration_begin(meter *e)
{
  if (!e->modelled) return;
  span_begin(e, &e->rest);
  span_end(e, &e->rest);
  span_begin(e, &e->work);
}

/* The runtime counts the bytes of its puts, but not those of the user's own copies (`copied`). */
static void meter_iteration_end(meter *e, double copied)
{
  if (!e->modelled) return;
  wattle_energy_add_bytes(e->handle, copied);
  span_end(e, &e->work);
}

/* A meter. Only the PE that prints energy counts. */
static meter meter_open(bool tells)
{
  meter e = {.handle = tells ? open_meter("patterns", shmem_global_exit) : NULL};
  e.kind = meter_kind_of(e.handle);
  e.modelled = e.kind == MODEL || e.kind == SIMULATED;
  return e;
}

static double meter_interval_s(const meter *e)
{
  return e->kind == SENSOR ? joules_sensor_s : 0;
}

/* Joules of a domain for one interval with a figure. A sensor's interval is a block of `iterations`. */
static void for_one(const meter *e, const span *s, int d, int iterations, wattle_joules_t *j)
{
  double per = e->kind == SENSOR ? iterations : s->known[d];
  if (s->known[d] < least_covered * s->n || per == 0) j->provenance = WATTLE_UNAVAILABLE;
  if (s == &e->rest) per /= e->rest_share;
  j->joules /= per;
  j->uncertainty /= per;
}

/* Subtracts the rest; the two errors are independent. */
static void take_off(wattle_joules_t *work, const wattle_joules_t *rest)
{
  if (rest->provenance == WATTLE_UNAVAILABLE) work->provenance = WATTLE_UNAVAILABLE;
  work->joules -= rest->joules;
  work->uncertainty = hypot(work->uncertainty, rest->uncertainty);
}

/* Prints the joules of each domain for one iteration. */
static void meter_print(const meter *e, int iterations)
{
  wattle_joules_t work[JOULES_DOMAINS], rest[JOULES_DOMAINS];
  int n = e->kind != NO_METER ? wattle_region_joules(e->handle, e->work.name, work, JOULES_DOMAINS) : 0;
  if (n > 0 && wattle_region_joules(e->handle, e->rest.name, rest, JOULES_DOMAINS) != n) n = -1;
  for (int d = 0; d < n && d < JOULES_DOMAINS; d++) {
    for_one(e, &e->work, d, iterations, &work[d]);
    if (e->kind == SIMULATED) continue;
    for_one(e, &e->rest, d, iterations, &rest[d]);
    take_off(&work[d], &rest[d]);
  }
  print_joules(work, n, 1);
}

#endif
