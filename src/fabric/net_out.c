/* What this PE sends: puts, gets, atomics, flushes, answers. */
#include <stdlib.h>
#include <string.h>

#include "fabric/net_state.h"

/* A message under way that travels alone; its header must live as long. */
typedef struct large {
  wtl_net *net;
  wire_large head;
  void *copy; /* of the data, where the caller's may change; else NULL */
} large;

static void batch_sent(void *arg)
{
  batch *b = arg;
  b->net->in_flight--;
  b->next_free = b->net->free_batches;
  b->net->free_batches = b;
}

static batch *new_batch(wtl_net *net)
{
  batch *b = net->free_batches;
  if (b)
    net->free_batches = b->next_free;
  else if (!(b = malloc(sizeof *b)))
    wtl_net_fail(net, net->boot->pe, "no memory for a message of", "out of memory");
  b->net = net;
  b->used = 0;
  b->head = (wire_head){net->cookie, (uint32_t)net->boot->pe, 0};
  return b;
}

void wtl_net_send_batch(wtl_net *net, int pe)
{
  batch *b = net->peers[pe].open;
  if (!b) return;
  net->peers[pe].open = NULL;
  net->in_flight++;
  net->counts.sent++;
  net->counts.bytes_sent += sizeof b->head + b->used;
  net->transport->ops->send(net->transport, pe, WIRE_BATCH, &b->head, sizeof b->head, b->data, b->used, true,
                            batch_sent, b);
}

void wtl_net_send_sign(wtl_net *net, int pe)
{
  if (!net->peers[pe].open) net->peers[pe].open = new_batch(net);
  wtl_net_send_batch(net, pe);
}

void wtl_net_send_all(wtl_net *net)
{
  for (int i = 0; i < net->n_unsent; i++) {
    net->peers[net->unsent[i]].listed = false;
    wtl_net_send_batch(net, net->unsent[i]);
  }
  net->n_unsent = 0;
}

/* Adds a record with room for `room` bytes of data, which the caller fills in. */
void *wtl_net_add_record(wtl_net *net, int pe, enum wire_kind kind, wtl_place at, uint64_t token, uint64_t n,
                         uint64_t room)
{
  peer *p = &net->peers[pe];
  size_t need = sizeof(wire_record) + wire_padded(room);
  if (p->open && p->open->used + need > WIRE_BATCH_BYTES) wtl_net_send_batch(net, pe);
  if (!p->open) p->open = new_batch(net);
  if (!p->listed) {
    p->listed = true;
    net->unsent[net->n_unsent++] = pe;
  }
  wire_record *r = (wire_record *)(void *)(p->open->data + p->open->used);
  *r = (wire_record){(uint16_t)kind, 0, at.region, at.offset, token, n};
  p->open->used += need;
  p->open->head.records++;
  return r + 1;
}

static void mark_dirty(wtl_net *net, int pe)
{
  peer *p = &net->peers[pe];
  net->unflushed = true;
  p->dirty = true;
  if (p->in_dirty) return;
  p->in_dirty = true;
  net->dirty[net->n_dirty++] = pe;
}

/* Asks for completion of all that was sent to a PE. */
static void ask(wtl_net *net, int pe)
{
  peer *p = &net->peers[pe];
  p->dirty = false;
  p->asked++;
  net->flushes++;
  wtl_net_add_record(net, pe, WIRE_FLUSH, (wtl_place){0}, 0, 0, 0);
}

static void large_sent(void *arg)
{
  large *l = arg;
  wtl_net *net = l->net;
  net->in_flight--;
  if (!l->copy) net->sources--;
  free(l->copy);
  free(l);
  net->home.completed(net->home.owner);
}

/* Sends `n` bytes alone. `copy`: they may change before they are sent. */
static void send_large(wtl_net *net, int pe, enum wire_message message, wtl_place at, uint64_t token, const void *from,
                       size_t n, bool copy)
{
  large *l = calloc(1, sizeof *l);
  if (l && copy) l->copy = malloc(n);
  if (!l || (copy && !l->copy)) wtl_net_fail(net, pe, "no memory for a message to", "out of memory");
  if (copy)
    from = memcpy(l->copy, from, n);
  else
    net->sources++;
  l->net = net;
  l->head = (wire_large){net->cookie, (uint32_t)net->boot->pe, at.region, at.offset, token};
  wtl_net_send_batch(net, pe); /* what was said before goes before */
  net->in_flight++;
  net->counts.sent++;
  net->counts.bytes_sent += sizeof l->head + n;
  net->transport->ops->send(net->transport, pe, message, &l->head, sizeof l->head, from, n, n < WTL_NET_LARGE,
                            large_sent, l);
}

void wtl_net_send_answers(wtl_net *net)
{
  for (answer *a; (a = net->answers) != NULL && net->in_flight < MAX_IN_FLIGHT; free(a)) {
    net->answers = a->next;
    if (!a->next) net->last_answer = &net->answers;
    send_large(net, a->pe, WIRE_DATA, (wtl_place){0}, a->token, a->from, a->n, a->n < WTL_NET_LARGE);
  }
}

/* --- fetches: what answers are for ------------------------------------------------------------------------------ */

