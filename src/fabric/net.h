/*
 * net.h - sends bytes to PEs of other nodes over a transport (transport.h).
 *
 * A place on a PE is (segment, offset). The caller defines the segments: its callback `find` maps a place to memory of
 * this process or refuses it. So no message writes outside the memory that is offered.
 *
 * DESIGN
 *
 * Operations. A put, a get or an atomic operation is a message (wire.h) that the target's CPU executes. If hardware can
 * move bytes, puts and gets of the WTL_NET_OPEN_SEGMENTS use it, piece by piece, once the target has sent the key of a
 * piece. Where no thread awaits stores, puts of up to WTL_NET_MERGED bytes are messages, which keep their order. Puts
 * by hardware ring no doorbell. So a PE whose threads may sleep posts a notice at the PEs that have its keys
 * (wtl_net_post_notice). They ring it, and send puts of up to WTL_NET_MERGED bytes by messages.
 *
 * Order. Messages from one PE to another arrive in order. Exceptions are puts of WTL_NET_LARGE bytes or more and
 * operations by hardware: they may overtake and be overtaken (wtl_net_in_order).
 *
 * Completion. An operation with a counter `left` adds 1 to it. It subtracts 1 when the result is there or the source is
 * no longer needed. All else, and everything at the target, is complete when wtl_net_flushed is true for a later
 * wtl_net_flush.
 *
 * Threads. Any thread may call; a lock orders the calls. Handlers of messages run in the thread that makes progress.
 */
#ifndef WTL_FABRIC_NET_H
#define WTL_FABRIC_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/amo.h"
#include "base/settings.h"
#include "node/boot.h"
#include "profile/served.h"

/*
 * Sizes in bytes. Puts of up to MERGED share messages; where the caller batches (wtl_net_batch), those of up to BATCHED
 * do so even if hardware could take them. Puts of LARGE or more may be overtaken. A put or a get has at most MOST. With
 * its headers this is what UCX reads from a connection at a time (ucx/transport_ucx.c), so it is sent at once.
 */
enum { WTL_NET_BATCHED = 256, WTL_NET_MERGED = 8192, WTL_NET_LARGE = 32768, WTL_NET_MOST = 124 << 10 };
/* Hardware may reach the first segments. Threads wait for plain stores to one of them alone. */
enum { WTL_NET_OPEN_SEGMENTS = 2, WTL_NET_AWAITED_SEGMENT = 0 };

typedef struct wtl_net wtl_net;

/* Counters by which a thread waits for the operations that have begun, and for no later ones. They may be read without
 * the network's lock. */
typedef struct wtl_net_bins {
  _Atomic uint32_t left[2]; /* pending operations, in two bins */
  /* The last bit is the bin for new operations; a wait closes that bin, so it waits for no later ones. */
  _Atomic uint64_t turn;
  /* The operations by hardware so far, whose flush is one for all; and how many of them a flush that has ended covers.
   * A flush that another thread has only begun does not count. */
  _Atomic uint64_t by_hardware, flushed;
} wtl_net_bins;

/*
 * A set of operations that are completed together and apart from all others: those of one context. Operations without a
 * flow (NULL) belong to the PE, and wtl_net_flush completes them. All fields but the bins are private to the network.
 */
typedef struct wtl_net_flow {
  wtl_net_bins all;        /* of all its operations */
  wtl_net_bins *to;        /* by PE: of its operations on that PE */
  unsigned char *is_dirty; /* by PE: something was sent there since completion was last requested */
  unsigned char *in_dirty; /* by PE: it is listed in `dirty` */
  int *dirty, n_dirty;
  bool batches; /* wtl_net_batch */
  /* Operations so far that may overtake or be overtaken, and how many of them a flush that has ended covers. */
  _Atomic uint64_t disordered, ordered;
} wtl_net_flow;

/* The operations that a flush covers: of `disordered` and `by_hardware`, and its turn. */
typedef struct wtl_net_covered {
  uint64_t disordered, by_hardware, turn;
} wtl_net_covered;

typedef struct wtl_place {
  uint64_t offset;
  uint32_t segment;
} wtl_place;

/* The caller's description of its own message. */
typedef struct wtl_net_tag {
  uint64_t a, b;
  uint32_t kind;
  uint16_t mark; /* of the call site that sent it, or WTL_SERVED_ANSWER (profile/served.h) */
  bool joins;    /* of the program: successive short ones of this tag and length may reach the callbacks together */
} wtl_net_tag;

/* The caller's functions for messages from other PEs. They are called with the network's lock held, so they must not
 * call the network or wait. */
