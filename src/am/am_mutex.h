/*
 * am_mutex.h - mutexes that handlers and the rest of the program may share. They belong to one PE, and a thread waits
 * for one through the door. A thread that holds one runs no handlers meanwhile; other threads of the PE may.
 *
 * With WATTLE_AM_DEBUG=on, the cases of am_order.h are reported.
 */
#ifndef WTL_AM_AM_MUTEX_H
#define WTL_AM_AM_MUTEX_H

#include "am/am_order.h"

/* A mutex. All zeros is a free one, such as a static one. */
struct wtl_am_mutex {
  _Atomic uintptr_t owner; /* the thread that holds it; 0: free */
  _Atomic uint32_t waiters;
  uint32_t state; /* values in am_mutex.c; memory with another value is no mutex */
  uint64_t since; /* time of the lock in ns, if WATTLE_AM_DEBUG is on */
};

/* `call` is the name of the routine for errors. Errors: a second lock by the same thread, an unlock by another
 * thread, destroying a mutex that is held, use of memory that is no mutex, and init by the thread that holds it. */
void wtl_am_mutex_init(wtl_pe *self, const char *call, wtl_am_mutex *m);
void wtl_am_mutex_destroy(const char *call, wtl_am_mutex *m);
void wtl_am_mutex_lock(wtl_pe *self, wtl_site *site, const char *call, wtl_am_mutex *m);
bool wtl_am_mutex_trylock(wtl_pe *self, const char *call, wtl_am_mutex *m);
void wtl_am_mutex_unlock(wtl_pe *self, const char *call, wtl_am_mutex *m);

#endif
