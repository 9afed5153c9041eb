/* am_send.h - sends requests and replies, and counts completions of requests (am.h declares the functions for other
 * rooms). */
#ifndef WTL_AM_AM_SEND_H
#define WTL_AM_AM_SEND_H

#include "am/am_state.h"

/* Notifies PE `pe` that its request with counter `counted` is complete and had `replies` replies. */
void wtl_am_publish_counted(wtl_am *am, int pe, uint32_t counted, uint32_t replies);

/* Sends replies that found no space before. Returns true if any were sent. */
bool wtl_am_send_pending(wtl_am *am);

/* Count for a request of this PE: it is complete and had `replies` replies; one of its replies has been handled.
 * `done` is incremented when both hold for all replies, as replies may be overtaken. A number without a counter is
 * ignored. */
void wtl_am_count(wtl_am *am, uint32_t counted, uint32_t replies);
void wtl_am_count_reply(wtl_am *am, uint32_t counted);

void wtl_am_send_free(wtl_am *am);

#endif
