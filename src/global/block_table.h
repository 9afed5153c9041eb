/*
 * block_table.h - with SHMEM_DEBUG: which blocks of global memory each PE has, told in that memory itself, so that a transfer
 * beyond its block is noticed where it is made. Without it only the ends of a PE's memory are looked at (global.h).
 *
 * What PEs of other nodes told is kept, and asked for again when an address is in none of it.
 */
#ifndef WTL_GLOBAL_BLOCK_TABLE_H
#define WTL_GLOBAL_BLOCK_TABLE_H

#include "global/global.h"

typedef struct wtl_block_entry {
  uint64_t start, bytes;
} wtl_block_entry;

/* By every PE, before it allocates from its heap. Ends the process if it cannot. */
void wtl_blocks_start(wtl_pe *self, wtl_global *g);
void wtl_blocks_stop(wtl_global *g);

/* Of this PE, under the lock of its global memory. */
void wtl_blocks_add(wtl_global *g, const void *p, size_t bytes);
void wtl_blocks_remove(wtl_global *g, const void *p);

/* The live block of PE `pe` in which `p` lies, an address of that PE's; bytes 0: none. */
wtl_block_entry wtl_block_at(wtl_pe *self, wtl_site *site, const void *p, int pe);

/* Others may have freed blocks: what they told is forgotten. */
void wtl_blocks_forget(wtl_pe *self);

#endif
