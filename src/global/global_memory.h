/* global_memory.h - the life of global memory (global.h), and its blocks. */
#ifndef WTL_GLOBAL_GLOBAL_MEMORY_H
#define WTL_GLOBAL_GLOBAL_MEMORY_H

#include "global/global.h"

/* Collective. Ends the process if it cannot; does nothing the second time. */
void wtl_global_start(wtl_pe *self, wtl_site *site);
void wtl_global_stop(wtl_pe *self);

/* At least 64-byte aligned. NULL: no room. From any thread, alone. */
void *wtl_global_alloc(wtl_pe *self, size_t bytes);

/* The block that begins at `p` was allocated together with others': no PE may free it alone. */
void wtl_global_mark_shared(wtl_pe *self, const void *p);
bool wtl_global_is_shared(wtl_pe *self, const void *p);

/* 0, or -1 where `p` is not the start of a live block. */
int wtl_global_free(wtl_pe *self, void *p);

#endif
