/*
 * am_send.h - sending of requests and replies, and the counters of requests whose end is asked for (am.h has what other
 * rooms call).
 */
#ifndef WTL_AM_AM_SEND_H
#define WTL_AM_AM_SEND_H

#include "am/am_state.h"

/* To the PE `pe`: its request that it counts as number `counted` is done, and so many replies are on their way. */
void wtl_am_publish_counted(wtl_am *am, int pe, uint32_t counted, uint32_t replies);

/* Sends replies that found no room; true if any of them left. */
bool wtl_am_send_kept(wtl_am *am);

/*
 * A counted request of this PE is done and had so many replies; one of its replies has been handled. Its end is counted
 * when both are true of all: replies may be overtaken. A number that is nobody's is passed over.
 */
void wtl_am_count(wtl_am *am, uint32_t counted, uint32_t replies);
void wtl_am_count_reply(wtl_am *am, uint32_t counted);

void wtl_am_send_free(wtl_am *am);

#endif
