/* net_out.c - sends puts, gets, atomic operations, flushes, messages and answers. */
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "fabric/net_state.h"
#include "os/os.h"

/* --- waiting ---------------------------------------------------------------------------------------------------- */

waiter wtl_net_wait_alone(_Atomic uint32_t *left)
{
  WTL_NET_ADD(*left, 1);
  return (waiter){.left = left};
}

waiter wtl_net_wait_epoch(wtl_net *net)
{
  return (waiter){.epoch = wtl_epoch_begin(&net->epochs), .in_epoch = true};
}

wtl_net_bins *wtl_net_bins_of(wtl_net *net, wtl_net_flow *flow, int pe)
{
  if (!flow) return &net->peers[pe].bins;
  return pe < 0 ? &flow->all : &flow->to[pe];
}

static _Atomic uint32_t *open_bin(wtl_net_bins *bins)
{
  return &bins->left[bins->turn & 1];
}

waiter wtl_net_wait_together(wtl_net *net, wtl_net_flow *flow, int pe)
{
  waiter w = flow ? wtl_net_wait_alone(open_bin(&flow->all)) : wtl_net_wait_epoch(net);
  w.all = w.left;
  w.left = open_bin(wtl_net_bins_of(net, flow, pe));
  WTL_NET_ADD(*w.left, 1);
  return w;
}

void wtl_net_wait_ends(wtl_net *net, waiter w)
{
  bool over = w.left && WTL_NET_ADD(*w.left, -1) == 0;
  if (w.all && WTL_NET_ADD(*w.all, -1) == 0) over = true;
  if (w.in_epoch && wtl_epoch_end(&net->epochs, w.epoch)) over = true;
  if (over) net->completed = true;
}

void wtl_net_disorder(wtl_net *net)
{
  net->last_sent = net->last_disordered = net->epochs.now + 1;
}

void wtl_net_left(wtl_net *net)
{
  if (WTL_NET_ADD(net->in_flight, -1) == MAX_IN_FLIGHT - 1) net->completed = true; /* there is space again */
}

/* --- batches ---------------------------------------------------------------------------------------------------- */

/* Lists PE `pe`: progress has something to send to it. */
static void list(wtl_net *net, int pe)
{
  if (net->peers[pe].listed) return;
  net->peers[pe].listed = true;
  net->unsent[net->n_unsent++] = pe;
}

/*
 * Marks a batch as sent. It sends nothing itself, and large_sent does not either. The transport that calls them may be
 * about to send queued messages, and a connection that is free at this moment would let a new message overtake those.
 */
static void batch_sent(void *arg)
{
  batch *b = arg;
  wtl_net *net = b->net;
  int pe = b->pe;
  b->next_free = net->free_batches;
  net->free_batches = b;
  wtl_net_left(net);
  if (pe >= 0 && --net->peers[pe].leaving == 0 && net->peers[pe].open) list(net, pe);
}

static batch *new_batch(wtl_net *net)
{
  batch *b = net->free_batches;
  if (b)
    net->free_batches = b->next_free;
  else if (!(b = malloc(sizeof *b)))
    wtl_net_fail(net, net->boot->pe, "no memory for a message of", "out of memory");
  b->net = net;
  b->pe = -1;
  b->operations = 0;
  b->used = 0;
  b->run = NULL;
  b->head = (wire_head){net->cookie, (uint32_t)net->boot->pe, 0};
  return b;
}

/* Counts the time to send a message with one operation, which is what each merged operation saves at least here. */
static void count_single(wtl_net *net, uint64_t ticks)
{
  if (!net->counts.single++ || ticks < net->counts.least_ticks) net->counts.least_ticks = ticks;
  net->counts.single_ticks += ticks;
}

static void send_batch(wtl_net *net, int pe, batch *b, enum wtl_transport_send_mode mode)
{
  uint64_t begin = b->operations == 1 ? wtl_ticks() : 0;
  WTL_NET_ADD(net->in_flight, 1);
  net->counts.sent++;
  net->counts.bytes_sent += sizeof b->head + b->used;
  if (b->operations > 1) net->counts.merged += b->operations - 1;
  wtl_transport_message m = {WIRE_BATCH, NULL, 0, &b->head, sizeof b->head + b->used, mode, batch_sent, b};
  net->transport->ops->send(net->transport, pe, &m);
  if (begin) count_single(net, wtl_ticks() - begin);
}

