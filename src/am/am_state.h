/*
 * am_state.h - the state of the active messages of a PE, and the handler that a thread runs.
 *
 * The files of the room use each other in this order. Each calls only files before it, and its header declares what it
 * defines. am.h declares the functions for other rooms and has no file of its own.
 *
 *   am_ring, am_inbox    queues of messages, in the arena and from other nodes
 *   am_handlers          handlers by number
 *   am_state             this file
 *   am_order, am_wait    reports on mutexes; waits for handlers
 *   am_space             waits for space in a ring
 *   am_far               to other nodes: sending, and the counts that show completion
 *   am_send              requests, replies, counters of completions, quiet
 *   am_early             runs the handler of a message, or keeps the message until the handler is attached
 *   am_far_receive       from other nodes: messages that arrive, and taking them
 *   am_run               one thread of the PE takes messages from rings and inboxes
 *   am_agent, am_mutex   the thread that takes messages while the program computes; mutexes for handlers
 *   am_life              start and end; attaching and detaching handlers
 */
#ifndef WTL_AM_AM_STATE_H
#define WTL_AM_AM_STATE_H

#include <pthread.h>

#include "am/am.h"
#include "am/am_ring.h"
#include "os/os.h"

/* The rings of a PE. */
enum wtl_am_way { WTL_AM_REQUESTS, WTL_AM_REPLIES, WTL_AM_WAYS };

/* The threads that run handlers (WATTLE_PROGRESS). */
enum wtl_am_progress { WTL_PROGRESS_AUTO, WTL_PROGRESS_CALLER, WTL_PROGRESS_AGENT };

/* A thread takes up to this many messages of a kind, and messages from other nodes for this time, before it checks
 * its own condition. */
enum { WTL_AM_TURN = 64, WTL_AM_MOMENT_NS = 10000 };

/* A message on its way to a handler. */
typedef struct wtl_am_message {
  int from; /* PE */
  int id;
  uint32_t counted; /* 0: not counted; else the number of its counter at the requester */
  bool is_reply;
  void *data;
  size_t n;
  uint16_t mark; /* of the call site that sent a request (profile/served.h) */
} wtl_am_message;

typedef struct wtl_am_agent wtl_am_agent;
typedef struct wtl_am_counter wtl_am_counter; /* counts the completion of a request (am_send.c) */
typedef struct wtl_am_far wtl_am_far;
typedef struct wtl_am_handlers wtl_am_handlers;
typedef struct wtl_am_early wtl_am_early;
typedef struct wtl_am_pending wtl_am_pending; /* a reply that found no space (am_send.c) */
typedef struct wtl_am_order wtl_am_order;
typedef struct wtl_am_whole wtl_am_whole; /* a message that has arrived in part (am_run.c) */

struct wtl_am {
  wtl_pe *pe;
  wtl_am_ring *rings; /* of the node: WTL_AM_WAYS for each slot */
  wtl_am_ring *mine;
  enum wtl_am_progress progress;
  uint64_t moment;                        /* ticks: WTL_AM_MOMENT_NS */
  _Atomic uint32_t taken;                 /* 1: a thread takes messages and runs handlers */
  _Atomic uint64_t turns;                 /* how often one has done so */
  _Atomic uint32_t awaited;               /* threads that wait until another one has taken messages */
  _Atomic uint32_t n_early;               /* early messages (am_early.h) */
  _Atomic uint32_t attached, tried;       /* attachments of handlers: so far; when early messages were last tried */
  _Atomic uint64_t remind_at;             /* ns: when to report an early message; 0: there was none yet */
  _Atomic bool ends;                      /* no handler will be attached any more */
  _Atomic uint64_t position[WTL_AM_WAYS]; /* position of the next message to take */
  uint64_t shown[WTL_AM_WAYS];            /* the last value stored to `head` */
  _Atomic uint64_t *known[WTL_AM_WAYS];   /* by slot: the head of its ring, as last read */
  _Atomic uint64_t *_Atomic last; /* by slot: 1 << 32 | position of the last request to it; 0: none since quiet */
  _Atomic uint32_t unquiet;       /* 1: the program has sent requests since it was last complete (wtl_am_complete) */
  _Atomic uint64_t serial;        /* number of the last message in pieces */
  wtl_am_pending *pending, **pending_end; /* used by the thread that runs handlers, as are the next members */
  wtl_am_ring *_Atomic pending_ring;      /* the ring with too little space for the first one; NULL: none is pending */
  wtl_am_early *early, **early_end;       /* the oldest first */
  wtl_am_whole *wholes;
  wtl_site_table *sites; /* sites of calls from handlers */
  wtl_served served;     /* by the handlers of requests */
  uint32_t runs;
  pthread_mutex_t lock; /* protects the members below */
  wtl_am_handlers *_Atomic handlers;
  wtl_am_counter *counters; /* by number, from 1 */
  uint32_t n_counters, free_counter;
  wtl_am_order *order;           /* for WATTLE_AM_DEBUG */
  _Atomic bool reported_locks;   /* a long wait in a thread that holds a mutex was reported */
  _Atomic bool reported_handler; /* a long wait of a handler for a mutex was reported */
  _Atomic(wtl_am_agent *) agent;
  wtl_am_far *_Atomic far; /* NULL where all PEs are on this node */
};

