/* am_wait.h - waits through the door for handlers. A wait that may have no end is reported after WATTLE_AM_PATIENCE,
 * once for each PE. */
#ifndef WTL_AM_AM_WAIT_H
#define WTL_AM_AM_WAIT_H

#include "pgas/pe.h"

/* Waits until `ready` is true, for handlers of this or another PE. The wait has no end if this thread holds a mutex
 * that a handler needs. */
void wtl_am_wait(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *arg);

/* Waits until `ready` is true, for the mutex `m`. The wait has no end if a handler waits and the thread with the
 * mutex waits for a handler. */
void wtl_am_wait_for_mutex(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *m);

#endif
