/* figure.c - makes a figure that is unavailable. */
#include "power/figure.h"

#include <math.h>
#include <stdio.h>

void wtl_figure_none(wattle_joules_t *f, const char *domain, wattle_scope_t scope, double interval_s)
{
  *f = (wattle_joules_t){
      .provenance = WATTLE_UNAVAILABLE, .scope = scope, .joules = NAN, .uncertainty = NAN, .interval_s = interval_s};
  snprintf(f->domain, sizeof f->domain, "%s", domain);
}
