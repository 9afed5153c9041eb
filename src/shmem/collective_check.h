/*
 * collective_check.h - with SHMEM_DEBUG, checks before a collective that all PEs call the same routine with the same
 * arguments. The check takes two barriers. Without it PEs that differ hang or get wrong data, as in any OpenSHMEM.
 */
#ifndef WTL_SHMEM_COLLECTIVE_CHECK_H
#define WTL_SHMEM_COLLECTIVE_CHECK_H

#include "shmem/shmem_front.h"
#include "team/wait_until.h"

/* All barriers of a team count as one call, and all syncs as another. A sync completes less than a barrier, so a PE
 * in a barrier must not synchronize with one in a sync. */
typedef enum wtl_compared_as { WTL_COMPARED_AS_ITSELF, WTL_COMPARED_AS_BARRIER, WTL_COMPARED_AS_SYNC } wtl_compared_as;

/* The arguments that must be equal on all PEs. Members for which a routine has no argument are 0. */
typedef struct wtl_shmem_collective_arguments {
  wtl_compared_as as;
  const char *count_name; /* NULL: each PE may have its own count */
  size_t count;
  long long root, dst, sst;
  const void *dest, *source;
  size_t dest_bytes, source_bytes; /* of areas that must not overlap; 0: unknown, or overlap is allowed */
} wtl_shmem_collective_arguments;

/* It takes no frame: a frame whose address is passed on would be kept in memory instead of registers. */
void wtl_shmem_compare_collective(wtl_pe *self, wtl_site *site, uint32_t call, wtl_team *t,
                                  const wtl_shmem_collective_arguments *m) __attribute__((cold));

#endif
