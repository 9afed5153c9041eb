/*
 * am_space.h - waits until messages have been taken from a ring of the node: for space in it, or for the last message
 * of this PE.
 *
 * A PE publishes its condition in its control data. The thread that takes messages from the ring wakes only the PEs
 * whose condition now holds. Each time it frees a few slots, so waking all waiting PEs would cost more than their
 * messages.
 */
#ifndef WTL_AM_AM_SPACE_H
#define WTL_AM_AM_SPACE_H

#include "am/am_state.h"

/* Waits until much of the ring of requests of a slot is free. */
void wtl_am_wait_for_space(wtl_am *am, wtl_site *site, int slot);

/* Waits until the message at `position` has been handled. */
void wtl_am_wait_until_past(wtl_am *am, wtl_site *site, int slot, enum wtl_am_way way, uint32_t position);

/* Watches for space for pending replies to `slot`; -1: none are pending. It wakes this PE when there is space. */
void wtl_am_watch_space(wtl_am *am, int slot);

/* Publish the position up to which this PE has taken messages, for the thread that takes them. publish_head returns
 * true if the position is new to others. After a full barrier, wake_waiters wakes those that wait for it. */
bool wtl_am_publish_head(wtl_am *am, enum wtl_am_way way, uint64_t position);
void wtl_am_wake_waiters(wtl_am *am, enum wtl_am_way way);

#endif
