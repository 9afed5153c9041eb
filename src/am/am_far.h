/*
 * am_far.h - active messages to PEs of other nodes, and their completion.
 *
 * A PE counts its messages to each other PE. With a message, or in quiet, it asks for an answer when that many have
 * been handled. The answer also has the number of replies that were sent. While an answer is pending, further messages
 * are held back and travel together. Counts show completion, not the order of arrival, because long messages may be
 * overtaken. am_far_receive.h has the other direction.
 */
#ifndef WTL_AM_AM_FAR_H
#define WTL_AM_AM_FAR_H

#include "am/am_inbox.h"
#include "am/am_state.h"

/* The most bytes pending from one PE to a PE of another node; one message of any length may exceed them. With many
 * PEs the window is smaller: all of them together may send WTL_AM_INBOX bytes to one PE. */
enum { WTL_AM_WINDOW = 1 << 20, WTL_AM_LEAST_WINDOW = 1 << 16, WTL_AM_INBOX = 64 << 20 };

/* A PE sends no more requests while it has this many bytes of replies to handle. */
enum { WTL_AM_MOST_REPLIES = 4 << 20 };

/* The kind of a message between nodes, stored in its tag, and the meaning of the numbers a and b of the tag. */
enum wtl_am_far_kind {
  WTL_FAR_REQUEST = 1, /* b: the handler, and 1 << 32 times the number of the counter of its completion */
  WTL_FAR_LANDED,      /* as REQUEST; a: the offset of its payload in the slice of the target */
  WTL_FAR_REPLY,       /* b: as for a request */
  WTL_FAR_COUNTED,     /* b: the counter of a request that is complete; a: the number of its replies */
  WTL_FAR_ASK,         /* a: answer when this many requests have been handled */
  WTL_FAR_DONE,        /* a: this many have been handled; b: this many replies were sent */
  WTL_FAR_ASKING       /* a request; a: as for ASK, which it replaces */
};

/* The state for one other PE. Counts wrap. */
typedef struct wtl_am_peer {
  /* Sent to it: messages and bytes. Written by the sender, with am->lock if several threads may send. */
  _Atomic uint32_t sent;
  _Atomic uint64_t bytes;
  uint64_t seen; /* arrivals here when the last message was sent */
  /* Questions to it and its answers. Written with am->lock. */
  _Atomic uint32_t asked;
  uint64_t asked_bytes;
  _Atomic bool asks;           /* an answer is pending; held messages leave when it arrives */
  _Atomic uint64_t done_bytes; /* bytes for which it answered */
  _Atomic uint32_t done;       /* messages that it has handled */
  _Atomic uint32_t due, taken; /* the replies that it sent, by its last answer; replies taken here */
  /* Received from it. */
  uint32_t handled, wanted, replies;
  uint32_t early; /* early requests: no answer is sent before they have run */
  bool wants;
} wtl_am_peer;

struct wtl_am_far {
  wtl_am_peer *peers;
  wtl_am_inbox inbox[WTL_AM_WAYS];
  uint64_t window;
  _Atomic uint64_t arrivals;
  _Atomic uint64_t reply_bytes, reply_bytes_handled; /* bytes of replies: received, and handled */
  _Atomic uint32_t useless_answers;
  bool unsent; /* messages are held that have not been pushed */
};

/* Returns the state, which is made when the first message goes to another node or comes from one. */
wtl_am_far *wtl_am_far_of(wtl_am *am);

/* Send a request, a reply, and the notice that a counted request is complete. `counted`: the number of the counter
 * at the requester, or 0. */
void wtl_am_far_request(wtl_am *am, wtl_site *site, const wtl_am_request *r, uint32_t counted);
void wtl_am_far_reply(wtl_am *am, int pe, int id, uint32_t counted, const void *source, size_t n);
void wtl_am_far_publish_counted(wtl_am *am, int pe, uint32_t counted, uint32_t replies);

/* Waits until all requests so far to PE `pe` (-1: to all PEs) and their replies are handled. */
void wtl_am_far_quiet(wtl_am *am, wtl_site *site, int pe);

/* Sends the messages that were held back to travel together. This and the functions below are for the thread that
 * takes `am`. */
void wtl_am_far_push(wtl_am *am);

/* Counts a message that has been handled. `was_held`: it was early (am_early.h). */
void wtl_am_far_handled(wtl_am *am, const wtl_am_message *m, bool was_held);

/* Handle messages of PE `pe`: it asks for an answer when `wanted` of its requests have been handled; it answers
 * (WTL_FAR_DONE). */
void wtl_am_far_asked(wtl_am *am, int pe, uint32_t wanted);
void wtl_am_far_done(wtl_am *am, int pe, const wtl_net_tag *tag);

void wtl_am_far_free(wtl_am *am);

#endif
