/* net_in.c - handles the messages that arrive. It checks cookie, kind, bounds and tokens before it writes anything. */
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "fabric/net_state.h"
#include "os/atomic.h"
#include "os/os.h"

/* A message whose data are being received into their place. */
typedef struct arriving {
  wtl_net *net;
  enum wire_message message;
  int from;
  wtl_place at;
  uint64_t n, token;
  uint16_t mark;
  void *to;
} arriving;

/* --- the work for each PE that asks ------------------------------------------------------------------------------- */

/* Requests of one call site that are being handled, since tick `since`. */
typedef struct serving {
  wtl_served_row *row; /* NULL: none yet */
  uint64_t since;
} serving;

static void end_serving(wtl_net *net, serving *s)
{
  uint64_t now = wtl_ticks();
  if (s->row) {
    wtl_served_work *work = &s->row->by[net->server];
    work->pieces++;
    work->timed++;
    work->ticks += now - s->since;
  }
  *s = (serving){NULL, now};
}

/* Counts a request of `from` that moves `bytes`. Answers to this PE's own requests are its own work. */
static void serve(wtl_net *net, serving *s, int from, uint16_t mark, uint64_t bytes)
{
  bool is_answer = mark == WTL_SERVED_ANSWER;
  wtl_served_row *row = wtl_served_row_of(&net->served, is_answer ? net->boot->pe : from, is_answer ? 0 : mark);
  if (s->row && s->row != row) end_serving(net, s);
  s->row = row;
  row->requests++;
  row->bytes += bytes;
}

static void serve_record(wtl_net *net, serving *s, int from, const wire_record *r)
{
  bool is_answer = r->kind == WIRE_ANSWER || r->kind == WIRE_KEY || r->kind == WIRE_RING;
  bool has_bytes = r->kind == WIRE_STORE || r->kind == WIRE_LOAD || r->kind == WIRE_AM;
  serve(net, s, from, is_answer ? WTL_SERVED_ANSWER : r->mark, has_bytes ? (r->more + 1u) * (uint64_t)r->n : 0);
}

/* --- records ------------------------------------------------------------------------------------------------------ */

static bool take_store(wtl_net *net, const wire_record *r, const void *data)
{
  wtl_place at = {r->offset, r->segment};
  void *to = net->callbacks.find(net->callbacks.owner, at, r->n);
  if (!to) return false;
  wtl_store_bytes(to, data, r->n);
  net->callbacks.changed(net->callbacks.owner, at, r->n);
  return true;
}

static bool take_load(wtl_net *net, int from, const wire_record *r)
{
  const void *source = NULL;
  if (r->n <= WTL_NET_MOST)
    source = net->callbacks.find(net->callbacks.owner, (wtl_place){r->offset, r->segment}, r->n);
  if (!source) return false;
  wtl_net_answer(net, from, r->token, source, r->n);
  return true;
}

static bool take_amo(wtl_net *net, int from, const wire_record *r, const void *data)
{
  wtl_place at = {r->offset, r->segment};
  wtl_atomic a;
  if (r->n != sizeof a) return false;
  memcpy(&a, data, sizeof a);
  if ((a.size != 4 && a.size != 8) || a.kind > WTL_AMO_XOR || r->offset % a.size) return false;
  void *to = net->callbacks.find(net->callbacks.owner, at, a.size);
  if (!to) return false;
  uint64_t old = wtl_atomic_execute(to, a);
  if (a.kind != WTL_AMO_FETCH) net->callbacks.changed(net->callbacks.owner, at, a.size);
  if (r->token)
    memcpy(wtl_net_add_record(net, from, WIRE_ANSWER, (wtl_place){0}, r->token, a.size, a.size), &old, a.size);
  return true;
}

static void confirm(wtl_net *net, int to, uint64_t token)
{
  wtl_net_add_record(net, to, WIRE_ANSWER, (wtl_place){0}, token, 0, 0);
}

/* The pending operation that waits for this answer, if none has arrived yet. */
static pending *find_unanswered(wtl_net *net, uint64_t token, uint64_t n)
{
  pending *p = wtl_net_find_pending(net, token, n);
  return p && !p->arriving ? p : NULL;
}

static bool take_answer(wtl_net *net, const wire_record *r, const void *data)
{
  pending *p = find_unanswered(net, r->token, r->n);
  if (!p) return false;
  if (p->to) memcpy(p->to, data, r->n);
  wtl_net_end_pending(net, p);
  return true;
}

static bool take_message(wtl_net *net, int from, const wire_record *r, const void *data)
{
  return net->callbacks.message &&
         net->callbacks.message(net->callbacks.owner, from,
                                (wtl_net_tag){.a = r->offset, .b = r->token, .kind = r->segment, .mark = r->mark}, data,
                                r->n, r->more + 1u);
}

