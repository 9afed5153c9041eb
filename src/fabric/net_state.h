/* net_state.h - the state of a network, shared by the files net*.c. The caller of each function here holds its lock. */
#ifndef WTL_FABRIC_NET_STATE_H
#define WTL_FABRIC_NET_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "fabric/epochs.h"
#include "fabric/net.h"
#include "fabric/transport.h"
#include "fabric/wire.h"
#include "os/floats.h"
#include "os/guest.h"

/*
 * Limits of a PE's memory, here and at its targets: messages under way, fetches without an answer and their bytes,
 * queued large messages, and copies. Of the large messages to a PE, ABREAST_BYTES are under way at a time. That is
 * enough to hide the handshakes, and little enough that one of them ends every few seconds even on a slow line.
 */
enum {
  MAX_IN_FLIGHT = 256,
  MAX_FETCHES = 4096,
  MAX_FETCH_BYTES = 4 << 20,
  MAX_QUEUED = 16384,
  MAX_COPIED_BYTES = 4 << 20,
  ABREAST_BYTES = 2 << 20
};

/* Records on their way to one PE. */
typedef struct batch {
  wtl_net *net;
  struct batch *next_free;
  int pe;              /* -1: a heartbeat, for which no operation waits */
  uint32_t operations; /* of the program */
  size_t used;
  wire_record *run; /* the last record, if it is a WIRE_AM that more messages may join; else NULL */
  wire_head head;   /* `data` follows without a gap */
  char data[WIRE_BATCH_BYTES];
} batch;

_Static_assert(offsetof(batch, data) == offsetof(batch, head) + sizeof(wire_head) && offsetof(batch, data) % 8 == 0,
               "head and records are sent as one, and records are aligned");

/* The counters that the end of an operation decreases: that of one caller, or those of the flushes. */
typedef struct waiter {
  _Atomic uint32_t *left; /* the caller's, or the bin of the target PE */
  _Atomic uint32_t *all;  /* the bin of the flow */
  unsigned epoch;         /* for operations of no flow: the epoch */
  bool in_epoch;          /* ... is used */
} waiter;

/* A message with one large block of data. */
typedef struct large {
  wtl_net *net;
  struct large *next;
  wire_large head;
  enum wire_message message;
  int pe;
  const void *from;
  size_t n;
  bool owned; /* `from` is the network's, which frees it */
  bool has_waiter;
  waiter waiter; /* for the source */
} large;

/* The bytes from `from` to `end` of the awaited segment; `end` 0: none. */
typedef struct wtl_net_span {
  uint64_t from, end;
} wtl_net_span;

typedef struct peer {
  batch *open;               /* records not yet sent */
  uint32_t leaving;          /* batches that the transport has not completed */
  large *queue, **queue_end; /* large messages that wait until others have left */
  uint32_t abreast;          /* bytes of large messages under way */
  uint16_t asked;            /* flushes without an answer */
  uint32_t row, row_since;   /* small operations in a row, and net->waits when it began */
  /* Pieces of long gets that are still answered out of order, because this PE gets from that one, too. */
  uint32_t mutual;
  uint16_t mark;     /* of the call site that last sent something whose completion a flush requests */
  bool dirty;        /* something was sent there since completion was last requested */
  bool in_dirty;     /* it is listed in net->dirty */
  bool listed;       /* it is listed in net->unsent */
  wtl_net_bins bins; /* of the operations there that belong to no flow */
  struct piece *pieces[WTL_NET_OPEN_SEGMENTS]; /* NULL before the first use of hardware there */
  /* The notice of sleepers (net_rma.c). It has keys of this PE and the notice; its messages because of the notice, in a
   * row, during which no thread slept; net->sleeps at the last of them. */
  bool puts_here, has_notice;
  uint32_t in_vain, sleeps;
  /* This PE has keys of it, and its notice; where a ring under way stands; the puts by hardware since, and those that
   * the ring covers. */
  bool has_key, may_sleep;
  enum { NO_RING, RING_IN_NEXT_FLUSH, RING_IN_FLUSH, RING_DUE } ring;
  wtl_net_span unrung, covered;
  uint32_t fences;           /* net->fences at the first message to it that may be under way */
  _Atomic uint32_t draining; /* 0, or a message is under way that hardware could overtake against a fence */
} peer;

