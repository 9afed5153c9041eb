/*
 * lock.h - queue locks: PEs that want a lock wait in a queue and get it in the order of their arrival.
 *
 * A lock is a long on each PE, all 0 at first. On the home PE of the lock `tail` is the last PE of the queue. On each
 * PE `node` is the place of that PE in the queue. A PE that waits sleeps on its own word, which the PE before it
 * changes.
 */
#ifndef WTL_TEAM_LOCK_H
#define WTL_TEAM_LOCK_H

#include "pgas/op.h"
#include "pgas/pe.h"

/*
 * Locks of OpenSHMEM, in a symmetric long. Errors name the routine `call`. Setting a lock that this PE already holds
 * ends the job, and so does clearing a lock that it does not hold. _test takes the lock only if it is free, and returns
 * true if it did.
 */
void wtl_lock_set(wtl_pe *self, wtl_site *site, long *lock, const char *call);
bool wtl_lock_test(wtl_pe *self, wtl_site *site, long *lock);
void wtl_lock_clear(wtl_pe *self, wtl_site *site, long *lock, const char *call);

/* --- for other kinds of memory ------------------------------------------------------------------------------------ */

typedef struct wtl_queue_lock wtl_queue_lock;

/* The memory that holds the longs of a lock. */
typedef struct wtl_lock_memory {
  enum wtl_memory memory;
  /* The lock's long on PE `pe`, as the address that operations on that memory take (pgas/op.h). */
  long *(*word)(const wtl_queue_lock *l, int pe);
  /* The words that this PE watches while it waits for its own long. */
  wtl_watch (*watch)(const wtl_pe *self, const wtl_queue_lock *l);
  /* Writes the name of the lock for messages. */
  void (*name)(const wtl_queue_lock *l, char *text, size_t size);
} wtl_lock_memory;

struct wtl_queue_lock {
  const wtl_lock_memory *in;
  const void *at; /* defined by the kind of memory */
  int home;       /* PE */
};

/* The same operations for any memory. _clear orders nothing: the caller's stores under the lock must be complete. */
void wtl_queue_lock_set(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l, const char *call);
bool wtl_queue_lock_test(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l);
void wtl_queue_lock_clear(wtl_pe *self, wtl_site *site, const wtl_queue_lock *l, const char *call);

#endif
