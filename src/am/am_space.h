/*
 * am_space.h - waiting until messages have been taken from a ring of the node: for room in it, or for one's own last
 * message.
 *
 * A PE says in its control data what it waits for, so that who takes rings only those for whom it has come. (Each turn
 * frees a few places: to wake all PEs that want some would cost more than what they then send.)
 */
#ifndef WTL_AM_AM_SPACE_H
#define WTL_AM_AM_SPACE_H

#include "am/am_state.h"

/* Until the ring of requests of a node's slot has much room. */
void wtl_am_wait_for_space(wtl_am *am, wtl_site *site, int slot);

/* Until the message at `position` has been taken. */
void wtl_am_wait_until_past(wtl_am *am, wtl_site *site, int slot, enum wtl_am_way way, uint32_t position);

/* Who keeps replies for `slot` (-1: for nobody any more) is rung when there is room for one. */
void wtl_am_watch_space(wtl_am *am, int slot);

/* By the thread that takes from this PE's ring: shows that it has come to `position`. True if others did not know yet;
 * after a full barrier they are told. */
bool wtl_am_publish_head(wtl_am *am, enum wtl_am_way way, uint64_t position);
void wtl_am_wake_waiters(wtl_am *am, enum wtl_am_way way);

#endif
