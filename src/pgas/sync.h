/*
 * sync.h - how PEs wait for each other: barrier, wait on a variable, collectives, locks.
 *
 * Every function that can block takes the site of the caller and waits through the door (wait/door.h).
 */
#ifndef WTL_PGAS_SYNC_H
#define WTL_PGAS_SYNC_H

#include "pgas/pe.h"
#include "pgas/rma.h"

/* All PEs arrive before any leaves. Orders nothing else: callers that must, quiet first. */
void wtl_barrier(wtl_pe *self, wtl_site *site);
void wtl_team_barrier(wtl_pe *self, wtl_site *site, wtl_team *t);

/*
 * The team's last barrier: when it returns, no PE looks at this one's room any more, which it may use for another team.
 * (The counter of a barrier is in one PE's room, and that PE may be the first to leave: the second round is in words of
 * each PE's own.)
 */
void wtl_team_part(wtl_pe *self, wtl_site *site, wtl_team *t);

/*
 * The barrier of a team on several nodes: when all PEs of a node have arrived, its leader does `lead`, and then all of
 * them go on. It is for `lead` to meet the other nodes' leaders; NULL: the nodes do not meet.
 */
typedef void (*wtl_lead_fn)(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, void *arg);
void wtl_team_barrier_led(wtl_pe *self, wtl_site *site, wtl_team *t, wtl_lead_fn lead, void *arg);

/* For timelines: the PEs of a team begin to meet, and have met; 0: nobody wants to know, or it is not all PEs. */
static inline uint64_t wtl_meeting_begins(const wtl_pe *self, const wtl_team *t)
{
  return WTL_UNLIKELY(self->profile.timeline_bytes != 0) && t->n == self->world.n ? wtl_ticks() : 0;
}

static inline void wtl_meeting_ends(const wtl_pe *self, const wtl_site *site, uint64_t came)
{
  if (WTL_UNLIKELY(came != 0))
    wtl_profile_note(&self->profile, WTL_SPAN_MEETING, came, wtl_ticks(), site->addr, site->call);
}

/* Waits until a word of control data, which others count up, has reached `epoch`. */
void wtl_wait_word(wtl_pe *self, wtl_site *site, _Atomic uint32_t *word, uint32_t epoch);

/* Of an active set, which meets in words of the program's (active.c). */
void wtl_active_barrier(wtl_pe *self, wtl_site *site, wtl_team *t);

/* A barrier of all PEs at which each brings `n` numbers, up to 64, and gets for each the greatest that any PE
 * brought. */
void wtl_most_of_all(wtl_pe *self, wtl_site *site, uint64_t words[], size_t n);

/* How a variable is compared: width and signedness. */
enum wtl_word { WTL_I16, WTL_U16, WTL_I32, WTL_U32, WTL_I64, WTL_U64 };

/* The comparisons, with the values of SHMEM_CMP_* (checked in src/shmem). */
enum wtl_cmp { WTL_CMP_EQ, WTL_CMP_NE, WTL_CMP_GT, WTL_CMP_GE, WTL_CMP_LT, WTL_CMP_LE };

/* Does *variable (cmp) value hold? `value` is extended to 64 bits by the variable's signedness. */
bool wtl_compare(const void *variable, enum wtl_word word, int cmp, uint64_t value);

/*
 * Waits until it holds. The variable may be symmetric or private; a private one (set by a thread, or a handler, of this
 * PE) has no bell of its own, so a wait for it looks again at every ring and after WATTLE_SLEEP_MAX.
 */
void wtl_wait_until(wtl_pe *self, wtl_site *site, const void *variable, enum wtl_word word, int cmp, uint64_t value);

/* Several variables: those of `variables` whose `status` is 0 (NULL: all). `values`: one for each, or NULL: `value` for
 * all. */
typedef struct wtl_many {
  const void *variables;
  size_t n;
  const int *status;
  enum wtl_word word;
  int cmp;
  const void *values;
  uint64_t value;
} wtl_many;

/* Whether all hold; an empty set does. */
bool wtl_test_all(const wtl_many *m);
void wtl_wait_all(wtl_pe *self, wtl_site *site, const wtl_many *m);

/* Which one holds: each gets its turn. SIZE_MAX: none does, or the set is empty (a wait for it does not wait). */
size_t wtl_test_any(wtl_pe *self, const wtl_many *m);
size_t wtl_wait_any(wtl_pe *self, wtl_site *site, const wtl_many *m);

/* How many hold, and which, in indices[]. 0: none, or the set is empty. */
size_t wtl_test_some(const wtl_many *m, size_t *indices);
size_t wtl_wait_some(wtl_pe *self, wtl_site *site, const wtl_many *m, size_t *indices);

/* to[i] = to[i] op from[i], i < n, for one type. */
typedef void (*wtl_combine_fn)(void *to, const void *from, size_t n);

