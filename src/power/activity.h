/*
 * activity.h - a moment in this process's account of its own time, and the difference of two.
 */
#ifndef WTL_POWER_ACTIVITY_H
#define WTL_POWER_ACTIVITY_H

#include <stdbool.h>

#include "power/power.h"

typedef struct wtl_account {
  wtl_activity activity; /* the runtime's totals, where one is registered */
  bool from_runtime;
  unsigned long long generation; /* tells one registration from the next: their totals must not be subtracted */
  double cpu_s, wall_s;          /* CPU seconds of all threads; monotonic clock */
} wtl_account;

void wtl_activity_now(wtl_account *out);

/* What the process did from a to b. */
void wtl_activity_between(const wtl_account *a, const wtl_account *b, wtl_activity *out);

#endif