/* The handler that a thread runs, if any. It is kept by value, so that a handler that leaves by longjmp leaves
 * nothing else behind. */
typedef struct wtl_am_thread {
  bool runs;
  bool is_reply;
  bool is_agent; /* the thread is the agent of a PE */
  int id, from;
  uint32_t serial;
  uint32_t counted, replies; /* of the request: the number of its counter, and the replies so far */
  const char *frame;         /* the stack below this address belongs to the handler */
  int locks;                 /* mutexes that the thread holds */
} wtl_am_thread;

WTL_OS_THREAD_LOCAL(wtl_am_thread, wtl_am_of_thread, 1)
#define wtl_am_here (*wtl_am_of_thread_here())

static inline wtl_am_ring *wtl_am_ring_of(const wtl_am *am, int slot, enum wtl_am_way way)
{
  return &am->rings[(size_t)slot * WTL_AM_WAYS + way];
}

/* Returns whether this thread may run handlers. A thread that runs one already, or holds a mutex that a handler may
 * need, may not. */
static inline bool wtl_am_may_take(const wtl_am *am)
{
  const wtl_am_thread *here = &wtl_am_here;
  if (here->runs) {
    if ((const char *)__builtin_frame_address(0) > here->frame) wtl_am_refuse_in_handler("active messages");
    return false;
  }
  if (here->locks) return false;
  return am->progress == WTL_PROGRESS_AUTO || (am->progress == WTL_PROGRESS_AGENT) == here->is_agent;
}

/* Before a message is published: makes the waits of its target check for messages from now on. Sequentially
 * consistent, so that a PE that sees the message also sees this, even if another sender has stored it. */
static inline void wtl_am_announce(wtl_bell *there)
{
  if (WTL_UNLIKELY(!atomic_load_explicit(&there->has_messages, memory_order_seq_cst)))
    atomic_store_explicit(&there->has_messages, 1, memory_order_seq_cst);
}

/* Returns whether a thread or the agent of a PE of this node sleeps. A full barrier must lie between the store that
 * it is to see and this. */
static inline bool wtl_am_has_sleeper(const wtl_control *there)
{
  return wtl_bell_has_sleeper(&there->bell) || wtl_bell_has_sleeper(&there->am_bell);
}

/* After how many nanoseconds a wait, or a message without a handler, is reported. */
uint64_t wtl_am_patience_ns(const wtl_am *am);

/* Wakes a PE of this node for messages in its rings. A full barrier must lie between the store of the message and
 * this. */
static inline void wtl_am_wake(wtl_control *there)
{
  if (wtl_bell_has_sleeper(&there->bell)) wtl_bell_ring(&there->bell);
  if (wtl_bell_has_sleeper(&there->am_bell)) wtl_bell_ring(&there->am_bell);
}

#endif
