/* am_run.h - takes the messages that have arrived (am.h declares the functions for other rooms). */
#ifndef WTL_AM_AM_RUN_H
#define WTL_AM_AM_RUN_H

#include "am/am_state.h"

/* Returns whether this thread may take a message now. `am`: the state of a PE. */
bool wtl_am_waits(void *am);

/* Takes messages, unless another thread does. Returns true if any handler ran or any pending reply was sent. */
bool wtl_am_take(void *am);

/* Does both, at little cost if no message has ever arrived. */
bool wtl_am_take_if_any(wtl_am *am);

/* Waits until another thread has handled the messages that it takes at the moment, if one does. */
void wtl_am_wait_for_turn(wtl_am *am, wtl_site *site);

void wtl_am_run_free(wtl_am *am);

#endif
