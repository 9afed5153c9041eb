/*
 * net_rma.c - puts and gets by the network's hardware. The open segment of a PE is divided into pieces. A piece is
 * registered, and its key sent, when another PE first needs it, so that a sparse heap is not pinned whole. Until the
 * key has arrived, messages are used.
 *
 * RINGS. Hardware rings no doorbell. A PE that sleeps for long sends each PE that has its keys a WIRE_WANT_RING, once.
 * That PE answers with one WIRE_RING when a flush has ended that covers its next put. If it has put already since its
 * last WIRE_RING, it starts the flush at once. So a put is never missed: it came after the request, and is answered;
 * or before it, and is answered, too. A PE that never puts again gets no second request, so the messages do not grow
 * with the square of the PEs.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/net_state.h"
#include "os/atomic.h"

enum { LEAST_PIECE_BYTES = 4 << 20, MOST_PIECES = 256, KEY_BYTES = 1024 };

/* A piece of the open segment of another PE. */
typedef struct piece {
  enum { UNKNOWN, WANTED, OPEN, CLOSED } state;
  wtl_transport_key key;
} piece;

/* A piece of this PE's own open segment. */
typedef struct offer {
  size_t length; /* of the key; 0: not offered yet, or it cannot be offered */
  bool tried;
  char key[KEY_BYTES]; /* a wire_key, then the transport's key */
} offer;

static uint64_t piece_bytes(const wtl_net *net)
{
  uint64_t n = LEAST_PIECE_BYTES;
  while (n * MOST_PIECES < net->callbacks.open_bytes) n *= 2;
  return n;
}

static size_t n_pieces(const wtl_net *net)
{
  return (size_t)((net->callbacks.open_bytes + piece_bytes(net) - 1) / piece_bytes(net));
}

static bool may(wtl_net *net, int pe)
{
  const wtl_transport_ops *ops = net->transport->ops;
  if (net->rma == WTL_RMA_OFF || !ops->put) return false;
  return net->rma == WTL_RMA_ON || ops->has_rma(net->transport, pe);
}

/* Returns the piece at `offset`, or NULL if it is not open. Requests its key the first time. */
static const piece *find_piece(wtl_net *net, int pe, uint64_t offset)
{
  peer *p = &net->peers[pe];
  size_t i = (size_t)(offset / piece_bytes(net));
  if (!p->pieces && !(p->pieces = calloc(n_pieces(net), sizeof *p->pieces))) return NULL;
  piece *found = &p->pieces[i];
  if (found->state == UNKNOWN) {
    found->state = WANTED;
    net->rma_used = true;
    wtl_net_add_record(net, pe, WIRE_WANT_KEY, (wtl_place){i * piece_bytes(net), WTL_NET_OPEN_SEGMENT}, i, 0, 0);
  }
  return found->state == OPEN ? found : NULL;
}

static bool is_open(wtl_net *net, int pe, wtl_place at, size_t n)
{
  uint64_t size = piece_bytes(net);
  if (at.segment != WTL_NET_OPEN_SEGMENT || !may(net, pe)) return false;
  bool all = true;
  for (uint64_t first = at.offset / size; first <= (at.offset + n - 1) / size; first++)
    all &= find_piece(net, pe, first * size) != NULL;
  return all;
}

/* A put or get by hardware, or the part of it that lies in one piece. */
typedef struct operation {
  wtl_net *net;
  waiter waiter;
} operation;

static operation *begin(wtl_net *net, int pe, waiter w)
{
  operation *o = malloc(sizeof *o);
  if (!o) wtl_net_fail(net, pe, "no memory for an operation on", "out of memory");
  *o = (operation){net, w};
  WTL_NET_ADD(net->in_flight, 1);
  return o;
}

static void ended(void *arg)
{
  operation o = *(operation *)arg;
  free(arg);
  wtl_net_left(o.net);
  wtl_net_wait_ends(o.net, o.waiter);
}