void wtl_net_send_batch(wtl_net *net, int pe)
{
  batch *b = net->peers[pe].open;
  if (!b) return;
  net->peers[pe].open = NULL;
  net->peers[pe].leaving++;
  b->pe = pe;
  send_batch(net, pe, b, WTL_SEND_EAGER);
}

/* While the connection is full, waits with the batch, so that answers do not leave in one message each. */
void wtl_net_send_in_turn(wtl_net *net, int pe)
{
  if (net->peers[pe].leaving == 0) wtl_net_send_batch(net, pe);
}

static void *append(batch *b, enum wire_kind kind, wtl_place at, uint64_t token, uint64_t n, uint64_t space)
{
  wire_record *r = (wire_record *)(void *)(b->data + b->used);
  *r = (wire_record){(uint16_t)kind, 0, at.segment, at.offset, token, (uint32_t)n, 0, 0};
  b->used += sizeof *r + wire_padded(space);
  b->head.records++;
  b->run = NULL;
  return r + 1;
}

void wtl_net_send_heartbeat(wtl_net *net, int pe, bool of_the_end)
{
  batch *b = new_batch(net);
  if (of_the_end) append(b, WIRE_END, (wtl_place){0}, ~net->cookie, 0, 0);
  send_batch(net, pe, b, WTL_SEND_EAGER_UNORDERED);
}

static void start_queued(wtl_net *net, peer *p);

/* A PE that is listed again during the loop stays listed. */
void wtl_net_send_all(wtl_net *net, bool in_turn)
{
  int n = net->n_unsent;
  for (int i = 0; i < n; i++) {
    int pe = net->unsent[i];
    net->peers[pe].listed = false;
    start_queued(net, &net->peers[pe]);
    (in_turn ? wtl_net_send_in_turn : wtl_net_send_batch)(net, pe);
  }
  net->n_unsent -= n;
  memmove(net->unsent, net->unsent + n, (size_t)net->n_unsent * sizeof *net->unsent);
}

/* Adds a record with space for `space` bytes of data, which the caller fills in. */
void *wtl_net_add_record(wtl_net *net, int pe, enum wire_kind kind, wtl_place at, uint64_t token, uint64_t n,
                         uint64_t space)
{
  peer *p = &net->peers[pe];
  size_t need = sizeof(wire_record) + wire_padded(space);
  if (p->open && p->open->used + need > WIRE_BATCH_BYTES) wtl_net_send_batch(net, pe);
  if (!p->open) p->open = new_batch(net);
  list(net, pe);
  return append(p->open, kind, at, token, n, space);
}

/* Names the call site of the record whose data are at `data`. Returns `data`. */
static void *marked(void *data, uint16_t mark)
{
  ((wire_record *)data - 1)->mark = mark;
  return data;
}

/* --- pending operations ------------------------------------------------------------------------------------------- */

static void grow_pendings(wtl_net *net)
{
  uint32_t more = net->n_pendings ? net->n_pendings * 2 : 64;
  pending *grown = realloc(net->pendings, more * sizeof *grown);
  if (!grown) wtl_net_fail(net, net->boot->pe, "no memory for an operation of", "out of memory");
  for (uint32_t i = net->n_pendings; i < more; i++)
    grown[i] = (pending){.next_free = i + 1 < more ? i + 1 : UINT32_MAX};
  net->free_pending = net->n_pendings;
  net->pendings = grown;
  net->n_pendings = more;
}

/* Makes a pending operation and returns the token that its answer will carry. */
static uint64_t await(wtl_net *net, void *to, uint64_t n, int asked, waiter w)
{
  if (net->free_pending == UINT32_MAX) grow_pendings(net);
  uint32_t i = net->free_pending;
  pending *p = &net->pendings[i];
  net->free_pending = p->next_free;
  *p = (pending){to, n, w, asked, p->generation + 1, 0, true, false, false};
  if (to) {
    WTL_NET_ADD(net->fetches, 1);
    WTL_NET_ADD(net->fetch_bytes, n);
  }
  return (uint64_t)p->generation << 32 | i;
}

