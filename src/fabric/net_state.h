/* net_state.h - what the files net*.c share: the state of a network. Its lock is held wherever a function here is
 * called. */
#ifndef WTL_FABRIC_NET_STATE_H
#define WTL_FABRIC_NET_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "fabric/epochs.h"
#include "fabric/net.h"
#include "fabric/transport.h"
#include "fabric/wire.h"

/*
 * What bounds the memory a PE needs, here and at its targets: messages that have not left, fetches without an answer
 * and their bytes, large puts that wait for their turn, copies of large messages. Of the large ones, ABREAST_BYTES are
 * on their way to a PE at a time: enough to hide each other's handshakes, few enough that one of them ends every few
 * seconds even on a slow line.
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
  int pe; /* -1: a sign, which nothing waits for */
  size_t used;
  wire_record *run; /* the last record, where it is a WIRE_AM that more messages may join; else NULL */
  wire_head head;   /* and right behind it */
  char data[WIRE_BATCH_BYTES];
} batch;

_Static_assert(offsetof(batch, data) == offsetof(batch, head) + sizeof(wire_head) && offsetof(batch, data) % 8 == 0,
               "head and records are sent as one, and records are aligned");

/* Which counters the end of an operation takes 1 from: that of one caller; or those of all who flush. */
typedef struct waiter {
  _Atomic uint32_t *left; /* the caller's, or the bin of the target PE */
  _Atomic uint32_t *all;  /* the bin of the flow */
  unsigned epoch;         /* ... or, for operations of no flow, */
  bool in_epoch;          /* the network's epoch */
} waiter;

/* A message that travels alone. */
typedef struct large {
  wtl_net *net;
  struct large *next;
  wire_large head;
  enum wire_message message;
  int pe;
  const void *from;
  size_t n;
  bool owned; /* `from` is the network's, to be freed */
  bool has_waiter;
  waiter waiter; /* for the source */
} large;

typedef struct peer {
  batch *open;               /* records not yet sent */
  uint32_t leaving;          /* batches that the transport has not done with */
  large *queue, **queue_end; /* large ones that wait for their turn */
  uint32_t abreast;          /* bytes of large ones under way */
  uint16_t asked;            /* flushes it has not answered */
  uint32_t row, row_since;   /* small operations in a row, and net->waits when it began */
  uint32_t mutual;           /* pieces of long gets that are answered aside: this PE gets from that one, too */
  bool dirty;                /* something was sent to it since completion was last asked for */
  bool in_dirty;             /* it is in net->dirty */
  bool listed;               /* in net->unsent */
  wtl_net_bins bins;         /* of the operations on it that belong to no flow */
  struct piece *pieces;      /* of its open segment; NULL before first contact by hardware, and where there is none */
} peer;

/* What an answer is awaited for. */
typedef struct pending {
  void *to; /* NULL: only the answer itself is awaited */
  uint64_t n;
  waiter waiter;
  int asked; /* a flush: the PE that was asked; else -1 */
  uint32_t generation, next_free;
  bool used;
  bool early;    /* completion was asked for before a flush did */
  bool arriving; /* its data are on their way to `to`: no second answer is taken */
} pending;

/* An answer that could not be sent at once. */
typedef struct answer {
  struct answer *next;
  int pe;
  const void *from;
  uint64_t n, token;
} answer;

/* Counters that change under the lock only, and are read without it, need no locked instruction. Returns the new
 * value. */
#define WTL_NET_ADD(counter, n)                                                                                        \
  ({                                                                                                                   \
    __typeof__(+(counter)) new_ =                                                                                      \
        atomic_load_explicit(&(counter), memory_order_relaxed) + (__typeof__(+(counter)))(n);                          \
    atomic_store_explicit(&(counter), new_, memory_order_release);                                                     \
    new_;                                                                                                              \
  })

