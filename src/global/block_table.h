/*
 * block_table.h - with SHMEM_DEBUG: the table of the blocks that each PE has allocated in global memory. It finds
 * transfers that go beyond their block. Without it only the ends of a PE's memory are checked (global.h).
 *
 * The table lies in the global memory itself. Copies of the tables of far PEs are kept, and read again when an address
 * is in none of their blocks.
 */
#ifndef WTL_GLOBAL_BLOCK_TABLE_H
#define WTL_GLOBAL_BLOCK_TABLE_H

#include "global/global.h"

typedef struct wtl_block_entry {
  uint64_t start, bytes;
} wtl_block_entry;

/* Collective over all PEs, before any allocation. Ends the process if there is no memory. */
void wtl_blocks_start(wtl_pe *self, wtl_global *g);
void wtl_blocks_stop(wtl_global *g);

/* Add and remove a block of this PE. The caller holds the lock of its global memory. */
void wtl_blocks_add(wtl_global *g, const void *p, size_t bytes);
void wtl_blocks_remove(wtl_global *g, const void *p);

/* Returns the live block of PE `pe` that contains `p`, an address of that PE; bytes 0: there is none. */
wtl_block_entry wtl_block_at(wtl_pe *self, wtl_site *site, const void *p, int pe);

/* Drops all copies, since other PEs may have freed blocks. */
void wtl_blocks_forget(wtl_pe *self);

#endif