/* An operation that waits for an answer. */
typedef struct pending {
  void *to; /* NULL: the answer has no data */
  uint64_t n;
  waiter waiter;
  int asked; /* a flush: the PE that it was sent to; else -1 */
  uint32_t generation, next_free;
  bool used;
  bool early;    /* requested before a quiet */
  bool arriving; /* the data are being received into `to`; a second answer is refused */
} pending;

/* An answer that could not be sent at once. */
typedef struct answer {
  struct answer *next;
  int pe;
  const void *from;
  uint64_t n, token;
} answer;

/* Adds to a counter and returns the new value. Such counters change only under the lock and are read without it, so no
 * locked instruction is needed. */
#define WTL_NET_ADD(counter, n)                                                                                        \
  ({                                                                                                                   \
    __typeof__(+(counter)) new_ =                                                                                      \
        atomic_load_explicit(&(counter), memory_order_relaxed) + (__typeof__(+(counter)))(n);                          \
    atomic_store_explicit(&(counter), new_, memory_order_release);                                                     \
    new_;                                                                                                              \
  })

struct wtl_net {
  pthread_mutex_t lock;
  wtl_guest guest; /* of the thread that has the lock */
  wtl_floats floats;
  wtl_boot *boot;
  wtl_net_callbacks callbacks;
  wtl_transport *transport;
  uint64_t cookie;
  peer *peers;           /* n_pes */
  int *unsent, n_unsent; /* PEs with records or queued large messages to be sent */
  int *dirty, n_dirty;
  batch *free_batches;
  pending *pendings;
  uint32_t n_pendings, free_pending;
  answer *answers, **answers_end;
  wtl_epochs epochs;
  _Atomic uint32_t in_flight; /* messages and hardware operations that the transport has not completed */
  _Atomic uint32_t queued, fetches;
  _Atomic uint64_t fetch_bytes, copied_bytes;
  /* The epoch, plus one, in which something was last sent: anything; something that may overtake or be overtaken. */
  _Atomic uint64_t last_sent, last_disordered;
  uint32_t useless_answers; /* useless answers to early requests since the last quiet */
  _Atomic uint32_t waits;   /* how often the PE began to wait */
  _Atomic bool ending;
  _Atomic int lost_pe; /* the first PE whose connection broke; -1: none */
  char lost_why[80];
  uint64_t lost_at; /* ns */
  bool loss_reported;
  int rma;               /* the setting */
  bool merges;           /* small operations may share messages */
  bool batches;          /* wtl_net_batch, of operations without a flow */
  _Atomic bool rma_used; /* keys were requested: hardware may overtake messages */
  int *unaware;          /* PEs with a key to this PE's memory and without its notice of sleepers */
  int *owed;             /* PEs that get a ring after a flush */
  _Atomic int n_unaware, n_owed;
  _Atomic uint32_t sleeps; /* how often a thread posted the notice or found it posted */
  _Atomic uint32_t fences; /* that did not wait */
  bool ring_due;           /* one of them can be sent */
  bool rma_dirty, rma_flushing;
  uint32_t flush_now[2], flush_next[2]; /* waits for the hardware's flush that runs, and for the next, by epoch */
  struct offer *offers[WTL_NET_OPEN_SEGMENTS]; /* this PE's own pieces; NULL before a key is requested */
  wtl_net_counts counts;
  wtl_served served;
  enum wtl_server server;            /* the thread that makes progress */
  int before, after;                 /* the neighbours in the circle of heartbeats; -1: this PE is not in it */
  uint64_t last_received, last_beat; /* ns */
  uint64_t beat_ns, silence_ns;
  _Atomic uint64_t next_beat; /* ns */
  unsigned turns;             /* calls of progress */
  bool has_received;          /* something came from `before` since the clock was last read */
  bool completed;             /* set under the lock: `completed` must be called after it is released */
};