/* The pending operation of `token`, if there is one and its answer has `n` bytes. */
pending *wtl_net_find_pending(wtl_net *net, uint64_t token, uint64_t n)
{
  uint32_t i = (uint32_t)token;
  pending *p = i < net->n_pendings ? &net->pendings[i] : NULL;
  return p && p->used && p->generation == token >> 32 && p->n == n ? p : NULL;
}

void wtl_net_end_pending(wtl_net *net, pending *p)
{
  waiter w = p->waiter;
  bool was_full = p->to && !wtl_net_has_space(net);
  if (p->to) {
    WTL_NET_ADD(net->fetches, -1);
    WTL_NET_ADD(net->fetch_bytes, -p->n);
  }
  if (p->asked >= 0) {
    peer *asked = &net->peers[p->asked];
    asked->asked--;
    if (!asked->open) asked->row = 0;
    if (p->early) net->useless_answers++;
  }
  p->used = false;
  p->next_free = net->free_pending;
  net->free_pending = (uint32_t)(p - net->pendings);
  wtl_net_wait_ends(net, w);
  if (was_full) net->completed = true;
}

/* --- large messages --------------------------------------------------------------------------------------------- */

static void start_large(wtl_net *net, large *l);

/* Starts queued large messages as far as the limit allows. */
static void start_queued(wtl_net *net, peer *p)
{
  for (large *l; (l = p->queue) != NULL && p->abreast < ABREAST_BYTES;) {
    if (!(p->queue = l->next)) p->queue_end = &p->queue;
    if (WTL_NET_ADD(net->queued, -1) == MAX_QUEUED - 1) net->completed = true;
    start_large(net, l);
  }
}

static void free_copy(wtl_net *net, large *l)
{
  bool was_full = !wtl_net_has_space(net);
  free((void *)(uintptr_t)l->from);
  WTL_NET_ADD(net->copied_bytes, -(uint64_t)l->n);
  if (was_full && wtl_net_has_space(net)) net->completed = true;
}

static void large_sent(void *arg)
{
  large *l = arg;
  wtl_net *net = l->net;
  peer *p = &net->peers[l->pe];
  if (l->has_waiter) wtl_net_wait_ends(net, l->waiter);
  if (l->n >= WTL_NET_LARGE) p->abreast -= (uint32_t)l->n;
  if (l->owned) free_copy(net, l);
  free(l);
  wtl_net_left(net);
  if (p->queue) list(net, (int)(p - net->peers));
}

/*
 * The pieces of a long get are answered on a connection of their own (RENDEZVOUS_UNORDERED). Otherwise this PE's own
 * requests would arrive behind them, and two PEs that get from each other would alternate on a line that carries both
 * directions. A shorter answer arrives together with the messages after it, so its target wakes up only once. If this
 * PE has requested nothing during MUTUAL pieces, it has nothing to delay, and one connection takes less time than two.
 */
enum { MUTUAL = 64 };

static enum wtl_transport_send_mode choose_send_mode(const large *l)
{
  peer *p = &l->net->peers[l->pe];
  if (l->n < WTL_NET_LARGE) return WTL_SEND_EAGER;
  if (l->message != WIRE_DATA || l->n < WTL_NET_MOST || p->mutual == 0) return WTL_SEND_RENDEZVOUS;
  p->mutual--;
  return WTL_SEND_RENDEZVOUS_UNORDERED;
}

static void start_large(wtl_net *net, large *l)
{
  wtl_net_send_batch(net, l->pe); /* earlier records leave first */
  if (l->n >= WTL_NET_LARGE) net->peers[l->pe].abreast += (uint32_t)l->n;
  WTL_NET_ADD(net->in_flight, 1);
  net->counts.sent++;
  net->counts.bytes_sent += sizeof l->head + l->n;
  wtl_transport_message m = {l->message, &l->head, sizeof l->head, l->from, l->n, choose_send_mode(l), large_sent, l};
  net->transport->ops->send(net->transport, l->pe, &m);
}

/* Makes the message for PE `pe`, complete except for its data and its waiter. */
static large *new_large(wtl_net *net, int pe, enum wire_message message, wtl_place at, uint64_t token)
{
  large *l = calloc(1, sizeof *l);
  if (!l) wtl_net_fail(net, pe, "no memory for a message to", "out of memory");
  *l = (large){.net = net, .message = message, .pe = pe};
  l->head = (wire_large){net->cookie, (uint32_t)net->boot->pe, at.segment, at.offset, token, 0};
  return l;
}

