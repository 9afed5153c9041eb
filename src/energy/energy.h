/*
 * energy.h - inside of a wattle_energy_t, for the files of this room.
 */
#ifndef WTL_ENERGY_ENERGY_H
#define WTL_ENERGY_ENERGY_H

#include "power/meter.h"
#include "wattle.h"

/* Sums over a region's closed intervals, one domain. */
typedef struct region_sum {
  double joules, interval_s, covered_s;
  double linear;            /* J, doubt that is the same in every interval and adds up */
  double square;            /* J^2, doubt that differs from interval to interval: its squares add up */
  unsigned long long known; /* intervals with a figure */
  wattle_joules_t label;    /* names, scope, provenance of the last figure */
} region_sum;

typedef struct region {
  wattle_region_t info;
  double begun_at_bytes;
  wtl_mark begun;
  region_sum sum[]; /* one for each domain of the handle */
} region;

struct wattle_energy {
  wtl_meter *meter;
  double bytes; /* hinted so far */
  wtl_mark opened;
  size_t n_domains;
  region **regions; /* each of its own, so that growing the list moves only pointers */
  size_t n_regions, room;
};

/* Sets wattle_last_error() of this thread and returns `code`. */
int wtl_energy_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

void wtl_regions_free(wattle_energy_t *e);

#endif
