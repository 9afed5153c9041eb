/*
 * am_mutex.h - mutexes that handlers and the rest of the program may share: they belong to one PE, and who waits for
 * one waits through the door. A thread that holds one runs no handlers meanwhile; others of the PE may.
 *
 * WATTLE_AM_DEBUG=on: says, once for each, where mutexes are waited for in a circle of orders, and where a handler early
 * one for longer than WTL_AM_LONG_HOLD_NS, or a thread one in a call that waits for handlers (am_order.h).
 */
#ifndef WTL_AM_AM_MUTEX_H
#define WTL_AM_AM_MUTEX_H

#include "am/am_order.h"

/* All zeros: free, as a static one is. */
struct wtl_am_mutex {
  _Atomic uintptr_t owner; /* a thread; 0: free */
  _Atomic uint32_t waiters;
  uint32_t state; /* am_mutex.c; what holds none of them is no mutex */
  uint64_t since; /* ns, where that is watched */
};

/* `call` is named in errors: a second lock by the same thread, an unlock by another one, one that is destroyed, early or
 * no mutex, or made anew by the thread that holds it. */
void wtl_am_mutex_init(wtl_pe *self, const char *call, wtl_am_mutex *m);
void wtl_am_mutex_destroy(const char *call, wtl_am_mutex *m);
void wtl_am_mutex_lock(wtl_pe *self, wtl_site *site, const char *call, wtl_am_mutex *m);
bool wtl_am_mutex_trylock(wtl_pe *self, const char *call, wtl_am_mutex *m);
void wtl_am_mutex_unlock(wtl_pe *self, const char *call, wtl_am_mutex *m);

#endif
