/* region.c - named regions, and the sums over the intervals of each region. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energy.h"
#include "os/floats.h"

static region *find(const wattle_energy_t *e, const char *name)
{
  for (size_t i = 0; i < e->n_regions; i++)
    if (strcmp(e->regions[i]->info.name, name) == 0) return e->regions[i];
  return NULL;
}

static region *add(wattle_energy_t *e, const char *name)
{
  if (e->n_regions == e->capacity) {
    size_t capacity = e->capacity ? 2 * e->capacity : 16;
    region **grown = realloc(e->regions, capacity * sizeof *grown);
    if (!grown) return NULL;
    e->regions = grown;
    e->capacity = capacity;
  }
  region *r = calloc(1, sizeof *r + e->n_domains * sizeof r->sum[0]);
  if (!r) return NULL;
  strncpy(r->info.name, name, sizeof r->info.name - 1);
  return e->regions[e->n_regions++] = r;
}

void wtl_regions_free(wattle_energy_t *e)
{
  for (size_t i = 0; i < e->n_regions; i++) free(e->regions[i]);
  free(e->regions);
}

static int check_name(const char *call, const wattle_energy_t *e, const char *name)
{
  if (!e || !name) return wtl_energy_fail(WATTLE_E_ARGUMENT, "%s: NULL handle or name", call);
  size_t n = strlen(name);
  if (n > 0 && n < sizeof((region *)0)->info.name) return WATTLE_OK;
  return wtl_energy_fail(WATTLE_E_ARGUMENT, "%s: name \"%.80s\" has %zu characters, must have 1 to %zu", call, name, n,
                         sizeof((region *)0)->info.name - 1);
}

int wattle_region_begin(wattle_energy_t *e, const char *name)
{
  WTL_FLOATS_APART;
  int bad = check_name("wattle_region_begin", e, name);
  if (bad) return bad;
  region *r = find(e, name);
  if (!r) r = add(e, name);
  if (!r) return wtl_energy_fail(WATTLE_E_MEMORY, "wattle_region_begin: \"%s\": out of memory", name);
  if (r->info.open++ > 0) return WATTLE_OK; /* nested in itself: the outermost begin counts */
  r->begun_at_bytes = e->bytes;
  wtl_meter_mark(e->meter, &r->begun);
  wtl_region_report(name, true);
  return WATTLE_OK;
}

/* Adds one interval to a sum. Systematic uncertainty adds linearly, random uncertainty adds by squares. */
static void add_interval(region_sum *sum, const wattle_joules_t *f, double random)
{
  sum->interval_s += f->interval_s;
  if (f->provenance != WATTLE_UNAVAILABLE || !sum->known)
    sum->label = *f; /* a figure that is unavailable does not replace the label */
  if (f->provenance == WATTLE_UNAVAILABLE) return;
  sum->known++;
  sum->joules += f->joules;
  sum->covered_s += f->covered_s;
  sum->linear += f->uncertainty - random;
  sum->square += random * random;
}

int wattle_region_end(wattle_energy_t *e, const char *name)
{
  WTL_FLOATS_APART;
  int bad = check_name("wattle_region_end", e, name);
  if (bad) return bad;
  region *r = find(e, name);
  if (!r || r->info.open == 0)
    return wtl_energy_fail(WATTLE_E_REGION, "wattle_region_end: region \"%s\" is not open", name);
  if (--r->info.open > 0) return WATTLE_OK;
  wtl_region_report(name, false);
  wtl_mark now;
  wattle_joules_t figure[WTL_MAX_DOMAINS];
  double random[WTL_MAX_DOMAINS];
  wtl_meter_mark(e->meter, &now);
  size_t n = wtl_meter_between(e->meter, &r->begun, &now, e->bytes - r->begun_at_bytes, figure, random);
  for (size_t d = 0; d < n; d++) add_interval(&r->sum[d], &figure[d], random[d]);
  r->info.calls++;
  r->info.seconds += now.at - r->begun.at;
  return WATTLE_OK;
}

size_t wattle_region_count(const wattle_energy_t *e)
{
  return e ? e->n_regions : 0;
}

int wattle_region_get(const wattle_energy_t *e, size_t i, wattle_region_t *out)
{
  if (!e || !out) return wtl_energy_fail(WATTLE_E_ARGUMENT, "wattle_region_get: NULL handle or result");
  if (i >= e->n_regions)
    return wtl_energy_fail(WATTLE_E_ARGUMENT, "wattle_region_get: region number %zu, there are %zu", i, e->n_regions);
  *out = e->regions[i]->info;
  return WATTLE_OK;
}

/*
 * Computes the figure of all intervals. It is unavailable only if no interval had a figure. Otherwise the intervals
 * without one count as time not covered.
 */
static void total(const region_sum *sum, wattle_joules_t *out)
{
  *out = sum->label;
  out->interval_s = sum->interval_s;
  out->covered_s = sum->covered_s;
  out->joules = sum->known ? sum->joules : NAN;
  out->uncertainty = sum->known ? sum->linear + sqrt(sum->square) : NAN;
  if (!sum->known) out->provenance = WATTLE_UNAVAILABLE;
}

int wattle_region_joules(const wattle_energy_t *e, const char *name, wattle_joules_t *out, size_t max)
{
  WTL_FLOATS_APART;
  int bad = check_name("wattle_region_joules", e, name);
  if (bad) return bad;
  if (!out && max > 0) return wtl_energy_fail(WATTLE_E_ARGUMENT, "wattle_region_joules: NULL array");
  const region *r = find(e, name);
  if (!r) return wtl_energy_fail(WATTLE_E_REGION, "wattle_region_joules: no region \"%s\"", name);
  if (r->info.calls == 0)
    return wtl_energy_fail(WATTLE_E_OPEN, "wattle_region_joules: region \"%s\" was never ended", name);
  for (size_t d = 0; d < e->n_domains && d < max; d++) total(&r->sum[d], &out[d]);
  return (int)e->n_domains;
}
