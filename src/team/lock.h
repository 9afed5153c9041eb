/*
 * lock.h - queue locks: PEs that want a lock wait in a queue and get it in the order in which they came.
 *
 * A lock is a long on each PE, all 0 at first. On the lock's home PE its `tail` names the last PE of the queue. On each
 * PE its `node` is that PE's place in the queue. A PE that waits sleeps on its own word, which the PE before it changes.
 */
#ifndef WTL_TEAM_LOCK_H
#define WTL_TEAM_LOCK_H

#include "pgas/op.h"
#include "pgas/pe.h"

/*
 * Locks of OpenSHMEM, in a symmetric long. `call` is the routine that errors name: a lock that this PE holds already, or
 * one that it clears without holding it, ends the job. _test takes the lock only if it is free, and tells whether it did.
 */
void wtl_lock_set(wtl_pe *self, wtl_site *site, long *lock, const char *call);
bool wtl_lock_test(wtl_pe *self, wtl_site *site, long *lock);
void wtl_lock_clear(wtl_pe *self, wtl_site *site, long *lock, const char *call);

/* --- for other kinds of memory ------------------------------------------------------------------------------------ */

typedef struct wtl_queue_lock wtl_queue_lock;

/* The memory that a lock's longs lie in. */
typedef struct wtl_lock_memory {
  enum wtl_memory memory;
  /* The lock's long on PE `pe`, by the address that operations on that memory take (pgas/op.h). */
  long *(*word)(const wtl_queue_lock *l, int pe);
  /* What this PE watches while it waits for its own long. */
  wtl_watch (*watch)(const wtl_pe *self, const wtl_queue_lock *l);
  /* The lock's name in messages. */
  void (*name)(const wtl_queue_lock *l, char *text, size_t size);
} wtl_lock_memory;

struct wtl_queue_lock {
  const wtl_lock_memory *in;
  const void *at; /* the memory's own */
  int home;       /* PE */
};

/* As the routines above. _clear orders nothing: the caller's stores under the lock must be complete. */
void wtl_queue_lock_set(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l, const char *call);
bool wtl_queue_lock_test(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l);
void wtl_queue_lock_clear(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l, const char *call);

#endif