typedef struct wtl_net_callbacks {
  void *owner;
  uint64_t (*open_bytes)(void *owner, uint32_t segment);  /* of an open segment, the same on every PE; 0: none yet */
  void *(*find)(void *owner, wtl_place at, uint64_t n);   /* NULL: not all of it exists */
  void (*changed)(void *owner, wtl_place at, uint64_t n); /* `n` bytes were stored, and a full barrier followed */
  void (*completed)(void *owner);                         /* an operation of this PE is complete */
  /* `count` messages of `n` bytes each from PE `from`, in sequence, each padded to 8 bytes. The data are valid during
   * the call. False: they are malformed. */
  bool (*message)(void *owner, int from, wtl_net_tag tag, const void *data, size_t n, uint32_t count);
  /* For a long message: `buffer` returns the memory for its data, or NULL to drop it. `landed` is called when they are
   * there. */
  void *(*buffer)(void *owner, int from, wtl_net_tag tag, size_t n);
  void (*landed)(void *owner, int from, wtl_net_tag tag, void *buffer, size_t n);
  /* Does a thread sleep that a store to WTL_NET_AWAITED_SEGMENT may wake? NULL: none does. */
  bool (*sleeps)(void *owner);
  /* Called without the lock when the program is about to end the library under the network. The PE must end first. */
  void (*closing)(void *owner);
} wtl_net_callbacks;

/* How a put, or an atomic operation without a result, is sent. With WATTLE_MERGE=off nothing is HELD. */
enum wtl_net_send_mode {
  /* At once. Requests completion in the same message, unless a request is pending. After four small operations in a row
   * to one PE without a wait, as HELD. */
  WTL_NET_NOW,
  WTL_NET_HELD, /* batched with later messages while an answer is pending */
  /* The caller sends more to the same PE next, and requests completion only then. Small ones travel in the same
   * message. */
  WTL_NET_MORE,
  WTL_NET_SIGNAL, /* at once, always as a message; no flush waits for it */
  /* in front of the caller's next signal or message to the same PE; up to WTL_NET_MERGED bytes in the same message */
  WTL_NET_AHEAD
};

/* A put, a get or an atomic operation: its target and its completion. */
typedef struct wtl_net_op {
  wtl_net_flow *flow; /* NULL: the PE's own operations */
  int pe;
  wtl_place at;
  enum wtl_net_send_mode mode; /* of puts, and of atomic operations without a result */
  _Atomic uint32_t *left;      /* NULL: complete with the next flush */
  uint16_t mark;               /* of its call site (profile/served.h) */
} wtl_net_op;

/* For the profile and the tests. */
typedef struct wtl_net_counts {
  uint64_t foreign;                    /* messages dropped because they belong to no job or another one */
  uint64_t malformed;                  /* messages dropped because of a wrong length, place or token */
  uint64_t sent, received;             /* messages, without dropped ones */
  uint64_t bytes_sent, bytes_received; /* in them, with headers */
  uint64_t merged;                     /* operations that left in a message which an earlier one began */
  uint64_t single;                     /* short messages with one operation, and the ticks to send them: */
  uint64_t single_ticks, least_ticks;  /* of all of them, and of the quickest */
  uint64_t rma_bytes;                  /* moved by hardware for this PE's puts and gets */
} wtl_net_counts;

/* Starts the network `name`. Collective. Returns 0, or an exit code with the reason in `error`. */
int wtl_net_open(wtl_net **net, const char *name, const wtl_settings *settings, wtl_boot *boot,
                 const wtl_net_callbacks *callbacks, char *error, size_t size);

/* Called when this PE's operations are complete and no more will come. From then on a lost PE is not an error. */
void wtl_net_ending(wtl_net *net);
void wtl_net_close(wtl_net *net);

/* May this PE send and fetch more? If not, the caller waits and makes progress. This bounds the pending operations. */
bool wtl_net_has_space(const wtl_net *net);

/* Returns NULL if there is no memory. */
wtl_net_flow *wtl_net_flow_open(const wtl_net *net);
void wtl_net_flow_close(wtl_net_flow *flow); /* no operation may be pending */

/* From now on small operations of `flow` (NULL: the PE's own) may be HELD in any mode, and puts of up to
 * WTL_NET_BATCHED go by messages although hardware could take them. With `batches` false this ends. */
void wtl_net_batch(wtl_net *net, wtl_net_flow *flow, bool batches);

/* The bins of `flow` for PE `pe`, or for all PEs if `pe` is -1. With flow NULL: of the PE's own operations on `pe`. */
wtl_net_bins *wtl_net_bins_of(wtl_net *net, wtl_net_flow *flow, int pe);

/*
 * Requests completion from PE `pe`, or with -1 from all PEs to which `flow` sent anything. A bin counts the pending
 * operations of one turn, and a turn ends when a wait closes its bin (wtl_net_bins). The operations are complete when
 * three conditions hold:
 *
 * 1. The bin of the turn before is empty.
 * 2. wtl_net_flow_turn has closed the bin of this turn, and this bin has been empty once since then.
 * 3. For operations by hardware: a flush of the whole network that covers them is over.
 *
 * The caller then calls wtl_net_flow_flushed. `bins` are those that wtl_net_bins_of returns for `flow` and `pe`.
 */