/* net.c. Ends the job because PE `pe` cannot be reached. Prints `what`, the PE and `why`. */
void wtl_net_fail(const wtl_net *net, int pe, const char *what, const char *why) __attribute__((noreturn, cold));

/* net.c. Ends the job because another PE reports its end. */
void wtl_net_received_end(wtl_net *net) __attribute__((noreturn, cold));

/* net.c. Releases the lock, and then wakes the threads whose operations are complete: they may need the lock
 * at once. */
void wtl_net_lock(wtl_net *net); /* until wtl_net_unlock the thread cannot be cancelled */
void wtl_net_unlock(wtl_net *net);

/* net_out.c */
waiter wtl_net_wait_alone(_Atomic uint32_t *left);                      /* one caller waits, by its counter */
waiter wtl_net_wait_together(wtl_net *net, wtl_net_flow *flow, int pe); /* flushes of operations on PE `pe` wait */
waiter wtl_net_wait_epoch(wtl_net *net);                                /* flushes of the network wait */
void wtl_net_wait_ends(wtl_net *net, waiter w);
void wtl_net_disorder(wtl_net *net); /* something is sent that may overtake or be overtaken */
void wtl_net_left(wtl_net *net);     /* a message or a hardware operation is complete */
void *wtl_net_add_record(wtl_net *net, int pe, enum wire_kind kind, wtl_place at, uint64_t token, uint64_t n,
                         uint64_t space);
void wtl_net_send_batch(wtl_net *net, int pe);
void wtl_net_send_in_turn(wtl_net *net, int pe);                    /* when earlier batches have left */
void wtl_net_send_heartbeat(wtl_net *net, int pe, bool of_the_end); /* or the notice that the job ends */
void wtl_net_send_all(wtl_net *net, bool in_turn);
void wtl_net_answer(wtl_net *net, int pe, uint64_t token, const void *from, size_t n);
bool wtl_net_send_answers(wtl_net *net); /* true if it sent any */
pending *wtl_net_find_pending(wtl_net *net, uint64_t token, uint64_t n);
void wtl_net_end_pending(wtl_net *net, pending *p);
bool wtl_net_is_pending(const peer *p);   /* a message to it of no flow may be under way */
void wtl_net_drain(wtl_net *net, int pe); /* `draining` until those messages are complete */

/* net_in.c: the transport's callback for messages. */
void wtl_net_arrived(void *owner, unsigned message, const void *header, size_t header_bytes, void *data, size_t n,
                     bool later);

/* net_rma.c. The first two return false if messages must be used. */
bool wtl_net_rma_put(wtl_net *net, const wtl_net_op *o, const void *from, size_t n);
bool wtl_net_rma_get(wtl_net *net, const wtl_net_op *o, void *to, size_t n);
void wtl_net_rma_flush(wtl_net *net);
bool wtl_net_rma_want_key(wtl_net *net, int from, wtl_place at, uint64_t token);
bool wtl_net_rma_take_key(wtl_net *net, int from, uint64_t token, const void *data, size_t n);
bool wtl_net_rma_take_notice(wtl_net *net, int from);
bool wtl_net_rma_take_withdrawal(wtl_net *net, int from);
bool wtl_net_rma_take_ring(wtl_net *net, int from, wtl_place at, uint64_t n);
void wtl_net_rma_took_for_notice(wtl_net *net, int from); /* a message that came because `from` has the notice */
void wtl_net_rma_send_rings(wtl_net *net);
void wtl_net_rma_close(wtl_net *net);

#endif