struct wtl_net {
  pthread_mutex_t lock;
  wtl_boot *boot;
  wtl_net_callbacks callbacks;
  wtl_transport *transport;
  uint64_t cookie;
  peer *peers;           /* n_pes */
  int *unsent, n_unsent; /* PEs with records, or large messages that wait, not yet sent */
  int *dirty, n_dirty;
  batch *free_batches;
  pending *pendings;
  uint32_t n_pendings, free_pending;
  answer *answers, **answers_end;
  wtl_epochs epochs;
  _Atomic uint32_t in_flight; /* messages and hardware operations not yet done with */
  _Atomic uint32_t queued, fetches;
  _Atomic uint64_t fetch_bytes, copied_bytes;
  /* The epochs, plus one, in which something was last sent: anything; what may overtake or be overtaken. */
  _Atomic uint64_t last_sent, last_disordered;
  uint32_t in_vain;       /* answers that no quiet waited for, since the last quiet */
  _Atomic uint32_t waits; /* how often the PE began to wait for anything */
  _Atomic bool ending;
  _Atomic int lost_pe; /* the first one to which the connection broke; -1: none */
  char lost_why[80];
  uint64_t lost_at; /* ns */
  bool loss_said;
  int rma;               /* the setting */
  _Atomic bool rma_used; /* keys were asked for: hardware may overtake messages */
  _Atomic bool silent;   /* keys were given away */
  bool rma_dirty, rma_flushing;
  uint32_t flush_now[2], flush_next[2]; /* who waits for the hardware's flush under way, and for the next, by epoch */
  struct offer *offers;                 /* this PE's own pieces; NULL while nobody wants a key */
  wtl_net_counts counts;
  int before, after;         /* the PEs in the ring of moving_signs of life; -1: this one has no part in it */
  uint64_t heard, last_beat; /* ns */
  uint64_t beat_ns, silence_ns;
  _Atomic uint64_t next_beat; /* ns */
  unsigned turns;             /* of progress */
  bool hears;                 /* something came from `before` since the clock was last looked at */
  bool completed;             /* whose lock is held: tell the callbacks when it is let go of */
};

/* net.c. Ends the job: PE `pe` cannot be reached. */
void wtl_net_fail(const wtl_net *net, int pe, const char *what, const char *why) __attribute__((noreturn, cold));

/* net.c. Another PE says that the job ends. */
void wtl_net_received_end(wtl_net *net) __attribute__((noreturn, cold));

/* net.c. Lets go of the lock, and only then wakes who waits for what is complete: it may want the lock at once. */
void wtl_net_unlock(wtl_net *net);

/* net_out.c */
waiter wtl_net_wait_alone(_Atomic uint32_t *left);                      /* one caller waits, by its counter */
waiter wtl_net_wait_together(wtl_net *net, wtl_net_flow *flow, int pe); /* all who flush operations on PE `pe` do */
waiter wtl_net_wait_epoch(wtl_net *net);                                /* all who flush the network do */
void wtl_net_wait_ends(wtl_net *net, waiter w);
void wtl_net_disorder(wtl_net *net); /* something is sent that may overtake or be overtaken */
void wtl_net_left(wtl_net *net);     /* a message, or a hardware operation, is done with */
void *wtl_net_add_record(wtl_net *net, int pe, enum wire_kind kind, wtl_place at, uint64_t token, uint64_t n,
                         uint64_t room);
void wtl_net_send_batch(wtl_net *net, int pe);
void wtl_net_send_in_turn(wtl_net *net, int pe);                    /* when the batches before have left */
void wtl_net_send_heartbeat(wtl_net *net, int pe, bool of_the_end); /* of life, or that the job ends */
void wtl_net_send_all(wtl_net *net, bool in_turn);
void wtl_net_answer(wtl_net *net, int pe, uint64_t token, const void *from, size_t n);
bool wtl_net_send_answers(wtl_net *net); /* true if any left */
pending *wtl_net_find_pending(wtl_net *net, uint64_t token, uint64_t n);
void wtl_net_end_pending(wtl_net *net, pending *p);

/* net_in.c: the transport's callbacks. */
void wtl_net_arrived(void *owner, unsigned message, const void *header, size_t header_bytes, void *data, size_t n,
                     bool later);

/* net_rma.c. The first two: false if messages must do it. */
bool wtl_net_rma_put(wtl_net *net, const wtl_net_op *o, const void *from, size_t n);
bool wtl_net_rma_get(wtl_net *net, const wtl_net_op *o, void *to, size_t n);
void wtl_net_rma_flush(wtl_net *net);
bool wtl_net_rma_want_key(wtl_net *net, int from, wtl_place at, uint64_t token);
bool wtl_net_rma_take_key(wtl_net *net, int from, uint64_t token, const void *data, size_t n);
void wtl_net_rma_close(wtl_net *net);

#endif