/* How many of `n` bytes at `offset` lie in the same piece. */
static size_t within(const wtl_net *net, uint64_t offset, size_t n)
{
  uint64_t left = piece_bytes(net) - offset % piece_bytes(net);
  return n < left ? n : (size_t)left;
}

static void offer_here(wtl_net *net, const void *here, size_t n);

/* Calls the transport's `act` for each piece of the operation. `here` is the memory on this side. */
static void each_piece(wtl_net *net, const wtl_net_op *o, char *here, size_t n, wtl_rma_fn *act, bool is_put)
{
  net->counts.rma_bytes += n;
  if (net->transport->ops->copies && net->transport->ops->copies(net->transport)) offer_here(net, here, n);
  for (size_t done = 0, step; done < n; done += step) {
    uint64_t offset = o->at.offset + done;
    step = within(net, offset, n - done);
    waiter w = o->left  ? wtl_net_wait_alone(o->left)
               : is_put ? wtl_net_wait_epoch(net)
                        : wtl_net_wait_together(net, o->flow, o->pe);
    act(net->transport, o->pe,
        &(wtl_transport_rma){.key = &find_piece(net, o->pe, offset)->key,
                             .offset = offset % piece_bytes(net),
                             .here = here + done,
                             .n = step,
                             .done = ended,
                             .arg = begin(net, o->pe, w)});
  }
}

static void owe_ring(wtl_net *net, int pe);

bool wtl_net_rma_put(wtl_net *net, const wtl_net_op *o, const void *from, size_t n)
{
  if (!is_open(net, o->pe, o->at, n)) return false;
  net->rma_dirty = true;
  wtl_net_disorder(net);
  each_piece(net, o, (char *)(uintptr_t)from, n, net->transport->ops->put, true);
  net->peers[o->pe].unrung = true;
  if (WTL_UNLIKELY(net->peers[o->pe].ring_wanted)) owe_ring(net, o->pe);
  return true;
}

bool wtl_net_rma_get(wtl_net *net, const wtl_net_op *o, void *to, size_t n)
{
  if (!is_open(net, o->pe, o->at, n)) return false;
  each_piece(net, o, to, n, net->transport->ops->get, false);
  return true;
}

/* --- flushes ---------------------------------------------------------------------------------------------------- */

/* The rings that are owed and stand at `from` go on to `to`. True: there are any. */
static bool advance_rings(wtl_net *net, int from, int to)
{
  bool any = false;
  for (int i = 0; i < net->n_owed; i++) {
    peer *p = &net->peers[net->owed[i]];
    if ((int)p->ring != from) continue;
    p->ring = to;
    if (to == RING_IN_FLUSH) p->unrung = false;
    any = true;
  }
  return any;
}

static bool awaits_next_flush(const wtl_net *net)
{
  for (int i = 0; i < net->n_owed; i++)
    if (net->peers[net->owed[i]].ring == RING_IN_NEXT_FLUSH) return true;
  return net->flush_next[0] || net->flush_next[1];
}

/* Only one hardware flush runs at a time. It serves all requests that were made before it began, for UCX counts flushes
 * in eight bits. */
static void start_flush(wtl_net *net);

static void flush_ended(void *arg)
{
  wtl_net *net = arg;
  net->rma_flushing = false;
  for (unsigned epoch = 0; epoch < 2; epoch++)
    while (net->flush_now[epoch])
      net->flush_now[epoch]--, wtl_net_wait_ends(net, (waiter){.epoch = epoch, .in_epoch = true});
  net->ring_due |= advance_rings(net, RING_IN_FLUSH, RING_DUE); /* sent later: this may be a callback of UCX */
  if (awaits_next_flush(net)) start_flush(net);
}

