/* power_limit.h - a power limit of a package, as the kernel's powercap has it. */
#ifndef WTL_POWER_POWER_LIMIT_H
#define WTL_POWER_POWER_LIMIT_H

/* A package draws at most these watts in the mean over this time. 0 W: no limit. */
typedef struct wtl_power_limit {
  double watts, window_s;
} wtl_power_limit;

enum { WTL_POWER_LIMITS = 2 }; /* the long-term and the short-term one */

#endif
