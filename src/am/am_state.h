/*
 * am_state.h - the state of a PE's active messages, which the files am*.c share, and which handler this thread runs.
 *
 * The files of the room stand on each other in this order; each calls only files before it, and its header declares
 * what it defines (am.h, for other rooms, has no file of its own):
 *
 *   am_ring, am_inbox    queues of messages, in the arena and from other nodes
 *   am_handlers          handlers by number
 *   am_state             this file
 *   am_order, am_wait    reports on mutexes; waiting for handlers
 *   am_head              waiting until a ring has space
 *   am_far               to other nodes: sending, and the counts that show completion
 *   am_send              requests, replies, counters of ends, quiet
 *   am_held              running the handler of a message, or holding the message until there is one
 *   am_far_receive       from other nodes: messages that arrive, and taking them
 *   am_run               taking turns: one thread of the PE takes messages from rings and inboxes
 *   am_agent, am_mutex   the thread that takes turns while the program computes; mutexes that handlers may share
 *   am_life              start and end, handlers that come and go
 */
#ifndef WTL_AM_AM_STATE_H
#define WTL_AM_AM_STATE_H

#include <pthread.h>

#include "am/am.h"
#include "am/am_ring.h"
#include "os/os.h"

/* A PE's rings. */
enum wtl_am_way { WTL_AM_REQUESTS, WTL_AM_REPLIES, WTL_AM_WAYS };

/* Who runs handlers (WATTLE_PROGRESS). */
enum wtl_am_progress { WTL_PROGRESS_AUTO, WTL_PROGRESS_CALLER, WTL_PROGRESS_AGENT };

/* Messages of a kind that are taken before who takes them looks whether what he waits for has come. */
enum { WTL_AM_TURN = 64, WTL_AM_MOMENT_NS = 10000 };

/* A message on its way to a handler. */
typedef struct wtl_am_message {
  int from; /* PE */
  int id;
  uint32_t counted; /* 0: nobody counts its end; else whose counter of the requester's */
  bool is_reply;
  void *data;
  size_t n;
} wtl_am_message;

typedef struct wtl_am_agent wtl_am_agent;
typedef struct wtl_am_counter wtl_am_counter; /* counts the end of a request (am_send.c) */
typedef struct wtl_am_far wtl_am_far;
typedef struct wtl_am_handlers wtl_am_handlers;
typedef struct wtl_am_early wtl_am_early;
typedef struct wtl_am_kept wtl_am_kept; /* a reply for which there was no room yet (am_send.c) */
typedef struct wtl_am_order wtl_am_order;
typedef struct wtl_am_whole wtl_am_whole; /* a message of which pieces have come (am_run.c) */

struct wtl_am {
  wtl_pe *pe;
  wtl_am_ring *rings; /* of the node: WTL_AM_WAYS for each slot */
  wtl_am_ring *mine;
  enum wtl_am_progress progress;
  uint64_t moment;                        /* ticks: WTL_AM_MOMENT_NS */
  _Atomic uint32_t taken;                 /* 1: a thread runs handlers */
  _Atomic uint64_t turns;                 /* how often one has done so */
  _Atomic uint32_t awaited;               /* threads that wait for such a turn to end */
  _Atomic uint32_t n_early;               /* messages that wait for their handlers (am_early.h) */
  _Atomic uint32_t attached, tried;       /* how often a handler was attached, as they know it */
  _Atomic uint64_t remind_at;             /* ns: when to say that one waits for long; 0: none did */
  _Atomic bool ends;                      /* no handler will be attached any more */
  _Atomic uint64_t position[WTL_AM_WAYS]; /* of the next message to take */
  uint64_t shown[WTL_AM_WAYS];            /* as `head` says it */
  _Atomic uint64_t *known[WTL_AM_WAYS];   /* by slot: its ring's head, as far as known */
  _Atomic uint64_t *_Atomic last;   /* by slot: 1 << 32 | position of the last request to it; 0: none since quiet */
  _Atomic uint32_t unquiet;         /* 1: the program has sent requests since it was last complete (wtl_am_complete) */
  _Atomic uint64_t serial;          /* of the last message in pieces */
  wtl_am_kept *kept, **kept_end;    /* of who runs handlers, as what follows */
  wtl_am_ring *_Atomic kept_ring;   /* the ring that the first one waits for; NULL: none is kept */
  wtl_am_early *early, **early_end; /* the oldest first */
  wtl_am_whole *wholes;
  wtl_site_table *sites; /* calls from handlers */
  uint32_t runs;
  pthread_mutex_t lock; /* for what follows */
  wtl_am_handlers *_Atomic handlers;
  wtl_am_counter *counters; /* by number, from 1 */
  uint32_t n_counters, free_counter;
  wtl_am_order *order;           /* WATTLE_AM_DEBUG's */
  _Atomic bool reported_locks;   /* that a thread which holds a mutex waits for long */
  _Atomic bool reported_handler; /* that a handler waits for a mutex for long */
  _Atomic(wtl_am_agent *) agent;
  wtl_am_far *_Atomic far; /* NULL where all PEs are on this node */
};

/* The handler that a thread runs, if any. Kept by value: a handler that leaves by longjmp leaves nothing else
 * behind. */
typedef struct wtl_am_thread {
  bool runs;
  bool is_reply;
  bool is_agent; /* the thread is a PE's agent */
  int id, from;
  uint32_t serial;
  uint32_t counted, replies; /* of the request: who counts its end, replies so far */
  const char *frame;         /* the stack below it is the handler's */
  int locks;                 /* mutexes that the thread holds */
} wtl_am_thread;

WTL_OS_THREAD_LOCAL(wtl_am_thread, wtl_am_of_thread, 1)
#define wtl_am_here (*wtl_am_of_thread_here())

static inline wtl_am_ring *wtl_am_ring_of(const wtl_am *am, int slot, enum wtl_am_way way)
{
  return &am->rings[(size_t)slot * WTL_AM_WAYS + way];
}

/* May this thread run handlers? Not one that runs one already, or holds a mutex, which a handler may want. */
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

/* Before a message is shown: who waits looks for messages from now on. Sequentially consistent, so that who is shown
 * the message is shown this, too, even where another sender has stored it. */
static inline void wtl_am_announce(wtl_bell *there)
{
  if (WTL_UNLIKELY(!atomic_load_explicit(&there->has_messages, memory_order_seq_cst)))
    atomic_store_explicit(&there->has_messages, 1, memory_order_seq_cst);
}

/* Does a thread of a PE of this node, or its agent, sleep? A full barrier must lie between what it is to see and
 * this. */
static inline bool wtl_am_has_sleeper(const wtl_control *there)
{
  return wtl_bell_has_sleeper(&there->bell) || wtl_bell_has_sleeper(&there->am_bell);
}

/* Tells a PE of this node that something waits in its rings. A full barrier must lie between. */
static inline void wtl_am_wake(wtl_control *there)
{
  if (wtl_bell_has_sleeper(&there->bell)) wtl_bell_ring(&there->bell);
  if (wtl_bell_has_sleeper(&there->am_bell)) wtl_bell_ring(&there->am_bell);
}

#endif