/* Handles one record. False: it is malformed. */
static bool take_record(wtl_net *net, int from, const wire_record *r, const void *data)
{
  switch (r->kind) {
  case WIRE_STORE: return take_store(net, r, data);
  case WIRE_LOAD: return take_load(net, from, r);
  case WIRE_AMO: return take_amo(net, from, r, data);
  case WIRE_FLUSH: confirm(net, from, r->token); return true;
  case WIRE_ANSWER: return take_answer(net, r, data);
  case WIRE_WANT_KEY: return wtl_net_rma_want_key(net, from, (wtl_place){r->offset, r->segment}, r->token);
  case WIRE_KEY: return wtl_net_rma_take_key(net, from, r->token, data, r->n);
  case WIRE_AM: return take_message(net, from, r, data);
  case WIRE_NOTICE: return wtl_net_rma_take_notice(net, from);
  case WIRE_WITHDRAWAL: return wtl_net_rma_take_withdrawal(net, from);
  case WIRE_RING: return wtl_net_rma_take_ring(net, from, (wtl_place){r->offset, r->segment}, r->token);
  case WIRE_END:
    if (r->token != ~net->cookie) return false;
    wtl_net_received_end(net);
  default: return false;
  }
}

static bool take_batch(wtl_net *net, const wire_head *h, const char *at, size_t n)
{
  const char *end = at + n;
  wire_record r;
  const void *data;
  serving s = {NULL, wtl_ticks()};
  bool good = true, for_notice = false;
  for (uint32_t i = 0; good && i < h->records; i++) {
    if (!(good = wtl_wire_next(&at, end, &r, &data))) break;
    serve_record(net, &s, (int)h->from, &r);
    good = take_record(net, (int)h->from, &r, data);
    for_notice |= good && (r.rings || r.kind == WIRE_RING);
  }
  if (for_notice) wtl_net_rma_took_for_notice(net, (int)h->from);
  wtl_net_send_in_turn(net, (int)h->from); /* the answers, if there are any */
  end_serving(net, &s);
  return good;
}

/* --- large messages --------------------------------------------------------------------------------------------- */

static wtl_net_tag tag_of(wtl_place at, uint64_t token, uint64_t mark)
{
  return (wtl_net_tag){.a = at.offset, .b = token, .kind = at.segment, .mark = (uint16_t)mark};
}

static void large_arrived(void *arg)
{
  arriving *l = arg;
  wtl_net *net = l->net;
  pending *p = l->message == WIRE_DATA ? wtl_net_find_pending(net, l->token, l->n) : NULL;
  wtl_fence();
  if (l->message == WIRE_PUT) {
    net->callbacks.changed(net->callbacks.owner, l->at, l->n);
    if (l->token) confirm(net, l->from, l->token);
  }
  if (l->message == WIRE_LARGE_AM)
    net->callbacks.landed(net->callbacks.owner, l->from, tag_of(l->at, l->token, l->mark), l->to, l->n);
  if (p) wtl_net_end_pending(net, p);
  free(l);
}

static void *place_of(wtl_net *net, enum wire_message message, const wire_large *h, size_t n)
{
  wtl_place at = {h->offset, h->segment};
  pending *p;
  switch (message) {
  case WIRE_PUT: return net->callbacks.find(net->callbacks.owner, at, n);
  case WIRE_DATA:
    if (!(p = find_unanswered(net, h->token, n)) || !p->to) return NULL;
    p->arriving = true;
    return p->to;
  default:
    if (!net->callbacks.buffer) return NULL;
    return net->callbacks.buffer(net->callbacks.owner, (int)h->from, tag_of(at, h->token, h->mark), n);
  }
}

/* Receives the data of a put, an answer or a message into their place. False: there is none. */
static bool take_large(wtl_net *net, enum wire_message message, const wire_large *h, void *data, size_t n, bool later)
{
  serving s = {NULL, wtl_ticks()};
  arriving *l = malloc(sizeof *l);
  void *to = l ? place_of(net, message, h, n) : NULL;
  if (!to) {
    free(l);
    return false;
  }
  *l = (arriving){net, message, (int)h->from, {h->offset, h->segment}, n, h->token, (uint16_t)h->mark, to};
  serve(net, &s, l->from, message == WIRE_DATA ? WTL_SERVED_ANSWER : l->mark, n);
  if (later) {
    net->transport->ops->receive(net->transport, data, to, n, large_arrived, l);
  } else {
    memcpy(to, data, n);
    large_arrived(l);
  }
  end_serving(net, &s);
  return true;
}

/* --- the transport's callbacks ------------------------------------------------------------------------------------ */

void wtl_net_arrived(void *owner, unsigned message, const void *header, size_t header_bytes, void *data, size_t n,
                     bool later)
{
  wtl_net *net = owner;
  union {
    wire_head small;
    wire_large large;
  } h;
  size_t expected = message == WIRE_BATCH ? sizeof h.small : sizeof h.large;
  bool good = message >= WIRE_BATCH && message <= WIRE_LARGE_AM;
  if (message == WIRE_BATCH) { /* its head lies in front of the records */
    good = header_bytes == 0 && !later && n >= expected;
    header = data;
  } else {
    good = good && header_bytes == expected;
  }
  if (good) memcpy(&h, header, expected);
  /* Both headers begin with the cookie and the PE. */
  if (!good || h.small.cookie != net->cookie || h.small.from >= (uint32_t)net->boot->n_pes) {
    net->counts.foreign++;
    return;
  }
  if (message == WIRE_BATCH)
    good = take_batch(net, &h.small, (const char *)data + expected, n - expected);
  else
    good = take_large(net, (enum wire_message)message, &h.large, data, n, later);
  if (!good) {
    net->counts.malformed++;
    return;
  }
  if ((int)h.small.from == net->before) net->has_received = true; /* any message counts as a heartbeat */
  net->counts.received++;
  net->counts.bytes_received += header_bytes + n;
}
