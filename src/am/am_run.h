/* am_run.h - taking turns at the messages that have come (am.h has what other rooms call). */
#ifndef WTL_AM_AM_RUN_H
#define WTL_AM_AM_RUN_H

#include "am/am_state.h"

/* Is there something that this thread may do? `am`: a PE's. */
bool wtl_am_waits(void *am);

/* Does it, unless another thread does; true if any handler ran or kept reply left. */
bool wtl_am_take(void *am);

/* Both, at next to no cost where nothing has ever come. */
bool wtl_am_take_if_any(wtl_am *am);

/* Returns when the messages that another thread takes at the moment, if one does, have been handled. */
void wtl_am_wait_for_turn(wtl_am *am, wtl_site *site);

void wtl_am_run_free(wtl_am *am);

#endif