wtl_net_covered wtl_net_flow_flush(wtl_net *net, wtl_net_flow *flow, int pe);
void wtl_net_flow_turn(wtl_net *net, wtl_net_bins *bins, uint64_t turn);
void wtl_net_flow_flushed(wtl_net *net, wtl_net_flow *flow, wtl_net_bins *bins, wtl_net_covered all);

/*
 * `n` is 1 to WTL_NET_MOST. o->left counts while `from` is still needed. With NULL `from` is needed until the next
 * flush is over. True: the message is held although its mode is NOW, or a ring must follow it. Then the caller must
 * ensure that progress is made soon.
 */
bool wtl_net_put(wtl_net *net, const wtl_net_op *o, const void *from, size_t n);

/* `n` is 1 to WTL_NET_MOST. o->left counts until the data are there. With NULL they are there after the next flush. */
void wtl_net_get(wtl_net *net, const wtl_net_op *o, void *to, size_t n);

/* An atomic operation, always as a message. The old value goes to `result`, which has the word's size, and o->left
 * counts as for a get. With `result` NULL, o->left is not used, and true means the same as from wtl_net_put. */
bool wtl_net_amo(wtl_net *net, const wtl_net_op *o, const wtl_atomic *a, void *result);

/*
 * Sends a message to the callbacks of PE `pe`. Up to WTL_NET_MERGED bytes share messages with others; longer ones may
 * be overtaken. If `held`, a short one leaves with the next that is not, or when a thread waits. `left` counts while
 * `from` is still needed; NULL: the network copies `from`. No flush waits for these messages.
 */
void wtl_net_message(wtl_net *net, int pe, wtl_net_tag tag, const void *from, size_t n, bool held,
                     _Atomic uint32_t *left);

/* Sends the messages that are held. */
void wtl_net_push(wtl_net *net);

/* The PE begins to wait: operations before and after a wait are not in a row (WTL_NET_NOW). Any thread may call it. */
void wtl_net_caller_waits(wtl_net *net);

/* True if no later operation can reach a PE before an earlier one to the same PE, except a put for which
 * wtl_net_overtakes is true. The caller notes a fence that relies on this (wtl_net_note_fence). */
bool wtl_net_in_order(const wtl_net *net, const wtl_net_flow *flow);
void wtl_net_note_fence(wtl_net *net);

/* Could this put or get of `n` bytes overtake an earlier operation behind which a fence was noted? The caller then
 * waits for the earlier ones first. Shorter ones travel as messages, so they do not. OpenSHMEM's gets need no order. */
bool wtl_net_overtakes(wtl_net *net, const wtl_net_op *o, size_t n);

/* Requests completion of all operations that any thread has begun, from all PEs concerned. Returns the argument of
 * wtl_net_flushed. */
uint64_t wtl_net_flush(wtl_net *net);
bool wtl_net_flushed(const wtl_net *net, uint64_t flush);

/* Sends what is held and takes what has arrived. Returns whether anything happened. The second one is for the agent. */
bool wtl_net_progress(wtl_net *net);
bool wtl_net_progress_by_agent(wtl_net *net);

/* A thread will sleep until a store wakes it. So PEs with a key to this PE's memory ring after their puts by hardware.
 * wtl_net_notice_is_posted must be true when the thread is registered at its doorbell and a full barrier has followed.
 * Otherwise it posts the notice again. */
void wtl_net_post_notice(wtl_net *net);
bool wtl_net_notice_is_posted(const wtl_net *net);

/* True if this PE has to ring another one as soon as its puts are stored. The caller ensures progress. */
bool wtl_net_owes_rings(const wtl_net *net);

const char *wtl_net_name(const wtl_net *net);
wtl_net_counts wtl_net_count(wtl_net *net);
/* Adds the requests that this PE has served to `to`. Its own row has the answers to its own requests. */
void wtl_net_served(wtl_net *net, wtl_served *to);
/* Writes the transports and devices that lead to other nodes, such as "tcp/eth0"; "" if they are not known. */
void wtl_net_paths(wtl_net *net, char *out, size_t size);

/*
 * Heartbeats: the first PEs of the nodes form a circle. Each sends one to the next four times in WATTLE_SILENCE, and
 * ends the job if nothing came from the one before for all of that time. (A connection with data under way notices a
 * cut link only after TCP's retransmissions, a quarter of an hour. Open MPI's daemons notice later and name no PE.)
 * Progress sends them. Returns how long a PE may go without progress, in ms; -1: forever.
 */
int wtl_net_progress_interval_ms(const wtl_net *net);

/* For the agent (agent.h): a descriptor that becomes readable when something arrives, and the permission to sleep on
 * it. False: something is there or is held, so progress comes first. */
int wtl_net_descriptor(const wtl_net *net);
bool wtl_net_arm(wtl_net *net);

#endif
