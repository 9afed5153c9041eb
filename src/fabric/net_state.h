/* net_state.h - what the files net*.c share: the state of a network. Its lock is held wherever a function here is called. */
#ifndef WTL_FABRIC_NET_STATE_H
#define WTL_FABRIC_NET_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "fabric/net.h"
#include "fabric/transport.h"
#include "fabric/wire.h"

enum { MAX_IN_FLIGHT = 256, MAX_FETCHES = 4096, SMALL_ANSWER = 4096 };

/* Records on their way to one PE. */
typedef struct batch {
  wtl_net *net;
  struct batch *next_free;
  wire_head head;
  size_t used;
  _Alignas(8) char data[WIRE_BATCH_BYTES];
} batch;

typedef struct peer {
  batch *open;          /* records not yet sent */
  uint32_t large_in;    /* large puts from it that are arriving */
  uint32_t flush_waits; /* its flushes that wait for those */
  uint32_t asked;       /* flushes it has not answered */
  bool dirty;           /* something was sent to it since completion was last asked for */
  bool in_dirty;        /* it is in net->dirty */
  bool listed;          /* in net->unsent */
  struct piece *pieces; /* of its open region; NULL before first contact by hardware, and where there is none */
} peer;

/* What an outstanding fetch waits for. */
typedef struct fetch {
  void *to;
  uint64_t n;
  uint32_t generation, next_free;
} fetch;

/* An answer too large for a batch, sent after the progress that found it. */
typedef struct answer {
  struct answer *next;
  int pe;
  const void *from;
  uint64_t n, token;
} answer;

struct wtl_net {
  pthread_mutex_t lock;
  wtl_boot *boot;
  wtl_net_home home;
  wtl_transport *transport;
  uint64_t cookie;
  peer *peers;           /* n_pes */
  int *unsent, n_unsent; /* PEs with records not yet sent */
  int *dirty, n_dirty;
  batch *free_batches;
  fetch *fetches_of;
  uint32_t n_slots, free_slot;
  answer *answers, **last_answer;
  _Atomic uint32_t fetches;   /* results this PE waits for */
  _Atomic uint32_t flushes;   /* answers to flushes it waits for */
  _Atomic uint32_t in_flight; /* messages and hardware operations not yet done with */
  _Atomic uint32_t sources;   /* of them, those that read the caller's memory */
  _Atomic bool out_of_order;  /* something was sent since the last flush that may overtake or be overtaken */
  _Atomic bool unflushed;     /* anything at all was */
  _Atomic bool ending;
  int rma;               /* the setting */
  _Atomic bool rma_used; /* keys were asked for: hardware may overtake messages */
  _Atomic bool silent;   /* keys were given away */
  bool rma_dirty, rma_flushing;
  bool rma_again;       /* another hardware flush is due after the one under way */
  struct offer *offers; /* this PE's own pieces; NULL while nobody wants a key */
  wtl_net_counts counts;
  _Atomic uint64_t heard; /* when the node before this one last gave a sign of life, ns */
  uint64_t last_beat;
};

/* net.c. Ends the job: PE `pe` cannot be reached. */
void wtl_net_fail(const wtl_net *net, int pe, const char *what, const char *why) __attribute__((noreturn, cold));

/* net_out.c */
void *wtl_net_add_record(wtl_net *net, int pe, enum wire_kind kind, wtl_place at, uint64_t token, uint64_t n,
                         uint64_t room);
void wtl_net_send_batch(wtl_net *net, int pe);
void wtl_net_send_sign(wtl_net *net, int pe); /* a batch without records */
void wtl_net_send_all(wtl_net *net);
void wtl_net_send_answers(wtl_net *net);
fetch *wtl_net_find_fetch(wtl_net *net, uint64_t token, uint64_t n);
void wtl_net_end_fetch(wtl_net *net, fetch *f);

/* net_in.c: the transport's home. */
void wtl_net_arrived(void *owner, unsigned message, const void *header, size_t header_bytes, void *data, size_t n,
                     bool later);

/* net_rma.c. The first two: false if messages must do it. */
bool wtl_net_rma_put(wtl_net *net, int pe, wtl_place at, const void *from, size_t n);
bool wtl_net_rma_get(wtl_net *net, int pe, wtl_place at, void *to, size_t n);
void wtl_net_rma_flush(wtl_net *net);
bool wtl_net_rma_want_key(wtl_net *net, int from, wtl_place at, uint64_t token);
bool wtl_net_rma_take_key(wtl_net *net, int from, uint64_t token, const void *data, size_t n);
void wtl_net_rma_close(wtl_net *net);

#endif
