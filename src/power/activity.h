/* activity.h - the account of the time of this process at a moment, and the difference of two such accounts. */
#ifndef WTL_POWER_ACTIVITY_H
#define WTL_POWER_ACTIVITY_H

#include <stdbool.h>

#include "power/power.h"

typedef struct wtl_account {
  wtl_activity activity; /* the runtime's totals, if one is registered */
  bool from_runtime;
  unsigned long long generation; /* number of the registration: totals of two registrations must not be subtracted */
  double cpu_s, wall_s;          /* CPU seconds of all threads; monotonic clock */
  double wake_ups;               /* voluntary context switches of all threads */
} wtl_account;

void wtl_activity_now(wtl_account *out);

/* Computes the activity of the process between the accounts a and b. */
void wtl_activity_between(const wtl_account *a, const wtl_account *b, wtl_activity *out);

#endif
