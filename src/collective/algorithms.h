/*
 * algorithms.h - what the files of this room share: scratch memory, and the algorithms, each of which refuses by false
 * a call that it is not for. Files are named as the literature names their algorithm (collective.h has the choice).
 */
#ifndef WTL_COLLECTIVE_ALGORITHMS_H
#define WTL_COLLECTIVE_ALGORITHMS_H

#include "collective/collective.h"
#include "pgas/near.h"
#include "team/team.h"
#include "team/barrier.h"

/*
 * The collectives' own memory, of a team for as long as it is there, of an active set until wtl_scratch_back:
 * wtl_scratch_bytes, at least twice WTL_SCRATCH_BYTES and enough for a few elements of each PE.
 */
char *wtl_collective_scratch(wtl_team *t);
void wtl_scratch_back(wtl_team *t);
static inline size_t wtl_scratch_bytes(const wtl_team *t)
{
  return 2 * (size_t)WTL_SCRATCH_BYTES + 64 * (size_t)t->n;
}

/*
 * `n` bytes of this PE, which belong at `at` of `total`; returns what all bring, aligned to 16, until this PE begins
 * the collective after the next. NULL: it is too much, or not for several nodes' PEs (all get the same answer).
 */
const char *wtl_gather_two_level(wtl_pe *self, wtl_site *site, wtl_team *t, const void *source, size_t n, size_t at,
                               size_t total);

/* flat.c: the number of the team's next collective whose PEs say something each in a place of its own, of
 * WTL_SMALL_LINES that are used by turns. A barrier first, where all have been used since the last one. */
uint32_t wtl_flat_begin(wtl_pe *self, wtl_site *site, wtl_team *t);
/* What the others of this node wait for has been said. */
void wtl_flat_wake(wtl_pe *self, const wtl_team *t);

/* fcollect by any algorithm for few bytes, to memory of any kind; false: they are not few. */
bool wtl_fcollect_few(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes);

/* The direct algorithms are for every call. */
void wtl_reduce_direct(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n,
                       size_t size, wtl_combine_fn combine);
void wtl_scan_direct(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                     wtl_combine_fn combine, bool exclusive);
void wtl_broadcast_direct(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                          int root, bool to_root);
void wtl_fcollect_direct(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes);
void wtl_alltoall_direct(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                         size_t from_step, size_t size, size_t n);

/* The others return false for a call that they are not for, on all PEs alike. */
bool wtl_reduce_flat(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                      wtl_combine_fn combine);
bool wtl_broadcast_flat(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                         int root, bool to_root);
bool wtl_fcollect_flat(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes);
bool wtl_reduce_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                       wtl_combine_fn combine);
bool wtl_scan_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                     wtl_combine_fn combine, bool exclusive);
bool wtl_broadcast_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                          int root, bool to_root);
bool wtl_fcollect_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes);
bool wtl_reduce_two_level(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n,
                        size_t size, wtl_combine_fn combine);
bool wtl_broadcast_binomial(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                          int root, bool to_root);
bool wtl_scan_two_level(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                      wtl_combine_fn combine, bool exclusive);
bool wtl_alltoall_two_level(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                          size_t from_step, size_t size, size_t n);
bool wtl_alltoall_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                         size_t from_step, size_t size, size_t n);

#endif