static void set_waiter(large *l, waiter w)
{
  l->waiter = w;
  l->has_waiter = true;
}

/* Sends `n` bytes as a message of their own, at once or when earlier ones have left. */
static void send_large(large *l, const void *from, size_t n)
{
  wtl_net *net = l->net;
  peer *p = &net->peers[l->pe];
  l->from = from;
  l->n = n;
  if (n < WTL_NET_LARGE || p->abreast < ABREAST_BYTES) {
    start_large(net, l);
    return;
  }
  if (!p->queue) p->queue_end = &p->queue;
  *p->queue_end = l;
  p->queue_end = &l->next;
  WTL_NET_ADD(net->queued, 1);
}

/* --- answering -------------------------------------------------------------------------------------------------- */

static void send_answer(wtl_net *net, int pe, uint64_t token, const void *from, size_t n)
{
  if (n <= WTL_NET_MERGED)
    wtl_load_bytes(wtl_net_add_record(net, pe, WIRE_ANSWER, (wtl_place){0}, token, n, n), from, n);
  else
    send_large(new_large(net, pe, WIRE_DATA, (wtl_place){0}, token), from, n);
}

/* Answers with `n` bytes at `from`, which lie in a segment. While too many messages are under way the answer waits, and
 * reads the data when it leaves. */
void wtl_net_answer(wtl_net *net, int pe, uint64_t token, const void *from, size_t n)
{
  if (!net->answers && net->in_flight < MAX_IN_FLIGHT && n <= WTL_NET_MERGED) {
    send_answer(net, pe, token, from, n);
    return;
  }
  answer *a = malloc(sizeof *a);
  if (!a) wtl_net_fail(net, pe, "no memory to answer", "out of memory");
  *a = (answer){NULL, pe, from, n, token};
  if (!net->answers) net->answers_end = &net->answers;
  *net->answers_end = a;
  net->answers_end = &a->next;
}

bool wtl_net_send_answers(wtl_net *net)
{
  bool any = false;
  for (answer *a; (a = net->answers) != NULL && net->in_flight < MAX_IN_FLIGHT; free(a)) {
    net->answers = a->next;
    send_answer(net, a->pe, a->token, a->from, a->n);
    any = true;
  }
  return any;
}

/* --- the interface ---------------------------------------------------------------------------------------------- */

bool wtl_net_has_space(const wtl_net *net)
{
  return net->in_flight < MAX_IN_FLIGHT && net->fetches < MAX_FETCHES && net->fetch_bytes < MAX_FETCH_BYTES &&
         net->queued < MAX_QUEUED && net->copied_bytes < MAX_COPIED_BYTES;
}

/* The counters of an operation that begins now. The caller holds the lock. */
static waiter waiter_of(wtl_net *net, const wtl_net_op *o)
{
  return o->left ? wtl_net_wait_alone(o->left) : wtl_net_wait_together(net, o->flow, o->pe);
}

bool wtl_net_is_pending(const peer *p)
{
  return p->dirty || p->bins.left[0] || p->bins.left[1];
}

/* Something was sent whose completion was not requested. Hardware does not overtake it while the PE may sleep. */
static void mark_dirty(wtl_net *net, const wtl_net_op *o)
{
  wtl_net_flow *flow = o->flow;
  int pe = o->pe;
  peer *p = &net->peers[pe];
  p->mark = o->mark;
  if (flow) {
    flow->is_dirty[pe] = 1;
    if (flow->in_dirty[pe]) return;
    flow->in_dirty[pe] = 1;
    flow->dirty[flow->n_dirty++] = pe;
    return;
  }
  if (p->has_key && !p->may_sleep) net->last_sent = net->epochs.now + 1;
  if (!wtl_net_is_pending(p)) p->fences = atomic_load_explicit(&net->fences, memory_order_relaxed);
  p->dirty = true;
  if (p->in_dirty) return;
  p->in_dirty = true;
  net->dirty[net->n_dirty++] = pe;
}

/* Returns a token. Its answer completes all that was sent to the PE so far, and the message that carries the
 * request. */