static void start_flush(wtl_net *net)
{
  for (unsigned epoch = 0; epoch < 2; epoch++) {
    net->flush_now[epoch] = net->flush_next[epoch];
    net->flush_next[epoch] = 0;
  }
  advance_rings(net, RING_IN_NEXT_FLUSH, RING_IN_FLUSH);
  net->rma_flushing = true;
  net->transport->ops->flush(net->transport, flush_ended, net);
}

void wtl_net_rma_flush(wtl_net *net)
{
  if (!net->rma_dirty) return;
  net->rma_dirty = false;
  net->flush_next[wtl_net_wait_epoch(net).epoch]++;
  if (!net->rma_flushing) start_flush(net);
}

/* --- rings ------------------------------------------------------------------------------------------------------ */

static int *list_of_pes(const wtl_net *net)
{
  int *list = calloc((size_t)net->boot->n_pes, sizeof *list);
  if (!list) wtl_net_fail(net, net->boot->pe, "no memory for the neighbours of", "out of memory");
  return list;
}

/* Sends a ring to `pe` when a flush that begins now or later is over. */
static void owe_ring(wtl_net *net, int pe)
{
  peer *p = &net->peers[pe];
  p->ring_wanted = false;
  p->ring = RING_IN_NEXT_FLUSH;
  if (!net->owed) net->owed = list_of_pes(net);
  net->owed[net->n_owed] = pe;
  net->n_owed++;
  if (!net->rma_flushing) start_flush(net);
}

bool wtl_net_rma_want_ring(wtl_net *net, int from)
{
  peer *p = &net->peers[from];
  if (!p->pieces || p->ring_wanted || p->ring != NO_RING) return false;
  if (net->ending) return true;
  if (p->unrung)
    owe_ring(net, from);
  else
    p->ring_wanted = true;
  return true;
}

static void send_ring(wtl_net *net, int pe)
{
  net->peers[pe].ring = NO_RING;
  wtl_net_add_record(net, pe, WIRE_RING, (wtl_place){0}, 0, 0, 0);
  wtl_net_send_batch(net, pe);
}

void wtl_net_rma_send_rings(wtl_net *net)
{
  int n = net->n_owed, kept = 0;
  net->ring_due = false;
  for (int i = 0; i < n; i++) {
    int pe = net->owed[i];
    if (net->peers[pe].ring == RING_DUE)
      send_ring(net, pe);
    else
      net->owed[kept++] = pe;
  }
  net->n_owed = kept;
}

/* Wakes the threads that wait for `n` bytes at `offset`. They sleep in naps from now on, until they ask for rings. */
static void wake_sleepers(wtl_net *net, uint64_t offset, uint64_t n)
{
  wtl_fence();
  net->callbacks.changed(net->callbacks.owner, (wtl_place){offset, WTL_NET_OPEN_SEGMENT}, n);
}

/* PE `pe` may put by hardware and will send no ring. */
static void begin_silence(wtl_net *net, int pe)
{
  if (!net->unasked) net->unasked = list_of_pes(net);
  net->unasked[net->n_unasked] = pe;
  net->n_unasked++;
}

bool wtl_net_rma_take_ring(wtl_net *net, int from)
{
  peer *p = &net->peers[from];
  if (!p->will_ring) return false;
  p->will_ring = false;
  begin_silence(net, from);
  wake_sleepers(net, 0, net->callbacks.open_bytes);
  return true;
}

void wtl_net_ask_for_rings(wtl_net *net)
{
  wtl_net_lock(net);
  for (int i = 0; i < net->n_unasked; i++) {
    net->peers[net->unasked[i]].will_ring = true;
    wtl_net_add_record(net, net->unasked[i], WIRE_WANT_RING, (wtl_place){0}, 0, 0, 0);
    wtl_net_send_batch(net, net->unasked[i]);
  }
  net->n_unasked = 0;
  wtl_net_unlock(net);
}

/* --- keys ------------------------------------------------------------------------------------------------------- */

