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

/* A barrier that also carries two numbers from each PE; read them with wtl_said until the next barrier that carries
 * some. */
void wtl_barrier_saying(wtl_pe *self, wtl_site *site, uint64_t a, uint64_t b);

static inline const uint64_t *wtl_said(const wtl_pe *self, int pe)
{
  return wtl_control_of(self, pe)->said;
}

/* How a variable is compared: width and signedness. */
enum wtl_word { WTL_I32, WTL_U32, WTL_I64, WTL_U64 };

/* The comparisons, with the values of SHMEM_CMP_* (checked in src/shmem). */
enum wtl_cmp { WTL_CMP_EQ, WTL_CMP_NE, WTL_CMP_GT, WTL_CMP_GE, WTL_CMP_LT, WTL_CMP_LE };

/* Does *variable (cmp) value hold? `value` is extended to 64 bits by the variable's signedness. */
bool wtl_compare(const void *variable, enum wtl_word word, int cmp, uint64_t value);

/* Waits until it holds. The variable may be symmetric or private; only symmetric ones ring the bell when other PEs
 * store. */
void wtl_wait_until(wtl_pe *self, wtl_site *site, const void *variable, enum wtl_word word, int cmp, uint64_t value);

/* to[i] = to[i] + from[i], i < n, for one type. */
typedef void (*wtl_combine_fn)(void *to, const void *from, size_t n);

/* Collectives: a PE may return while others have not; what others hold may be read or written after a barrier. */

/* dest = sum over PEs, in the order of PEs, of source; `n` elements of `size` bytes. dest may be source. */
void wtl_reduce(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, size_t size,
                wtl_combine_fn combine);

/* source of `root` to dest of every PE. dest may be source. */
void wtl_broadcast(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t bytes, int root);

/* Both where all PEs are on this node and a cache line holds it all. */
static inline bool wtl_is_small(const wtl_pe *self, size_t bytes)
{
  return bytes <= WTL_SMALL_BYTES && self->n_local == self->n;
}
enum { WTL_SMALL_REDUCE_PES = 32 }; /* each reads what all others say: the square of their number */
void wtl_reduce_small(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, size_t size,
                      wtl_combine_fn combine);
void wtl_broadcast_small(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t bytes, int root);

/*
 * A queue lock in a symmetric long: waiters sleep on their own copy and are served in order of arrival.
 * `call` names the caller in errors: a lock taken twice, or cleared by a PE that does not hold it.
 */
void wtl_lock_set(wtl_pe *self, wtl_site *site, long *lock, const char *call);
bool wtl_lock_test(wtl_pe *self, wtl_site *site, long *lock, const char *call);
void wtl_lock_clear(wtl_pe *self, wtl_site *site, long *lock, const char *call);

#endif
