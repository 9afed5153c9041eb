/* global_lock.h - queue locks (team/lock.h) whose longs lie in global memory. */
#ifndef WTL_GLOBAL_GLOBAL_LOCK_H
#define WTL_GLOBAL_GLOBAL_LOCK_H

#include "pgas/pe.h"

/* A lock. On PE p its long is words[p][index], for each PE p that may want the lock. `home` is any of these PEs, the
 * same on all. Messages name the lock as the home's mutex `number`. */
typedef struct wtl_lock_at {
  long *const *words;
  size_t index;
  int home, number;
} wtl_lock_at;

/* As wtl_lock_set, _test and _clear. */
void wtl_global_lock_set(wtl_pe *self, wtl_site *site, const wtl_lock_at *at, const char *call);
bool wtl_global_lock_test(wtl_pe *self, wtl_site *site, const wtl_lock_at *at);
void wtl_global_lock_clear(wtl_pe *self, wtl_site *site, const wtl_lock_at *at, const char *call);

#endif
