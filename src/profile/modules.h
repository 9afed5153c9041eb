/*
 * modules.h - which file a code address belongs to, so that sites can be resolved after the run.
 */
#ifndef WTL_PROFILE_MODULES_H
#define WTL_PROFILE_MODULES_H

#include <stddef.h>
#include <stdint.h>

typedef struct wtl_module {
  char path[4096];           /* absolute, as far as the kernel says */
  char build_id[65];         /* hexadecimal; "" if it has none */
  uintptr_t base, low, high; /* load address; first and one past the last address of its segments */
} wtl_module;

/* The module of `addr` among `n` known ones, looked up and appended to *known (a malloc'd array that grows) if new; -1:
 * none. */
int wtl_module_of(uintptr_t addr, wtl_module **known, size_t *n);

#endif
