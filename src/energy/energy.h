/*
 * energy.h - the content of a wattle_energy_t, for the files of this room.
 *
 * DESIGN. A handle has one meter (power/meter.h) and a list of regions. A figure is always the difference of two marks:
 * those of open and now, or those of begin and end of a region. A region adds up its intervals by domain. The part of
 * the uncertainty that is the same in every interval adds linearly, and the random part adds by squares.
 */
#ifndef WTL_ENERGY_ENERGY_H
#define WTL_ENERGY_ENERGY_H

#include "power/meter.h"
#include "wattle.h"

/* The sums over the closed intervals of a region, for one domain. */
typedef struct region_sum {
  double joules, interval_s, covered_s;
  double linear;            /* J, uncertainty that is the same in every interval */
  double square;            /* J^2, sum of the squares of the uncertainty that differs between intervals */
  unsigned long long known; /* number of intervals with a figure */
  wattle_joules_t label;    /* name, scope and provenance of the last figure */
} region_sum;

typedef struct region {
  wattle_region_t info;
  double begun_at_bytes;
  wtl_mark begun;
  region_sum sum[]; /* one for each domain of the handle */
} region;

struct wattle_energy {
  wtl_meter *meter;
  double bytes; /* bytes added by wattle_energy_add_bytes so far */
  wtl_mark opened;
  size_t n_domains;
  region **regions; /* allocated one by one, so that growing the list moves only pointers */
  size_t n_regions, capacity;
};

/* Sets the text of wattle_last_error() in this thread and returns `code`. */
int wtl_energy_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

void wtl_regions_free(wattle_energy_t *e);

#endif
