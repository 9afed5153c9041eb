/*
 * am_early.h - runs the handler of a message; a message that came before its handler was attached waits for it.
 *
 * Attaching does not synchronise, so a message may be early. One in a ring stays where it is, and so does the ring's
 * head: its sender's quiet waits for it, and when the ring is full who sends waits, as for any slow PE; what came later
 * is handled meanwhile. One from another node is kept aside, and its sender, who has no answer, has a window. Messages
 * of one PE for one handler stay in order.
 *
 * One that has waited for WATTLE_AM_PATIENCE is said, once; one that still waits when its PE ends, or comes then, ends
 * the job. All by who has taken `am`, but where said.
 */
#ifndef WTL_AM_AM_EARLY_H
#define WTL_AM_AM_EARLY_H

#include "am/am_state.h"

/* Runs the handler of a message, and counts the end of a request or a reply. False: it must wait (wtl_am_early_keep). */
bool wtl_am_run(wtl_am *am, const wtl_am_message *m);

/* at: its position in the ring of its way; NULL: from another node. owned: freed when it has been handled. */
void wtl_am_early_keep(wtl_am *am, const wtl_am_message *m, const uint64_t *at, void *owned);

/* Handles those that may be by now; true if any. */
bool wtl_am_early_retry(wtl_am *am);

/* Where the head of a ring stays because of them. */
uint64_t wtl_am_early_position(const wtl_am *am, enum wtl_am_way way, uint64_t position);

/* Any thread: is there something to do about them? */
bool wtl_am_early_is_due(const wtl_am *am);

/* Any thread: a handler was attached, or none will be any more. True: messages wait, and are to be looked at again. */
bool wtl_am_early_attached(wtl_am *am);

void wtl_am_early_free(wtl_am *am);

#endif
