/*
 * am_early.h - runs the handler of a message, and keeps a message that arrived before its handler was attached.
 *
 * Attaching does not synchronize, so a message may be early. An early message of this node stays in its ring, and the
 * head of the ring stays before it. The quiet of its sender waits for it, and a sender that finds the ring full waits
 * as for any slow PE. Later messages are handled meanwhile. An early message of another node is kept in memory. Its
 * sender receives no answer, and its window bounds what it may send. Messages from one PE for one handler stay in
 * order.
 *
 * After WATTLE_AM_PATIENCE the runtime reports an early message once. A message that is early when its PE ends, or
 * arrives then, ends the job. Only the thread that has taken `am` may call a function, unless its comment says
 * otherwise.
 */
#ifndef WTL_AM_AM_EARLY_H
#define WTL_AM_AM_EARLY_H

#include "am/am_state.h"

/* Runs the handler of a message, and counts the completion of a request or a reply. Returns false if the message
 * must be kept (wtl_am_early_keep). */
bool wtl_am_run(wtl_am *am, const wtl_am_message *m);

/* Keeps a message. `at`: its position in its ring; NULL: it is from another node. `owned`: memory to free when it
 * has been handled. */
void wtl_am_early_keep(wtl_am *am, const wtl_am_message *m, const uint64_t *at, void *owned);

/* Handles the early messages whose handlers are attached now. Returns true if there were any. */
bool wtl_am_early_retry(wtl_am *am);

/* Returns the position at which early messages keep the head of a ring, or else `position`. */
uint64_t wtl_am_early_position(const wtl_am *am, enum wtl_am_way way, uint64_t position);

/* Returns whether an early message can be handled or must be reported. Any thread. */
bool wtl_am_early_is_due(const wtl_am *am);

/* Notes that a handler was attached, or that none will be any more. Returns true if early messages must be tried
 * again. Any thread. */
bool wtl_am_early_attached(wtl_am *am);

void wtl_am_early_free(wtl_am *am);

#endif
