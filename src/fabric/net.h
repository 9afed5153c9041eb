/*
 * net.h - bytes to PEs of other nodes, over a transport (transport.h).
 *
 * A place on a PE is (segment, offset). What segments are is the business of the room above: it gives a `callbacks` that finds
 * a place in this process or refuses it, so that no message writes outside of what is offered.
 *
 * How: put, get and atomics are messages of ours (wire.h), served by the target's CPU. Where hardware moves bytes, puts
 * and gets of segment WTL_NET_OPEN_SEGMENT use it instead, piece by piece, once the target has sent its key; nobody's
 * bell rings then (wtl_net_is_silent).
 *
 * Order: what one PE sends to another arrives in order, but for puts of WTL_NET_LARGE bytes and more and those done by
 * hardware, which may overtake and be overtaken (wtl_net_in_order).
 *
 * Completion: a call that is given a counter `left` adds 1 to it and takes that away when what the caller has to wait
 * for is over: a result is there, a source is no longer needed. Everything else, and everything at its target, is
 * complete after wtl_net_flush, once wtl_net_flushed.
 *
 * Threads: any thread may call; the calls take turns. Handlers of arriving messages run in whoever makes progress.
 */
#ifndef WTL_FABRIC_NET_H
#define WTL_FABRIC_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/amo.h"
#include "base/settings.h"
#include "node/boot.h"

/*
 * Bytes: up to MERGED, puts share messages; from LARGE on they may be overtaken. A put or a get is of at most MOST:
 * what UCX reads from a connection at a time (ucx/transport_ucx.c), with room for the heads: such a piece leaves at once.
 */
enum { WTL_NET_MERGED = 8192, WTL_NET_LARGE = 32768, WTL_NET_MOST = 124 << 10 };
enum { WTL_NET_OPEN_SEGMENT = 0 };

typedef struct wtl_net wtl_net;

/* Operations of which a thread waits for those that were begun before. May be read without the network's lock. */
typedef struct wtl_net_bins {
  _Atomic uint32_t left[2]; /* operations under way, in two bins, */
  _Atomic uint64_t turn;    /* ... of which its last bit is the open one: what others begin, no thread waits for */
  /* How many operations so far were done by hardware, whose flush is one for all; and how many of them a flush covers that
   * has ended. One that another thread has only begun says nothing. */
  _Atomic uint64_t by_hardware, flushed;
} wtl_net_bins;

/*
 * Operations that are completed together, and apart from all others: those of one context. Calls that are given none
 * (NULL) belong to the PE's own, which wtl_net_flush completes. All but the bins belongs to the network.
 */
typedef struct wtl_net_flow {
  wtl_net_bins all;        /* its operations */
  wtl_net_bins *to;        /* by PE: those of them that go there */
  unsigned char *is_dirty; /* by PE: something was sent to it since completion was last asked for */
  unsigned char *in_dirty; /* by PE: it is in `dirty` */
  int *dirty, n_dirty;
  bool batches; /* small operations of any mode may be HELD */
  /* Likewise: how many operations may overtake or be overtaken, and how many of them an ended flush covers. */
  _Atomic uint64_t disordered, ordered;
} wtl_net_flow;

/* What a flush covers: of `disordered` and `by_hardware`, and the turn that was its. */
typedef struct wtl_net_covered {
  uint64_t disordered, by_hardware, turn;
} wtl_net_covered;

typedef struct wtl_place {
  uint64_t offset;
  uint32_t segment;
} wtl_place;

/* What the room above says of a message of its own. */
typedef struct wtl_net_tag {
  uint64_t a, b;
  uint32_t kind;
  bool joins; /* short ones of this tag and length that follow each other may come to the callbacks together */
} wtl_net_tag;

/* The side of this PE that others reach. Called with the network's lock held: none may call it again, or wait. */
typedef struct wtl_net_callbacks {
  void *owner;
  uint64_t open_bytes;                                    /* of segment WTL_NET_OPEN_SEGMENT, on every PE */
  void *(*find)(void *owner, wtl_place at, uint64_t n);   /* NULL: not (all of it) there */
  void (*changed)(void *owner, wtl_place at, uint64_t n); /* `n` bytes were stored; a full barrier lies between */
  void (*completed)(void *owner);                         /* an operation of this PE's own got its answer */
  /* `count` messages of PE `from`, of n bytes each, one after the other, each padded to 8 bytes; the data are valid
   * during the call. False: they are not good ones. */
  bool (*message)(void *owner, int from, wtl_net_tag tag, const void *data, size_t n, uint32_t count);
  /* A long one: `room` says where its data go (NULL: nowhere, it is dropped), `landed` is called when they are
   * there. */
  void *(*room)(void *owner, int from, wtl_net_tag tag, size_t n);
  void (*landed)(void *owner, int from, wtl_net_tag tag, void *room, size_t n);
  /* Not with the lock: the program is about to end what the network runs on, so the PE must end before. */
  void (*closing)(void *owner);
} wtl_net_callbacks;

/* How a put, or an atomic operation without a result, is sent. */
enum wtl_net_send_mode {
  WTL_NET_NOW,    /* at once. Completion is requested in the same message, unless a request is outstanding. After four
                   * small operations in a row to one PE without a wait, as HELD */
  WTL_NET_HELD,   /* batched with later messages while an answer is outstanding */
  WTL_NET_MORE,   /* the caller sends more to the same PE next: completion is not requested before. Small ones travel in
                   * the same message */
  WTL_NET_SIGNAL, /* at once, always as a message; no flush waits for it */
  WTL_NET_AHEAD /* in front of the signal or message that the caller sends next to the same PE, and in the same message,
                   * up to WTL_NET_MERGED bytes */
};