static void grow_fetches(wtl_net *net)
{
  uint32_t more = net->n_slots ? net->n_slots * 2 : 64;
  fetch *grown = realloc(net->fetches_of, more * sizeof *grown);
  if (!grown) wtl_net_fail(net, net->boot->pe, "no memory for a fetch of", "out of memory");
  for (uint32_t i = net->n_slots; i < more; i++) grown[i] = (fetch){.next_free = i + 1 < more ? i + 1 : UINT32_MAX};
  net->free_slot = net->n_slots;
  net->fetches_of = grown;
  net->n_slots = more;
}

static uint64_t begin_fetch(wtl_net *net, void *to, uint64_t n)
{
  if (net->free_slot == UINT32_MAX) grow_fetches(net);
  uint32_t i = net->free_slot;
  fetch *f = &net->fetches_of[i];
  net->free_slot = f->next_free;
  f->to = to;
  f->n = n;
  net->fetches++;
  return (uint64_t)++f->generation << 32 | i;
}

/* The fetch that `token` names, if there is one and `n` bytes answer it. */
fetch *wtl_net_find_fetch(wtl_net *net, uint64_t token, uint64_t n)
{
  uint32_t i = (uint32_t)token;
  fetch *f = i < net->n_slots ? &net->fetches_of[i] : NULL;
  return f && f->to && f->generation == token >> 32 && f->n == n ? f : NULL;
}

void wtl_net_end_fetch(wtl_net *net, fetch *f)
{
  f->to = NULL;
  f->next_free = net->free_slot;
  net->free_slot = (uint32_t)(f - net->fetches_of);
  net->fetches--;
  net->home.completed(net->home.owner);
}

/* --- the interface ---------------------------------------------------------------------------------------------- */

bool wtl_net_has_room(const wtl_net *net)
{
  return net->in_flight < MAX_IN_FLIGHT && net->fetches < MAX_FETCHES;
}

/* As a message; returns whether the source is still needed. */
static bool put(wtl_net *net, int pe, wtl_place at, const void *from, size_t n, enum wtl_net_manner manner)
{
  if (manner != WTL_NET_SIGNAL) mark_dirty(net, pe);
  if (n > WTL_NET_MERGED) {
    if (n >= WTL_NET_LARGE) net->out_of_order = true;
    send_large(net, pe, WIRE_PUT, at, 0, from, n, n < WTL_NET_LARGE);
    return n >= WTL_NET_LARGE;
  }
  memcpy(wtl_net_add_record(net, pe, WIRE_STORE, at, 0, n, n), from, n);
  if (manner == WTL_NET_NOW && !net->peers[pe].asked) ask(net, pe); /* a quiet is likely to follow */
  if (manner != WTL_NET_HELD) wtl_net_send_batch(net, pe);
  return false;
}

bool wtl_net_put(wtl_net *net, int pe, wtl_place at, const void *from, size_t n, enum wtl_net_manner manner)
{
  bool needed;
  pthread_mutex_lock(&net->lock);
  if (manner != WTL_NET_SIGNAL && wtl_net_rma_put(net, pe, at, from, n))
    needed = net->sources > 0;
  else
    needed = put(net, pe, at, from, n, manner);
  pthread_mutex_unlock(&net->lock);
  return needed;
}

bool wtl_net_sent(const wtl_net *net)
{
  return net->sources == 0;
}

void wtl_net_get(wtl_net *net, int pe, wtl_place at, void *to, size_t n)
{
  pthread_mutex_lock(&net->lock);
  if (!wtl_net_rma_get(net, pe, at, to, n)) {
    wtl_net_add_record(net, pe, WIRE_LOAD, at, begin_fetch(net, to, n), n, 0);
    wtl_net_send_batch(net, pe);
  }
  pthread_mutex_unlock(&net->lock);
}

void wtl_net_amo(wtl_net *net, int pe, wtl_place at, enum wtl_net_op op, size_t size, uint64_t operand,
                 uint64_t condition, void *result)
{
  wire_amo amo = {op, (uint32_t)size, operand, condition};
  pthread_mutex_lock(&net->lock);
  uint64_t token = result ? begin_fetch(net, result, size) : 0;
  if (!result) mark_dirty(net, pe);
  memcpy(wtl_net_add_record(net, pe, WIRE_AMO, at, token, sizeof amo, sizeof amo), &amo, sizeof amo);
  wtl_net_send_batch(net, pe);
  pthread_mutex_unlock(&net->lock);
}

bool wtl_net_fetched(const wtl_net *net)
{
  return net->fetches == 0;
}

bool wtl_net_in_order(const wtl_net *net)
{
  return !net->out_of_order && !(net->rma_used && net->unflushed);
}

void wtl_net_flush(wtl_net *net)
{
  pthread_mutex_lock(&net->lock);
  for (int i = 0; i < net->n_dirty; i++) {
    net->peers[net->dirty[i]].in_dirty = false;
    if (net->peers[net->dirty[i]].dirty) ask(net, net->dirty[i]);
  }
  net->n_dirty = 0;
  net->out_of_order = net->unflushed = false;
  wtl_net_rma_flush(net);
  wtl_net_send_all(net);
  pthread_mutex_unlock(&net->lock);
}

bool wtl_net_flushed(const wtl_net *net)
{
  return net->flushes == 0 && net->sources == 0;
}
