/* am_far_receive.h - active messages from PEs of other nodes. The thread that serves the network puts them into an
 * inbox. The thread that takes the messages of this PE takes them from there, as it does from the rings. */
#ifndef WTL_AM_AM_FAR_RECEIVE_H
#define WTL_AM_AM_FAR_RECEIVE_H

#include "am/am_state.h"

/* Returns whether a message of the inbox may be taken. */
bool wtl_am_far_is_there(const wtl_am *am, enum wtl_am_way way);

/* Takes up to `most` messages, and returns how many. For the thread that has taken `am`. */
int wtl_am_far_take(wtl_am *am, enum wtl_am_way way, int most);

#endif
