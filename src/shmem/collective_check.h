/*
 * collective_check.h - do the PEs of a collective call the same routine and pass the same? Asked with SHMEM_DEBUG, before the
 * collective begins: it takes two barriers. Without it such PEs hang or get wrong data, as in any OpenSHMEM.
 */
#ifndef WTL_SHMEM_COLLECTIVE_CHECK_H
#define WTL_SHMEM_COLLECTIVE_CHECK_H

#include "shmem/shmem_front.h"
#include "team/wait_until.h"

/* All barriers of a team are one, and all syncs: which complete less, so a barrier that meets one is wrong. */
typedef enum wtl_meets_in { WTL_MEETS_IN_ITSELF, WTL_MEETS_IN_BARRIER, WTL_MEETS_IN_SYNC } wtl_meets_in;

/* What all PEs must pass alike. Members that a routine has no argument for are 0. */
typedef struct wtl_shmem_collective_arguments {
  wtl_meets_in in;
  const char *count_name; /* NULL: each PE may have its own count */
  size_t count;
  long long root, dst, sst;
  const void *dest, *source;
  size_t dest_bytes, source_bytes; /* that must not overlap; 0: not known, or they may */
} wtl_shmem_collective_arguments;

/* Takes no frame: one whose address goes elsewhere is in memory instead of registers. */
void wtl_shmem_compare_collective(wtl_pe *self, wtl_site *site, uint32_t call, wtl_team *t,
                                  const wtl_shmem_collective_arguments *m) __attribute__((cold));

#endif
