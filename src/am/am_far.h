/*
 * am_far.h - active messages from and to other nodes.
 *
 * What arrives is put into the inbox, by whoever serves the network, and taken from there like what is in the rings. A
 * PE counts what it sent to each other one and asks, together with a message or in quiet, to be told when so many have
 * been handled; the answer also says how many replies are on their way. While an answer is awaited further messages are
 * held back to travel together. Counts, not the order of arrival, tell what is complete: long messages may be
 * overtaken.
 */
#ifndef WTL_AM_AM_FAR_H
#define WTL_AM_AM_FAR_H

#include "am/am_state.h"

/* Bytes of messages on their way from one PE to another of another node, at the most (but one message of any length).
 * Fewer where there are many PEs: what all of them send to one is WTL_AM_INBOX at most. */
enum { WTL_AM_WINDOW = 1 << 20, WTL_AM_LEAST_WINDOW = 1 << 16, WTL_AM_INBOX = 64 << 20 };

/* Bytes of replies that have come and are not handled, from which on a PE sends no more requests. */
enum { WTL_AM_REPLIES_KEPT = 4 << 20 };

/* The network's home has these of it (fabric/net.h). */
bool wtl_am_far_message(void *self, int from, wtl_net_tag tag, const void *data, size_t n, uint32_t count);
void *wtl_am_far_room(void *self, int from, wtl_net_tag tag, size_t n);
void wtl_am_far_landed(void *self, int from, wtl_net_tag tag, void *room, size_t n);

/* counted: 0, or this PE's number for who counts its end. */
void wtl_am_far_request(wtl_am *am, wtl_site *site, const wtl_am_request *r, uint32_t counted);
void wtl_am_far_reply(wtl_am *am, int pe, int id, uint32_t counted, const void *source, size_t n);
void wtl_am_far_say_counted(wtl_am *am, int pe, uint32_t counted, uint32_t replies);

/* All requests so far, to PE `pe` or with -1 to all, and their replies. */
void wtl_am_far_quiet(wtl_am *am, wtl_site *site, int pe);

/* What waits in the inbox: may some of it be taken; takes up to `most`, and says how many; sends the replies off. The
 * last two only by who has taken `am`. */
bool wtl_am_far_is_there(const wtl_am *am, enum wtl_am_way way);
int wtl_am_far_take(wtl_am *am, enum wtl_am_way way, int most);
void wtl_am_far_push(wtl_am *am);

/* A message that was held has been handled (am_held.h). */
void wtl_am_far_handled(wtl_am *am, const wtl_am_message *m);

void wtl_am_far_free(wtl_am *am);

#endif
