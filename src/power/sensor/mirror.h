/* mirror.h - finds out whether two files or events show the same counter. */
#ifndef WTL_POWER_MIRROR_H
#define WTL_POWER_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "power/sys.h"

/* Reads counter 0 or 1 of a pair. Returns false if it cannot be read. */
typedef bool (*wtl_mirror_read)(void *arg, size_t which, int64_t *value);

/*
 * Samples two counters, which wrap to 0 after `range` (0: never), for about 10 ms. Returns whether they are the same
 * counter. Counters that do not advance meanwhile are the same only if both show one number that is not 0.
 */
bool wtl_mirror_found(const wtl_sys *sys, wtl_mirror_read read, void *arg, uint64_t range);

#endif
