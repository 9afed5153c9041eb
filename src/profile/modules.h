/* modules.h - finds the file that a code address belongs to, so that sites can be resolved after the run. */
#ifndef WTL_PROFILE_MODULES_H
#define WTL_PROFILE_MODULES_H

#include <stddef.h>
#include <stdint.h>

typedef struct wtl_module {
  char path[4096];           /* absolute, if the kernel states it */
  char build_id[65];         /* hexadecimal; "" without one */
  uintptr_t base, low, high; /* load address; first address and one past the last one of its segments */
} wtl_module;

struct dl_phdr_info;

/* Fills *m for a loaded object. `order`: its position in the order of wtl_os_each_object. */
void wtl_module_read(const struct dl_phdr_info *info, int order, wtl_module *m);

/* Returns the index in *known of the module that contains `addr`. Adds it to *known, a malloc'd array of `n`, if it is
 * new. -1: no module contains it. */
int wtl_module_of(uintptr_t addr, wtl_module **known, size_t *n);

#endif
