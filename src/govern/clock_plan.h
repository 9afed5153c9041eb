/* clock_plan.h - reads WATTLE_CLOCKS, a list of PEs and clocks in GHz: "0-3=2.4,4=1.8". */
#ifndef WTL_GOVERN_CLOCK_PLAN_H
#define WTL_GOVERN_CLOCK_PLAN_H

/* The clock of a PE in GHz by the last entry that names it. 0: no entry names it. NaN: the list is wrong. */
double wtl_clocks_plan_ghz(const char *list, int pe);

#endif