static uint64_t ask(wtl_net *net, wtl_net_flow *flow, int pe, bool early)
{
  if (flow)
    flow->is_dirty[pe] = 0;
  else
    net->peers[pe].dirty = false;
  net->peers[pe].asked++;
  uint64_t token = await(net, NULL, 0, pe, wtl_net_wait_together(net, flow, pe));
  wtl_net_find_pending(net, token, 0)->early = early;
  return token;
}

static void add_flush(wtl_net *net, wtl_net_flow *flow, int pe, bool early)
{
  uint16_t mark = net->peers[pe].mark;
  marked(wtl_net_add_record(net, pe, WIRE_FLUSH, (wtl_place){0}, ask(net, flow, pe, early), 0, 0), mark);
}

void wtl_net_drain(wtl_net *net, int pe)
{
  uint64_t token = await(net, NULL, 0, -1, wtl_net_wait_alone(&net->peers[pe].draining));
  wtl_net_add_record(net, pe, WIRE_FLUSH, (wtl_place){0}, token, 0, 0);
}

/*
 * To request completion together with a put saves the quiet a message. If no quiet follows, the answer is useless and
 * delays the target's own next message. So after this many useless answers only quiets and operations that are held
 * request completion, until the next quiet.
 */
enum { USELESS_ANSWERS = 4 };

/* After more than this many small operations in a row on a PE, further ones are likely, and it is cheaper to hold them.
 * A wait ends a row, and so does an answer that finds none held. So data, a length and a flag leave at once. */
enum { A_ROW = 4 };

static bool is_in_a_row(const wtl_net *net, peer *p)
{
  uint32_t waits = atomic_load_explicit(&net->waits, memory_order_relaxed);
  if (p->row_since != waits) p->row = 0;
  p->row_since = waits;
  return ++p->row > A_ROW;
}

/* May completion be requested together with the message? One request at a time: its answer sends what is held. */
static bool asks_early(const wtl_net *net, int pe, enum wtl_net_send_mode mode, bool held)
{
  if (mode > WTL_NET_HELD || net->peers[pe].asked) return false;
  return held || net->useless_answers < USELESS_ANSWERS;
}

static bool *batching_of(wtl_net *net, wtl_net_flow *flow)
{
  return flow ? &flow->batches : &net->batches;
}

void wtl_net_batch(wtl_net *net, wtl_net_flow *flow, bool batches)
{
  wtl_net_lock(net);
  *batching_of(net, flow) = batches;
  wtl_net_unlock(net);
}

/* Sends the PE's batch or holds it. A batch that is held leaves at the latest when the answer of the first one arrives.
 * True: the caller must ensure progress for that. */
static bool dispatch(wtl_net *net, const wtl_net_op *o)
{
  if (o->mode == WTL_NET_AHEAD || o->mode == WTL_NET_MORE) return false;
  bool batches = o->mode == WTL_NET_HELD || *batching_of(net, o->flow), small = o->mode <= WTL_NET_HELD;
  bool held = small && net->merges && (batches || is_in_a_row(net, &net->peers[o->pe]));
  if (small) net->peers[o->pe].open->operations++;
  bool asks = asks_early(net, o->pe, o->mode, held);
  if (asks) add_flush(net, o->flow, o->pe, !held);
  if (asks || !held) wtl_net_send_batch(net, o->pe);
  return held && !asks && !batches;
}

static void disorder(wtl_net *net, wtl_net_flow *flow)
{
  if (flow)
    flow->disordered++;
  else
    wtl_net_disorder(net);
}

/* May a put of `n` bytes overtake earlier messages or be overtaken? */
static bool may_overtake(const wtl_net *net, int pe, size_t n)
{
  return n >= WTL_NET_LARGE && (!net->transport->ops->keeps_order || net->peers[pe].abreast >= ABREAST_BYTES);
}

/* Sends a put that may overtake as a message of its own, with an answer of its own. */
static void put_unordered(wtl_net *net, const wtl_net_op *o, const void *from, size_t n)
{
  disorder(net, o->flow);
  uint64_t token = await(net, NULL, 0, -1, wtl_net_wait_together(net, o->flow, o->pe));
  large *l = new_large(net, o->pe, WIRE_PUT, o->at, token);
  l->head.mark = o->mark;
  if (o->left) set_waiter(l, wtl_net_wait_alone(o->left));
  send_large(l, from, n);
}

