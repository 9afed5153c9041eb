/*
 * net_rma.c - puts and gets by the network's hardware. The open segments of a PE are divided into pieces. A piece is
 * registered, and its key sent, when another PE first needs it, so that a sparse heap is not pinned whole. Until the
 * key has arrived, messages are used.
 *
 * THE NOTICE. Hardware rings no doorbell. So a PE whose threads may sleep has a notice at the PEs that have its keys.
 *
 *   sleeper                                        a PE with its keys
 *   registers at its doorbell                      puts by hardware
 *   full barrier                                   if it has the notice
 *   if a PE with its keys has no notice              flush, then WIRE_RING: rings the doorbell
 *     WIRE_NOTICE to that PE                       when the notice comes, if it has put since its last ring
 *   if the condition still does not hold             flush, then WIRE_RING
 *     sleep
 *
 * No put is missed: it came before the notice or after it, and either way a ring follows a flush that covers it. A PE
 * that has the notice sends short puts by messages. These ring the doorbell themselves, and are quicker than a put, a
 * flush and a ring.
 *
 * The notice comes with the first key. It is withdrawn from a PE after IN_VAIN messages in a row that came because of
 * it although no thread slept. A thread that registers meanwhile is woken, and posts the notice anew: the withdrawal is
 * a store, after which a barrier and the look at the doorbell follow. So messages grow with the pairs that communicate,
 * not with the square of the PEs.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/net_state.h"
#include "os/atomic.h"

enum { LEAST_PIECE_BYTES = 4 << 20, MOST_PIECES = 4096, KEY_BYTES = 1024 };

/* A message in vain wakes a PE that computes. So do a withdrawal and the next posting, at the other PE. */
enum { IN_VAIN = 2 };

/* A piece of an open segment of another PE. */
typedef struct piece {
  enum { UNKNOWN, WANTED, OPEN, CLOSED } state;
  wtl_transport_key key;
} piece;

/* A piece of an open segment of this PE. */
typedef struct offer {
  size_t length; /* of the key; 0: not offered yet, or it cannot be offered */
  bool tried;
  char key[KEY_BYTES]; /* a wire_key, then the transport's key */
} offer;

static uint64_t open_bytes(const wtl_net *net, uint32_t segment)
{
  return segment < WTL_NET_OPEN_SEGMENTS ? net->callbacks.open_bytes(net->callbacks.owner, segment) : 0;
}

static uint64_t piece_bytes(const wtl_net *net, uint32_t segment)
{
  uint64_t n = LEAST_PIECE_BYTES, all = open_bytes(net, segment);
  while (n * MOST_PIECES < all) n *= 2;
  return n;
}

static size_t n_pieces(const wtl_net *net, uint32_t segment)
{
  uint64_t n = piece_bytes(net, segment);
  return (size_t)((open_bytes(net, segment) + n - 1) / n);
}

static bool may(wtl_net *net, int pe)
{
  const wtl_transport_ops *ops = net->transport->ops;
  if (net->rma == WTL_RMA_OFF || !ops->put) return false;
  return net->rma == WTL_RMA_ON || ops->has_rma(net->transport, pe);
}

/* Piece `i` of a segment, as the token of a request for its key. */
static uint64_t token_of(uint32_t segment, size_t i)
{
  return (uint64_t)segment << 32 | i;
}

/* Returns the piece at the place, or NULL if it is not open. Requests its key the first time. */
static const piece *find_piece(wtl_net *net, int pe, wtl_place at)
{
  piece **pieces = &net->peers[pe].pieces[at.segment];
  uint64_t size = piece_bytes(net, at.segment);
  size_t i = (size_t)(at.offset / size);
  if (!*pieces && !(*pieces = calloc(n_pieces(net, at.segment), sizeof **pieces))) return NULL;
  piece *found = &(*pieces)[i];
  if (found->state == UNKNOWN) {
    found->state = WANTED;
    net->rma_used = true;
    wtl_net_add_record(net, pe, WIRE_WANT_KEY, (wtl_place){i * size, at.segment}, token_of(at.segment, i), 0, 0);
  }
  return found->state == OPEN ? found : NULL;
}

