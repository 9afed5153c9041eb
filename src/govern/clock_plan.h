/*
 * clock_plan.h - the list of PEs' clocks that WATTLE_CLOCKS holds: "0-3=2.4,4=1.8", in GHz.
 */
#ifndef WTL_GOVERN_CLOCK_PLAN_H
#define WTL_GOVERN_CLOCK_PLAN_H

/* A PE's clock by the last entry that names it. 0: none does. NaN: the list is wrong. */
double wtl_clock_plan_ghz(const char *list, int pe);

#endif