static void put_alone(wtl_net *net, const wtl_net_op *o, const void *from, size_t n)
{
  waiter w = waiter_of(net, o);
  bool held = o->mode == WTL_NET_HELD, asks = asks_early(net, o->pe, o->mode, held);
  large *l = new_large(net, o->pe, WIRE_PUT, o->at, asks ? ask(net, o->flow, o->pe, !held) : 0);
  l->head.mark = o->mark;
  set_waiter(l, w);
  send_large(l, from, n);
}

/* Is it a message because threads of the target may sleep? */
static bool is_for_sleepers(const wtl_net *net, const wtl_net_op *o, size_t n)
{
  return net->peers[o->pe].may_sleep && n <= WTL_NET_MERGED && o->mode < WTL_NET_SIGNAL &&
         o->at.segment == WTL_NET_AWAITED_SEGMENT;
}

/* Sends a put as a message. */
static bool put(wtl_net *net, const wtl_net_op *o, const void *from, size_t n)
{
  if (may_overtake(net, o->pe, n)) {
    put_unordered(net, o, from, n);
    return false;
  }
  if (o->mode < WTL_NET_SIGNAL) mark_dirty(net, o);
  if (n > WTL_NET_MERGED) {
    put_alone(net, o, from, n);
    return false;
  }
  void *data = marked(wtl_net_add_record(net, o->pe, WIRE_STORE, o->at, 0, n, n), o->mark);
  ((wire_record *)data - 1)->rings = is_for_sleepers(net, o, n);
  memcpy(data, from, n);
  return dispatch(net, o);
}

static void count_by_hardware(wtl_net *net, wtl_net_flow *flow, int pe)
{
  wtl_net_bins_of(net, flow, pe)->by_hardware++;
  if (flow) flow->all.by_hardware++;
}

/* Where operations are batched, short puts share messages although hardware could take each. */
static bool prefers_messages(wtl_net *net, const wtl_net_op *o, size_t n)
{
  return o->mode >= WTL_NET_SIGNAL || is_for_sleepers(net, o, n) ||
         (o->at.segment != WTL_NET_AWAITED_SEGMENT && n <= WTL_NET_MERGED) ||
         (!o->flow && net->peers[o->pe].draining) ||
         (net->merges && n <= WTL_NET_BATCHED && *batching_of(net, o->flow));
}

void wtl_net_note_fence(wtl_net *net)
{
  atomic_fetch_add_explicit(&net->fences, 1, memory_order_relaxed);
}

bool wtl_net_put(wtl_net *net, const wtl_net_op *o, const void *from, size_t n)
{
  bool waits = false;
  wtl_os_note_work(WTL_OS_FAR);
  wtl_net_lock(net);
  if (prefers_messages(net, o, n) || !wtl_net_rma_put(net, o, from, n))
    waits = put(net, o, from, n);
  else
    count_by_hardware(net, o->flow, o->pe), waits = net->peers[o->pe].ring != NO_RING;
  wtl_net_unlock(net);
  return waits;
}

/* Sends a fetch at once if a thread waits for it or no other is pending. Others leave when the first answer arrives. */
static void dispatch_fetch(wtl_net *net, const wtl_net_op *o)
{
  net->peers[o->pe].open->operations++;
  if (o->left || net->fetches == 1 || !net->merges) wtl_net_send_batch(net, o->pe);
}

/* May a message to the PE be under way that a fence was behind? */
static bool is_fenced(const wtl_net *net, const peer *p)
{
  return p->draining || (p->fences != net->fences && wtl_net_is_pending(p));
}

bool wtl_net_overtakes(wtl_net *net, const wtl_net_op *o, size_t n)
{
  if (!net->rma_used || o->flow || n <= WTL_NET_MERGED || o->mode >= WTL_NET_SIGNAL) return false;
  wtl_net_lock(net);
  bool overtakes = is_fenced(net, &net->peers[o->pe]);
  wtl_net_unlock(net);
  return overtakes;
}

/* Gets of global memory keep their order with puts before a fence, those of OpenSHMEM have none. */
static bool gets_by_message(const wtl_net *net, const wtl_net_op *o)
{
  return o->at.segment != WTL_NET_AWAITED_SEGMENT && !o->flow && is_fenced(net, &net->peers[o->pe]);
}

