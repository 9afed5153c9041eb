/*
 * am.h - active messages: a request runs a handler on another PE, which may send a reply. The interface for other
 * rooms.
 *
 * DESIGN
 *
 * A message waits in its target's message rings in the arena (am_ring.h), one for requests and one for replies. A
 * message from another node waits in the target's inbox (am_far_receive.h).
 *
 * One thread of the PE at a time takes messages, the first that polls. That is a thread that waits in any call
 * (through the door), one that calls shmemx_am_poll, or the agent (am_agent.h) while the program computes. So the
 * handlers of a PE run one at a time, in the order of each sender's messages. Only long ones from other nodes may be
 * overtaken.
 *
 *   sender                                     target
 *   claims a slot (compare-and-swap)           sets `taken`; another thread that has it takes the messages instead
 *   fills it in, stores the slot's turn        reads the slot whose turn has come, runs the handler
 *   full barrier                               the reply goes to the sender's ring of replies
 *   loads the sleepers, rings the doorbell     advances the head of the ring, clears `taken`
 *                                              full barrier; polls once more, and wakes a sleeper for new messages
 *
 * No message is forgotten. A sender that sees no sleeper has stored its message before the target's last poll. A sender
 * that sees the messages being taken relies on that thread's last poll, which follows its barrier (am_run.c).
 * tests/model runs both sides in all orders.
 *
 * No deadlock. A thread that waits for space in a ring runs handlers meanwhile. A reply that finds no space is kept,
 * and no further request is taken until it has left. Replies are always taken, and their handlers send nothing.
 *
 * Completion: the head of a ring passes a request when its handler has run and its reply is in its requester's ring, so
 * quiet waits for heads. Between nodes, counts show it (am_far.h). A request with a counter reports its own completion
 * (am_send.h).
 *
 * Memory is bounded: a ring has a fixed size, and a PE has at most WTL_AM_WINDOW bytes pending to a PE of another node.
 *
 * Failures: a handler that waits for a mutex stops all handlers of its PE; WATTLE_AM_DEBUG reports it (am_order.h). A
 * handler that is left by longjmp has not ended; the next call reports it. An early message waits for its handler
 * (am_early.h), and is an error when the PE ends.
 */
#ifndef WTL_AM_AM_H
#define WTL_AM_AM_H

#include <limits.h>

#include "fabric/net.h"
#include "pgas/pe.h"

typedef struct wtl_am wtl_am; /* the state of a PE (am_state.h) */

typedef uint64_t wtl_am_token; /* the PE of the requester, and the run of a handler that may use it */

typedef void (*wtl_am_handler)(void *buf, size_t n, int pe, wtl_am_token token);

enum { WTL_AM_LONGEST = 1 << 30 }; /* largest payload, in bytes */

/* Handler numbers below this one belong to the runtime. They start no agent: the agent of the network serves
 * messages from other nodes, and a PE that waits for one from its node polls for it. */
enum { WTL_AM_FIRST_ID = INT_MIN + 16 };
enum { WTL_AM_PACKED = INT_MIN, WTL_AM_PACKED_REPLY, WTL_AM_POSTED };

/* Returns the size, in bytes, of the message rings of a node with `n_local` PEs, in the arena. */
size_t wtl_am_ring_bytes(int n_local);

/* Starts active messages. `rings`: memory of wtl_am_ring_bytes, zeroed, shared by the PEs of the node. Ends the
 * process without memory. */
void wtl_am_start(wtl_pe *self, char *rings);

/* Begins the end of the PE: from now on, a message without a handler ends the job. */
void wtl_am_end(wtl_pe *self);

/* Stops the agent. The messages of all PEs must be handled (wtl_am_quiet and a barrier). */
void wtl_am_stop(wtl_pe *self);
void wtl_am_free(wtl_pe *self);

/* Changes WATTLE_PROGRESS=caller to auto: the runtime itself needs handlers that run while the program computes.
 * Call it before any message. */
void wtl_am_serve(wtl_pe *self);

/* Attaches a handler. `call` is the name of the routine for errors and reports, here and below. */
void wtl_am_attach(wtl_pe *self, const char *call, int id, wtl_am_handler handler);

/* Detaches the handler: a later message for it ends the job. If another thread runs it, waits until it has ended. It
 * does not wait if this thread holds a mutex, which the handler may need. */
void wtl_am_detach(wtl_pe *self, wtl_site *site, const char *call, int id);

/* A request. Members that it does not use are 0. */
typedef struct wtl_am_request {
  const char *call; /* name of the routine for reports; NULL: the runtime's own request */
  int pe, id;       /* the handler `id` of PE `pe` */
  const void *source;
  size_t n;       /* bytes of payload at `source`, which may be reused on return */
  void *target;   /* not NULL: the payload is put to this symmetric object, and the handler finds it there */
  uint64_t *done; /* not NULL: grows by 1 when the handler and the handlers of its replies have run */
  bool more; /* more requests to this PE follow at once; the last one, without `more`, asks for the completion of all */
} wtl_am_request;

/* Sends a request. If too much is pending, waits and runs handlers meanwhile. */
void wtl_am_request_send(wtl_pe *self, wtl_site *site, const wtl_am_request *r);

/* Sends a reply. Call it only in the handler of a request, with its token. */
void wtl_am_reply(wtl_pe *self, const char *call, int id, const void *source, size_t n, wtl_am_token token);

/* Waits until the handlers of all requests of this PE so far, and of their replies, have run. */
void wtl_am_quiet(wtl_pe *self, wtl_site *site, const char *call);

/* Waits like wtl_am_quiet for the requests to one PE of another node. */
void wtl_am_pe_quiet(wtl_pe *self, wtl_site *site, int pe);

/* Does wtl_am_quiet for a barrier. It costs nothing if the program has sent no request since the last one. */
void wtl_am_complete(wtl_pe *self, wtl_site *site, const char *call);

/* Runs the handlers of messages that have arrived. Returns true if any ran. */
bool wtl_am_poll(wtl_pe *self);

/* Messages that arrive for `pe`, a wtl_pe, from other nodes (the home functions of fabric/net.h). */
bool wtl_am_far_message(void *pe, int from, wtl_net_tag tag, const void *data, size_t n, uint32_t count);
void *wtl_am_far_buffer(void *pe, int from, wtl_net_tag tag, size_t n);
void wtl_am_far_landed(void *pe, int from, wtl_net_tag tag, void *buffer, size_t n);

/* Adds the requests that handlers of this PE have served to `to`. Returns the CPU time of its agent in seconds, 0
 * without one; NaN: not known, and nothing is added if another thread keeps running handlers. */
double wtl_am_served(wtl_pe *self, wtl_served *to);

/* Runs handlers in the agent of the network, if it may. `am`: the state of a PE. */
bool wtl_am_agents_turn(void *am);

/* Ends the job if this thread runs a handler: a handler may not call `call`. */
void wtl_am_refuse_in_handler(const char *call);

#endif