/* A put, a get or an atomic operation: its target, and its completion. */
typedef struct wtl_net_op {
  wtl_net_flow *flow; /* NULL: the PE's own operations */
  int pe;
  wtl_place at;
  enum wtl_net_send_mode mode; /* of puts, and of atomic operations without a result */
  _Atomic uint32_t *left;      /* NULL: complete with the next flush */
} wtl_net_op;

/* For the profile and the tests. */
typedef struct wtl_net_counts {
  uint64_t foreign; /* messages dropped: of another job, or of none */
  uint64_t
      malformed; /* messages dropped: lengths that do not fit, places that do not exist, answers nobody asked for */
  uint64_t sent, received;             /* messages, dropped ones not counted */
  uint64_t bytes_sent, bytes_received; /* in them, headers included */
  uint64_t rma_bytes;                  /* moved by hardware for this PE's puts and gets */
} wtl_net_counts;

/* Starts the network `name`; collective. 0, or an exit code with the reason in `error`. */
int wtl_net_open(wtl_net **net, const char *name, const wtl_settings *settings, wtl_boot *boot,
                 const wtl_net_callbacks *callbacks, char *error, size_t size);

/* All of this PE's operations are complete, and no more will come: PEs may leave from now on without that being an
 * error. */
void wtl_net_ending(wtl_net *net);
void wtl_net_close(wtl_net *net);

/* May this PE send more, fetch more? If not, wait (and make progress): what is under way is bounded. */
bool wtl_net_has_space(const wtl_net *net);

/* NULL: no memory. */
wtl_net_flow *wtl_net_flow_open(const wtl_net *net);
void wtl_net_flow_close(wtl_net_flow *flow); /* nothing is under way */

/* The operations of `flow` on PE `pe`, or with -1 on all PEs; flow NULL: the PE's own ones on `pe`. */
wtl_net_bins *wtl_net_bins_of(wtl_net *net, wtl_net_flow *flow, int pe);

/*
 * Asks PE `pe`, or with -1 all PEs that `flow` sent anything to, for completion. It is there when the bin of the turn
 * before is empty, wtl_net_flow_turn has closed this turn's, and that is empty, too (or has been: a bin that is open again
 * was); and for what hardware did when a flush of the whole network is over. wtl_net_flow_flushed is to be told then.
 * `flow` and `pe` as for wtl_net_bins_of, whose bins these are.
 */
wtl_net_covered wtl_net_flow_flush(wtl_net *net, wtl_net_flow *flow, int pe);
void wtl_net_flow_turn(wtl_net *net, wtl_net_bins *bins, uint64_t turn);
void wtl_net_flow_flushed(wtl_net *net, wtl_net_flow *flow, wtl_net_bins *bins, wtl_net_covered all);

/*
 * n: 1 to WTL_NET_MOST. o->left counts while `from` is still needed; NULL: it is, until the next flush is over. True:
 * the message is held although its mode is NOW, so the caller must see to it that somebody makes progress soon.
 */
bool wtl_net_put(wtl_net *net, const wtl_net_op *o, const void *from, size_t n);

/* n: 1 to WTL_NET_MOST. o->left counts until the data are there; NULL: they are when the next flush is over. */
void wtl_net_get(wtl_net *net, const wtl_net_op *o, void *to, size_t n);

/*
 * An atomic operation, always a message. The old value goes to `result`, of the word's size, and o->left counts as for
 * a get. With NULL it is not wanted: o->left is not used, and true means the same as from wtl_net_put.
 */
bool wtl_net_amo(wtl_net *net, const wtl_net_op *o, const wtl_atomic *a, void *result);

/*
 * Sends a message to the room above on PE `pe`. Up to WTL_NET_MERGED bytes share messages with others, and where they
 * are `held` leave with the next that is not, or when something is waited for; longer ones may be overtaken. `left`
 * counts while `from` is still needed; NULL: the network takes a copy. No flush waits for them.
 */
void wtl_net_message(wtl_net *net, int pe, wtl_net_tag tag, const void *from, size_t n, bool held,
                     _Atomic uint32_t *left);

/* Sends what is held. */
void wtl_net_push(wtl_net *net);

/* The PE begins to wait for something: what it sent before and what it sends next are no row. Any thread. */
void wtl_net_caller_waits(wtl_net *net);

/* Nothing sent after it reaches a PE before what was sent to that PE so far. */
bool wtl_net_in_order(const wtl_net *net, const wtl_net_flow *flow);

/* Asks all PEs that this one sent anything to for completion: of all that was begun before, by any thread. */
uint64_t wtl_net_flush(wtl_net *net);
bool wtl_net_flushed(const wtl_net *net, uint64_t flush);

/* Sends what is held back, takes what has arrived. Returns whether anything happened. */
bool wtl_net_progress(wtl_net *net);

/* Do puts arrive that ring no bell? Who waits for one must look by himself from time to time. */
bool wtl_net_is_silent(const wtl_net *net);

const char *wtl_net_name(const wtl_net *net);
wtl_net_counts wtl_net_count(wtl_net *net);

/*
 * Signs of life: where the job has several nodes, their first PEs send each other one in each quarter of
 * WATTLE_SILENCE, in a ring, and end the job if nothing came from the one before for all of it. (A connection with data
 * under way notices a cut link only after TCP's retransmissions, a quarter of an hour; Open MPI's daemons notice later,
 * and name no PE.) Progress does it; this is how long a PE may go without, in ms; -1: for ever.
 */
int wtl_net_progress_interval_ms(const wtl_net *net);

/* For the agent (agent.h): a descriptor that becomes readable when something arrives, and the right to sleep on it
 * (false: something is there already, or held back: progress first). */
int wtl_net_descriptor(const wtl_net *net);
bool wtl_net_arm(wtl_net *net);

#endif