void wtl_net_get(wtl_net *net, const wtl_net_op *o, void *to, size_t n)
{
  wtl_os_note_work(WTL_OS_FAR);
  wtl_net_lock(net);
  net->peers[o->pe].mutual = MUTUAL;
  if (gets_by_message(net, o) || !wtl_net_rma_get(net, o, to, n)) {
    uint64_t token = await(net, to, n, -1, waiter_of(net, o));
    marked(wtl_net_add_record(net, o->pe, WIRE_LOAD, o->at, token, n, 0), o->mark);
    dispatch_fetch(net, o);
  }
  wtl_net_unlock(net);
}

static void add_amo(wtl_net *net, const wtl_net_op *o, const wtl_atomic *a, uint64_t token)
{
  memcpy(marked(wtl_net_add_record(net, o->pe, WIRE_AMO, o->at, token, sizeof *a, sizeof *a), o->mark), a, sizeof *a);
}

bool wtl_net_amo(wtl_net *net, const wtl_net_op *o, const wtl_atomic *a, void *result)
{
  bool waits = false;
  wtl_os_note_work(WTL_OS_FAR);
  wtl_net_lock(net);
  if (result) {
    add_amo(net, o, a, await(net, result, a->size, -1, waiter_of(net, o)));
    /* It may still be held, and hardware may overtake it. */
    if (!o->flow && !o->left) net->last_sent = net->epochs.now + 1;
    dispatch_fetch(net, o);
  } else {
    mark_dirty(net, o);
    add_amo(net, o, a, 0);
    waits = dispatch(net, o);
  }
  wtl_net_unlock(net);
  return waits;
}

static void *copy_of(wtl_net *net, int pe, const void *from, size_t n)
{
  void *copy = malloc(n);
  if (!copy) wtl_net_fail(net, pe, "no memory for a message to", "out of memory");
  WTL_NET_ADD(net->copied_bytes, n);
  return memcpy(copy, from, n);
}

/* Short messages of one tag and length in a row share a record, and the target takes them together. A run of A_RUN
 * leaves at once: to handle it takes the target as long as it takes to send it, so both work at the same time. */
enum { RUN_BYTES = 256, A_RUN = 512 };

/* Space for a message in the record of the messages before it. NULL: it needs a record of its own. */
static void *join_run(batch *b, wtl_net_tag tag, size_t n)
{
  wire_record *r = b ? b->run : NULL;
  if (!r || r->n != n || r->token != tag.b || r->offset != tag.a || r->segment != tag.kind || r->mark != tag.mark ||
      b->used + wire_padded(n) > WIRE_BATCH_BYTES)
    return NULL;
  void *space = b->data + b->used;
  b->used += wire_padded(n);
  r->more++;
  return space;
}

static void *add_message(wtl_net *net, int pe, wtl_net_tag tag, size_t n)
{
  peer *p = &net->peers[pe];
  bool joins = tag.joins && n <= RUN_BYTES;
  void *space = joins ? join_run(p->open, tag, n) : NULL;
  if (!space) {
    space = marked(wtl_net_add_record(net, pe, WIRE_AM, (wtl_place){tag.a, tag.kind}, tag.b, n, n), tag.mark);
    if (joins) p->open->run = (wire_record *)space - 1;
  }
  p->open->operations += tag.joins;
  return space;
}

static bool is_whole(const batch *b)
{
  return b->run && b->run->more + 1 == A_RUN;
}

void wtl_net_message(wtl_net *net, int pe, wtl_net_tag tag, const void *from, size_t n, bool held,
                     _Atomic uint32_t *left)
{
  wtl_place at = {tag.a, tag.kind};
  wtl_net_lock(net);
  if (n <= WTL_NET_MERGED) {
    void *space = add_message(net, pe, tag, n);
    if (n == 8) /* the most frequent size: without a call */
      memcpy(space, from, 8);
    else if (n)
      memcpy(space, from, n);
    if (!held || is_whole(net->peers[pe].open)) wtl_net_send_batch(net, pe);
  } else {
    large *l = new_large(net, pe, WIRE_LARGE_AM, at, tag.b);
    l->head.mark = tag.mark;
    if (left) set_waiter(l, wtl_net_wait_alone(left));
    l->owned = !left;
    send_large(l, left ? from : copy_of(net, pe, from, n), n);
  }
  wtl_net_unlock(net);
}

void wtl_net_push(wtl_net *net)
{
  wtl_net_lock(net);
  if (net->n_unsent) wtl_net_send_all(net, false);
  wtl_net_unlock(net);
}