/*
 * Collectives. A PE may return while others have not; what others hold may be read or written after a barrier. Three
 * ways:
 *   SMALL   up to WTL_SMALL_BYTES: each PE says its part in a cache line (small.c), one hop
 *   STAGED  up to WTL_STAGE_BYTES: each PE copies its part to its room, a barrier, each takes what it needs (staged.c)
 *   DIRECT  a barrier, each PE computes or fetches its share of the result from the others' memory, a barrier
 * The first two where all PEs are on one node; on several, unless they are forced to go DIRECT, those of few bytes and
 * all reductions put together what a node has before they use the network (by_node.c, gather_by_node.c), broadcasts of
 * few bytes are told on from node to node (passed.c), and nodes of one PE send straight to where the bytes belong
 * (pushed.c). The setting says which is taken where several could be.
 */
enum wtl_collectives { WTL_COLLECTIVES_AUTO, WTL_COLLECTIVES_SMALL, WTL_COLLECTIVES_STAGED, WTL_COLLECTIVES_DIRECT };

/* dest = op over PEs, in the order of the team, of source; `n` elements of `size` bytes. dest may be source. */
void wtl_reduce(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                wtl_combine_fn combine);

/* The same over the PEs up to this one, or (exclusive) before it; what begins that is zeros. */
void wtl_scan(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
              wtl_combine_fn combine, bool exclusive);

/* source of the team's PE `root` to dest of every PE, but to root's own only where `to_root`. dest may be source. */
void wtl_broadcast(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes, int root,
                   bool to_root);

/* `bytes` of each PE, one after the other in the order of the team. wtl_collect: each PE its own number of bytes;
 * wtl_collect_size comes first, with the same `bytes`, and returns how many all bring. */
void wtl_fcollect(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes);
size_t wtl_collect_size(wtl_pe *self, wtl_site *site, wtl_team *t, size_t bytes);
void wtl_collect(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes);

/* Block i of `source`, `n` elements of `size` bytes, each `from_step` bytes after the last, to block me of `dest` of PE
 * i. */
void wtl_alltoall(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                  size_t from_step, size_t size, size_t n);

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
const char *wtl_gather_by_node(wtl_pe *self, wtl_site *site, wtl_team *t, const void *source, size_t n, size_t at,
                               size_t total);

/* small.c: the number of the team's next collective whose PEs say something each in a place of its own, of
 * WTL_SMALL_LINES that are used by turns. A barrier first, where all have been used since the last one. */
uint32_t wtl_small_begin(wtl_pe *self, wtl_site *site, wtl_team *t);
/* What the others of this node wait for has been said. */
void wtl_small_wake(wtl_pe *self, const wtl_team *t);

/* small.c, staged.c, by_node.c, gather_by_node.c, passed.c: false if that way is not for this call. */
bool wtl_reduce_small(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                      wtl_combine_fn combine);
bool wtl_broadcast_small(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                         int root, bool to_root);
bool wtl_fcollect_small(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes);
bool wtl_reduce_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                       wtl_combine_fn combine);
bool wtl_scan_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                     wtl_combine_fn combine, bool exclusive);
bool wtl_broadcast_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                          int root, bool to_root);
bool wtl_fcollect_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes);
bool wtl_reduce_by_node(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n,
                        size_t size, wtl_combine_fn combine);
bool wtl_broadcast_passed(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                          int root, bool to_root);
bool wtl_scan_by_node(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                      wtl_combine_fn combine, bool exclusive);
bool wtl_alltoall_by_node(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                          size_t from_step, size_t size, size_t n);
bool wtl_alltoall_staged(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                         size_t from_step, size_t size, size_t n);

/*
 * A queue lock in a symmetric long: waiters sleep on their own copy and are served in order of arrival.
 * `call` names the caller in errors: a lock taken twice, or cleared by a PE that does not hold it. _test takes the lock
 * only if it is free and tells whether it did.
 */
void wtl_lock_set(wtl_pe *self, wtl_site *site, long *lock, const char *call);
bool wtl_lock_test(wtl_pe *self, wtl_site *site, long *lock);
void wtl_lock_clear(wtl_pe *self, wtl_site *site, long *lock, const char *call);

/* The same in global memory (global.h): on PE p the lock's long is words[p][index], of every PE that may want it, all 0
 * at first; `home`: any of them, the same for all. Errors name it as the home's mutex of that number. */
typedef struct wtl_lock_at {
  long *const *words;
  size_t index;
  int home, number;
} wtl_lock_at;

void wtl_lock_at_set(wtl_pe *self, wtl_site *site, const wtl_lock_at *at, const char *call);
bool wtl_lock_at_test(wtl_pe *self, wtl_site *site, const wtl_lock_at *at);
void wtl_lock_at_clear(wtl_pe *self, wtl_site *site, const wtl_lock_at *at, const char *call);

#endif
