/*
 * am_far.h - active messages to PEs of other nodes, and their completion.
 *
 * A PE counts its messages to each other PE. With a message, or in quiet, it asks for an answer when so many have been
 * handled. The answer also has the number of replies that were sent. While an answer is pending, further messages are
 * early back and travel together. Counts, not the order of arrival, show completion, because long messages may be
 * overtaken. (am_far_receive.h has the other direction.)
 */
#ifndef WTL_AM_AM_FAR_H
#define WTL_AM_AM_FAR_H

#include "am/am_inbox.h"
#include "am/am_state.h"

/* Bytes of messages on their way from one PE to another of another node, at the most (but one message of any length).
 * Fewer where there are many PEs: what all of them send to one is WTL_AM_INBOX at most. */
enum { WTL_AM_WINDOW = 1 << 20, WTL_AM_LEAST_WINDOW = 1 << 16, WTL_AM_INBOX = 64 << 20 };

/* Bytes of replies that have come and are not handled, from which on a PE sends no more requests. */
enum { WTL_AM_REPLIES_KEPT = 4 << 20 };

/* What a message between nodes is: the kind of its tag, with the tag's numbers a and b. */
enum wtl_am_far_kind {
  WTL_FAR_REQUEST = 1, /* b: handler, and 1 << 32 times the number of the counter of its end */
  WTL_FAR_LANDED,      /* likewise; a: where in the target's slice its payload lies */
  WTL_FAR_REPLY,       /* b: as of a request */
  WTL_FAR_COUNTED,     /* b: a counted request is done; a: it had so many replies */
  WTL_FAR_ASK,         /* a: answer when so many requests have been handled */
  WTL_FAR_DONE,        /* a: so many have; b: so many replies were sent */
  WTL_FAR_ASKING       /* a request; a: as of ASK, which it saves */
};

/* One of the other PEs. Counts wrap. */
typedef struct wtl_am_peer {
  /* What this PE sent to it: messages and bytes, written by who sends (holding am->lock where several threads may). */
  _Atomic uint32_t sent;
  _Atomic uint64_t bytes;
  uint64_t seen; /* what had arrived here when the last message was sent */
  /* What it was asked and has said, written with am->lock early. */
  _Atomic uint32_t asked;
  uint64_t asked_bytes;
  _Atomic bool asks;           /* an answer is under way, with which what is early leaves; its arrival ends that */
  _Atomic uint64_t done_bytes; /* answered for */
  _Atomic uint32_t done;       /* handled there */
  _Atomic uint32_t due, taken; /* replies it says it sent, replies taken */
  /* What it sent to this PE. */
  uint32_t handled, wanted, replies;
  uint32_t early; /* requests that wait for their handlers: nothing is answered before they have run */
  bool wants;
} wtl_am_peer;

struct wtl_am_far {
  wtl_am_peer *peers;
  wtl_am_inbox inbox[WTL_AM_WAYS];
  uint64_t window;
  _Atomic uint64_t arrivals;
  _Atomic uint64_t replied, heard; /* bytes of replies: that came, that were handled */
  _Atomic uint32_t in_vain;
  bool early; /* something was said that has not been pushed */
};

/* Made when the first message goes to another node, or comes from there. */
wtl_am_far *wtl_am_far_of(wtl_am *am);

/* counted: 0, or this PE's number for who counts its end. */
void wtl_am_far_request(wtl_am *am, wtl_site *site, const wtl_am_request *r, uint32_t counted);
void wtl_am_far_reply(wtl_am *am, int pe, int id, uint32_t counted, const void *source, size_t n);
void wtl_am_far_publish_counted(wtl_am *am, int pe, uint32_t counted, uint32_t replies);

/* All requests so far, to PE `pe` or with -1 to all, and their replies. */
void wtl_am_far_quiet(wtl_am *am, wtl_site *site, int pe);

/* Sends off what was early back to travel together. By the thread that takes `am`, as what follows. */
void wtl_am_far_push(wtl_am *am);

/* A message from there has been handled; was_held: it waited for its handler (am_early.h). */
void wtl_am_far_handled(wtl_am *am, const wtl_am_message *m, bool was_held);

/* Messages of PE `pe`: it asks for an answer when `wanted` of its requests have been handled; it answers
 * (WTL_FAR_DONE). */
void wtl_am_far_asked(wtl_am *am, int pe, uint32_t wanted);
void wtl_am_far_done(wtl_am *am, int pe, const wtl_net_tag *tag);

void wtl_am_far_free(wtl_am *am);

#endif