static bool is_open(wtl_net *net, int pe, wtl_place at, size_t n)
{
  uint64_t bytes = open_bytes(net, at.segment), size = piece_bytes(net, at.segment);
  if (at.offset >= bytes || n > bytes - at.offset || !may(net, pe)) return false;
  bool all = true;
  for (uint64_t first = at.offset / size; first <= (at.offset + n - 1) / size; first++)
    all &= find_piece(net, pe, (wtl_place){first * size, at.segment}) != NULL;
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

/* How many of `n` bytes at the place lie in the same piece. */
static size_t within(const wtl_net *net, wtl_place at, uint64_t n)
{
  uint64_t size = piece_bytes(net, at.segment), left = size - at.offset % size;
  return (size_t)(n < left ? n : left);
}

static void offer_here(wtl_net *net, const void *here, size_t n);

/* Calls the transport's `act` for each piece of the operation. `here` is the memory on this side. */
static void each_piece(wtl_net *net, const wtl_net_op *o, char *here, size_t n, wtl_rma_fn *act, bool is_put)
{
  net->counts.rma_bytes += n;
  if (net->transport->ops->copies && net->transport->ops->copies(net->transport)) offer_here(net, here, n);
  for (size_t done = 0, step; done < n; done += step) {
    wtl_place at = {o->at.offset + done, o->at.segment};
    step = within(net, at, n - done);
    waiter w = o->left  ? wtl_net_wait_alone(o->left)
               : is_put ? wtl_net_wait_epoch(net)
                        : wtl_net_wait_together(net, o->flow, o->pe);
    act(net->transport, o->pe,
        &(wtl_transport_rma){.key = &find_piece(net, o->pe, at)->key,
                             .offset = at.offset % piece_bytes(net, at.segment),
                             .here = here + done,
                             .n = step,
                             .done = ended,
                             .arg = begin(net, o->pe, w)});
  }
}

static void note_put(wtl_net *net, int pe, uint64_t offset, size_t n);

bool wtl_net_rma_put(wtl_net *net, const wtl_net_op *o, const void *from, size_t n)
{
  if (!is_open(net, o->pe, o->at, n)) return false;
  net->rma_dirty = true;
  wtl_net_disorder(net);
  each_piece(net, o, (char *)(uintptr_t)from, n, net->transport->ops->put, true);
  if (o->at.segment == WTL_NET_AWAITED_SEGMENT) note_put(net, o->pe, o->at.offset, n);
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
    if (to == RING_IN_FLUSH) p->covered = p->unrung, p->unrung = (wtl_net_span){0};
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
  if (p->ring != NO_RING) return;
  p->ring = RING_IN_NEXT_FLUSH;
  if (!net->owed) net->owed = list_of_pes(net);
  net->owed[net->n_owed] = pe;
  net->n_owed++;
  if (!net->rma_flushing) start_flush(net);
}

static void note_put(wtl_net *net, int pe, uint64_t offset, size_t n)
{
  peer *p = &net->peers[pe];
  wtl_net_span *s = &p->unrung;
  if (!s->end || offset < s->from) s->from = offset;
  if (offset + n > s->end) s->end = offset + n;
  if (WTL_UNLIKELY(p->may_sleep)) owe_ring(net, pe);
}

bool wtl_net_rma_take_notice(wtl_net *net, int from)
{
  peer *p = &net->peers[from];
  if (!p->has_key) return false;
  p->may_sleep = true;
  if (p->unrung.end && !net->ending) owe_ring(net, from);
  return true;
}

static void send_ring(wtl_net *net, int pe)
{
  wtl_net_span s = net->peers[pe].covered;
  wtl_net_add_record(net, pe, WIRE_RING, (wtl_place){s.from, WTL_NET_AWAITED_SEGMENT}, s.end - s.from, 0, 0);
  wtl_net_send_batch(net, pe);
}

void wtl_net_rma_send_rings(wtl_net *net)
{
  int n = net->n_owed, kept = 0;
  net->ring_due = false;
  for (int i = 0; i < n; i++) {
    int pe = net->owed[i];
    peer *p = &net->peers[pe];
    if (p->ring == RING_DUE) {
      send_ring(net, pe);
      p->ring = p->may_sleep && p->unrung.end ? RING_IN_NEXT_FLUSH : NO_RING; /* there were puts during the flush */
    }
    if (p->ring != NO_RING) net->owed[kept++] = pe;
  }
  net->n_owed = kept;
  if (!net->rma_flushing && awaits_next_flush(net)) start_flush(net);
}

/* Wakes the threads that wait for `n` bytes at `offset`. */
static void wake_sleepers(wtl_net *net, uint64_t offset, uint64_t n)
{
  wtl_fence();
  net->callbacks.changed(net->callbacks.owner, (wtl_place){offset, WTL_NET_AWAITED_SEGMENT}, n);
}

bool wtl_net_rma_take_ring(wtl_net *net, int from, wtl_place at, uint64_t n)
{
  if (!net->peers[from].puts_here || at.segment != WTL_NET_AWAITED_SEGMENT || n == 0) return false;
  wake_sleepers(net, at.offset, n);
  return true;
}

static void withdraw(wtl_net *net, int pe)
{
  net->peers[pe].has_notice = false;
  if (!net->unaware) net->unaware = list_of_pes(net);
  net->unaware[net->n_unaware] = pe;
  net->n_unaware++;
  wtl_net_add_record(net, pe, WIRE_WITHDRAWAL, (wtl_place){0}, 0, 0, 0);
  wake_sleepers(net, 0, open_bytes(net, WTL_NET_AWAITED_SEGMENT));
}

void wtl_net_rma_took_for_notice(wtl_net *net, int from)
{
  peer *p = &net->peers[from];
  uint32_t sleeps = atomic_load_explicit(&net->sleeps, memory_order_relaxed);
  bool in_vain = p->sleeps == sleeps && !(net->callbacks.sleeps && net->callbacks.sleeps(net->callbacks.owner));
  p->sleeps = sleeps;
  p->in_vain = in_vain ? p->in_vain + 1 : 0;
  if (p->in_vain >= IN_VAIN && p->has_notice) withdraw(net, from);
}

/* The next fence waits for the messages that are under way. Hardware is not used before those are complete for which a
 * fence has not waited. */
bool wtl_net_rma_take_withdrawal(wtl_net *net, int from)
{
  peer *p = &net->peers[from];
  if (!p->has_key) return false;
  p->may_sleep = false;
  if (!wtl_net_is_pending(p)) return true;
  net->last_sent = net->epochs.now + 1;
  if (p->fences != net->fences) wtl_net_drain(net, from);
  return true;
}

void wtl_net_post_notice(wtl_net *net)
{
  atomic_fetch_add_explicit(&net->sleeps, 1, memory_order_relaxed);
  if (wtl_net_notice_is_posted(net)) return;
  wtl_net_lock(net);
  for (int i = 0; i < net->n_unaware; i++) {
    net->peers[net->unaware[i]].has_notice = true;
    wtl_net_add_record(net, net->unaware[i], WIRE_NOTICE, (wtl_place){0}, 0, 0, 0);
    wtl_net_send_batch(net, net->unaware[i]);
  }
  net->n_unaware = 0;
  wtl_net_unlock(net);
}

/* --- keys ------------------------------------------------------------------------------------------------------- */

static void make_offer(wtl_net *net, offer *o, wtl_place at)
{
  size_t n = within(net, at, open_bytes(net, at.segment) - at.offset), length = KEY_BYTES - sizeof(wire_key);
  void *start = net->callbacks.find(net->callbacks.owner, at, n);
  wire_key key = {(uint64_t)(uintptr_t)start};
  o->tried = true;
  if (!start || !net->transport->ops->offer) return;
  if (net->transport->ops->offer(net->transport, start, n, o->key + sizeof key, &length) != 0) return;
  memcpy(o->key, &key, sizeof key);
  o->length = sizeof key + length;
}

static offer *find_offer(wtl_net *net, int pe, uint32_t segment, size_t i)
{
  offer **offers = &net->offers[segment];
  if (!*offers && !(*offers = calloc(n_pieces(net, segment), sizeof **offers)))
    wtl_net_fail(net, pe, "no memory for keys of", "out of memory");
  return &(*offers)[i];
}

static void offer_of(wtl_net *net, uint32_t segment, const void *here, size_t n)
{
  const char *start = net->callbacks.find(net->callbacks.owner, (wtl_place){0, segment}, 1);
  uint64_t bytes = open_bytes(net, segment), size = piece_bytes(net, segment);
  uint64_t at = (uint64_t)((uintptr_t)here - (uintptr_t)start);
  if (!start || at >= bytes || n > bytes - at) return;
  for (uint64_t i = at / size; i <= (at + n - 1) / size; i++) {
    offer *o = find_offer(net, net->boot->pe, segment, (size_t)i);
    if (!o->tried) make_offer(net, o, (wtl_place){i * size, segment});
  }
}

/* Offers the pieces of this PE's own open segments in which the bytes lie: then the transport need not copy them. */
static void offer_here(wtl_net *net, const void *here, size_t n)
{
  for (uint32_t segment = 0; segment < WTL_NET_OPEN_SEGMENTS; segment++) offer_of(net, segment, here, n);
}

bool wtl_net_rma_want_key(wtl_net *net, int from, wtl_place at, uint64_t token)
{
  uint64_t size = piece_bytes(net, at.segment);
  if (at.offset % size || at.offset >= open_bytes(net, at.segment)) return false;
  offer *o = find_offer(net, from, at.segment, (size_t)(at.offset / size));
  if (!o->tried && may(net, from)) make_offer(net, o, at);
  if (o->length && !net->peers[from].puts_here) net->peers[from].puts_here = net->peers[from].has_notice = true;
  memcpy(wtl_net_add_record(net, from, WIRE_KEY, (wtl_place){0}, token, o->length, o->length), o->key, o->length);
  return true;
}

bool wtl_net_rma_take_key(wtl_net *net, int from, uint64_t token, const void *data, size_t n)
{
  peer *p = &net->peers[from];
  wire_key key;
  uint32_t segment = (uint32_t)(token >> 32), i = (uint32_t)token;
  if (segment >= WTL_NET_OPEN_SEGMENTS || !p->pieces[segment] || i >= n_pieces(net, segment)) return false;
  piece *found = &p->pieces[segment][i];
  if (found->state != WANTED) return false;
  found->state = CLOSED;
  if (n <= sizeof key) return true;
  if (!p->has_key) p->has_key = p->may_sleep = true;
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
  for (int pe = 0; net->rma_used && pe < net->boot->n_pes; pe++)
    for (int segment = 0; segment < WTL_NET_OPEN_SEGMENTS; segment++) free(net->peers[pe].pieces[segment]);
  for (int segment = 0; segment < WTL_NET_OPEN_SEGMENTS; segment++) free(net->offers[segment]);
  free(net->unaware);
  free(net->owed);
}
