/*
 * wait_until.h - waits for variables of this PE that other PEs, threads or handlers change.
 *
 * Each function that can block waits through the door (wait/door.h) at the caller's site.
 */
#ifndef WTL_TEAM_WAIT_UNTIL_H
#define WTL_TEAM_WAIT_UNTIL_H

#include "pgas/pe.h"

/* The width and signedness with which a variable is compared. */
enum wtl_word { WTL_I16, WTL_U16, WTL_I32, WTL_U32, WTL_I64, WTL_U64 };

/* The comparisons, with the values of SHMEM_CMP_* (checked in src/shmem). */
enum wtl_cmp { WTL_CMP_EQ, WTL_CMP_NE, WTL_CMP_GT, WTL_CMP_GE, WTL_CMP_LT, WTL_CMP_LE };

/* Whether *variable (cmp) value holds. `value` is extended to 64 bits by the signedness of the variable. */
bool wtl_compare(const void *variable, enum wtl_word word, int cmp, uint64_t value);

/*
 * Waits until the comparison holds. The variable may be symmetric or private. A private one, set by a thread or a
 * handler of this PE, has no doorbell of its own. A wait for it checks again at every ring and after WATTLE_SLEEP_MAX.
 */
void wtl_wait_until(wtl_pe *self, wtl_site *site, const void *variable, enum wtl_word word, int cmp, uint64_t value);

/* The same for a variable that only signals, atomic operations and this PE change. */
void wtl_wait_for_signal(wtl_pe *self, wtl_site *site, const uint64_t *signal, int cmp, uint64_t value);

/* Several variables: those of `variables` whose `status` is 0 (NULL: all of them). `values` has one value for each;
 * where it is NULL, `value` is for all. */
typedef struct wtl_many {
  const void *variables;
  size_t n;
  const int *status;
  enum wtl_word word;
  int cmp;
  const void *values;
  uint64_t value;
} wtl_many;

/* Whether all comparisons hold. For an empty set the result is true. */
bool wtl_test_all(const wtl_many *m);
void wtl_wait_all(wtl_pe *self, wtl_site *site, const wtl_many *m);

/* The index of a variable whose comparison holds; repeated calls begin at different variables. SIZE_MAX: none holds,
 * or the set is empty (then _wait_any does not wait). */
size_t wtl_test_any(wtl_pe *self, const wtl_many *m);
size_t wtl_wait_any(wtl_pe *self, wtl_site *site, const wtl_many *m);

/* The number of comparisons that hold, with their indices in indices[]. 0: none holds, or the set is empty. */
size_t wtl_test_some(const wtl_many *m, size_t *indices);
size_t wtl_wait_some(wtl_pe *self, wtl_site *site, const wtl_many *m, size_t *indices);

#endif
