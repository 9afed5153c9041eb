/*
 * am_far_receive.h - active messages from PEs of other nodes: the thread that serves the network puts what arrives into
 * an inbox, and the thread that takes this PE's messages takes it from there, as it does from the rings.
 */
#ifndef WTL_AM_AM_FAR_RECEIVE_H
#define WTL_AM_AM_FAR_RECEIVE_H

#include "am/am_state.h"

/* May some of what is in the inbox be taken? */
bool wtl_am_far_is_there(const wtl_am *am, enum wtl_am_way way);

/* Takes up to `most`, and returns how many. Only by the thread that has taken `am`. */
int wtl_am_far_take(wtl_am *am, enum wtl_am_way way, int most);

#endif