static void make_offer(wtl_net *net, offer *o, uint64_t offset)
{
  size_t n = within(net, offset, (size_t)(net->callbacks.open_bytes - offset)), length = KEY_BYTES - sizeof(wire_key);
  void *start = net->callbacks.find(net->callbacks.owner, (wtl_place){offset, WTL_NET_OPEN_SEGMENT}, n);
  wire_key key = {(uint64_t)(uintptr_t)start};
  o->tried = true;
  if (!start || !net->transport->ops->offer) return;
  if (net->transport->ops->offer(net->transport, start, n, o->key + sizeof key, &length) != 0) return;
  memcpy(o->key, &key, sizeof key);
  o->length = sizeof key + length;
}

/* PE `pe` gets a key to `n` bytes at `offset`. A thread that sleeps already relies on its doorbell. */
static void give_key(wtl_net *net, int pe, uint64_t offset, uint64_t n)
{
  peer *p = &net->peers[pe];
  if (!p->puts_here) begin_silence(net, pe);
  p->puts_here = true;
  if (!p->will_ring) wake_sleepers(net, offset, n);
}

static offer *find_offer(wtl_net *net, int pe, size_t i)
{
  if (!net->offers && !(net->offers = calloc(n_pieces(net), sizeof *net->offers)))
    wtl_net_fail(net, pe, "no memory for keys of", "out of memory");
  return &net->offers[i];
}

/* Offers the pieces of this PE's own open segment in which the bytes lie: then the transport need not copy them. */
static void offer_here(wtl_net *net, const void *here, size_t n)
{
  const char *start = net->callbacks.find(net->callbacks.owner, (wtl_place){0, WTL_NET_OPEN_SEGMENT}, 1);
  uint64_t size = piece_bytes(net), at = (uint64_t)((uintptr_t)here - (uintptr_t)start);
  if (!start || at >= net->callbacks.open_bytes || n > net->callbacks.open_bytes - at) return;
  for (uint64_t i = at / size; i <= (at + n - 1) / size; i++) {
    offer *o = find_offer(net, net->boot->pe, (size_t)i);
    if (!o->tried) make_offer(net, o, i * size);
  }
}

bool wtl_net_rma_want_key(wtl_net *net, int from, wtl_place at, uint64_t token)
{
  size_t i = (size_t)(at.offset / piece_bytes(net));
  if (at.segment != WTL_NET_OPEN_SEGMENT || at.offset % piece_bytes(net) || i >= n_pieces(net)) return false;
  offer *o = find_offer(net, from, i);
  if (!o->tried && may(net, from)) make_offer(net, o, at.offset);
  if (o->length)
    give_key(net, from, at.offset, within(net, at.offset, (size_t)(net->callbacks.open_bytes - at.offset)));
  memcpy(wtl_net_add_record(net, from, WIRE_KEY, (wtl_place){0}, token, o->length, o->length), o->key, o->length);
  return true;
}

bool wtl_net_rma_take_key(wtl_net *net, int from, uint64_t token, const void *data, size_t n)
{
  peer *p = &net->peers[from];
  wire_key key;
  if (!p->pieces || token >= n_pieces(net) || p->pieces[token].state != WANTED) return false;
  piece *found = &p->pieces[token];
  found->state = CLOSED;
  if (n <= sizeof key) return true;
  memcpy(&key, data, sizeof key);
  char *copy = malloc(n - sizeof key); /* makes it aligned */
  if (!copy) return true;
  memcpy(copy, (const char *)data + sizeof key, n - sizeof key);
  found->key = (wtl_transport_key){net->transport->ops->accept(net->transport, from, copy), key.address};
  free(copy);
  if (found->key.handle) found->state = OPEN;
  return true;
}

void wtl_net_rma_close(wtl_net *net)
{
  /* Otherwise no peer has pieces, and the kernel has given no memory to most of them. */
  for (int pe = 0; net->rma_used && pe < net->boot->n_pes; pe++) free(net->peers[pe].pieces);
  free(net->offers);
  free(net->unasked);
  free(net->owed);
}