/* Is the epoch `plus_one` - 1 over? True for 0, which names no epoch. */
static bool over(const wtl_net *net, uint64_t plus_one)
{
  return !plus_one || wtl_epoch_is_over(&net->epochs, plus_one - 1);
}

void wtl_net_caller_waits(wtl_net *net)
{
  atomic_fetch_add_explicit(&net->waits, 1, memory_order_relaxed);
}

bool wtl_net_in_order(const wtl_net *net, const wtl_net_flow *flow)
{
  if (flow) return flow->ordered == flow->disordered && flow->all.flushed == flow->all.by_hardware && !net->rma_used;
  return over(net, net->last_disordered) && (!net->rma_used || over(net, net->last_sent));
}

uint64_t wtl_net_flush(wtl_net *net)
{
  wtl_net_lock(net);
  net->useless_answers = 0;
  for (int i = 0; i < net->n_dirty; i++) {
    net->peers[net->dirty[i]].in_dirty = false;
    if (net->peers[net->dirty[i]].dirty) add_flush(net, NULL, net->dirty[i], false);
  }
  net->n_dirty = 0;
  wtl_net_rma_flush(net);
  wtl_net_send_all(net, false);
  uint64_t flush = wtl_epoch_wait(&net->epochs);
  wtl_net_unlock(net);
  return flush;
}

bool wtl_net_flushed(const wtl_net *net, uint64_t flush)
{
  return wtl_epoch_is_over(&net->epochs, flush);
}

/* --- flows ------------------------------------------------------------------------------------------------------- */

wtl_net_flow *wtl_net_flow_open(const wtl_net *net)
{
  size_t n = (size_t)net->boot->n_pes;
  wtl_net_flow *flow = calloc(
      1, sizeof *flow + n * (sizeof *flow->to + sizeof *flow->dirty + sizeof *flow->is_dirty + sizeof *flow->in_dirty));
  if (!flow) return NULL;
  flow->to = (wtl_net_bins *)(flow + 1);
  flow->dirty = (int *)(flow->to + n);
  flow->is_dirty = (unsigned char *)(flow->dirty + n);
  flow->in_dirty = flow->is_dirty + n;
  return flow;
}

void wtl_net_flow_close(wtl_net_flow *flow)
{
  free(flow);
}

static void flush_dirty(wtl_net *net, wtl_net_flow *flow, int only)
{
  int kept = 0;
  for (int i = 0; i < flow->n_dirty; i++) {
    int pe = flow->dirty[i];
    if (only >= 0 && pe != only) {
      flow->dirty[kept++] = pe;
      continue;
    }
    flow->in_dirty[pe] = 0;
    if (flow->is_dirty[pe]) add_flush(net, flow, pe, false);
  }
  flow->n_dirty = kept;
}

wtl_net_covered wtl_net_flow_flush(wtl_net *net, wtl_net_flow *flow, int pe)
{
  wtl_net_lock(net);
  wtl_net_bins *bins = wtl_net_bins_of(net, flow, pe);
  wtl_net_covered all = {
      .disordered = flow && pe < 0 ? flow->disordered : 0, .by_hardware = bins->by_hardware, .turn = bins->turn};
  net->useless_answers = 0;
  if (flow)
    flush_dirty(net, flow, pe);
  else if (net->peers[pe].dirty)
    add_flush(net, NULL, pe, false);
  wtl_net_send_all(net, false);
  wtl_net_unlock(net);
  return all;
}

void wtl_net_flow_turn(wtl_net *net, wtl_net_bins *bins, uint64_t turn)
{
  wtl_net_lock(net);
  if (bins->turn == turn && bins->left[(turn + 1) & 1] == 0) bins->turn = turn + 1;
  wtl_net_unlock(net);
}

void wtl_net_flow_flushed(wtl_net *net, wtl_net_flow *flow, wtl_net_bins *bins, wtl_net_covered all)
{
  if ((!flow || all.disordered <= flow->ordered) && all.by_hardware <= bins->flushed) return;
  wtl_net_lock(net);
  if (flow && all.disordered > flow->ordered) flow->ordered = all.disordered;
  if (all.by_hardware > bins->flushed) bins->flushed = all.by_hardware;
  wtl_net_unlock(net);
}
