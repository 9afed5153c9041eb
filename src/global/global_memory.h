/* global_memory.h - the start and end of global memory (global.h), and its blocks. */
#ifndef WTL_GLOBAL_GLOBAL_MEMORY_H
#define WTL_GLOBAL_GLOBAL_MEMORY_H

#include "global/global.h"

/* Collective. Ends the process on failure. A second call does nothing. */
void wtl_global_start(wtl_pe *self, wtl_site *site);
void wtl_global_stop(wtl_pe *self);

/* Returns a block aligned to at least 64 bytes, or NULL if there is no space. Not collective; any thread may call
 * it. */
void *wtl_global_alloc(wtl_pe *self, size_t bytes);

/* Marks the block at `p` as allocated together with other PEs: no PE may free it alone. */
void wtl_global_mark_shared(wtl_pe *self, const void *p);
bool wtl_global_is_shared(wtl_pe *self, const void *p);

/* Returns 0, or -1 if `p` is not the start of a live block. */
int wtl_global_free(wtl_pe *self, void *p);

#endif
