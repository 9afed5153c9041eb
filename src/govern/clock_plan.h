/*
 * clock_plan.h - the list of PEs' clocks that WATTLE_CLOCKS holds: "0-3=2.4,4=1.8", in GHz.
 */
#ifndef WTL_GOVERN_CLOCK_PLAN_H
#define WTL_GOVERN_CLOCK_PLAN_H

#include <stdbool.h>

/* What the list says of one PE. */
typedef struct wtl_clock_plan {
  double ghz; /* 0: the list does not name the PE; NaN: the list is wrong */
  bool first; /* the PE is the first one of the first entry with this clock */
} wtl_clock_plan;

wtl_clock_plan wtl_clock_plan_of(const char *list, int pe);

#endif
