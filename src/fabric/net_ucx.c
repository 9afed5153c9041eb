/*
 * The network by UCX active messages: what TCP and other networks without remote memory access need. Every put, get and
 * atomic is a message of ours (wire.h): the job's cookie and the bounds are checked before anything is written.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <ucp/api/ucp.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/error.h"
#include "fabric/net.h"
#include "fabric/wire.h"
#include "node/lifeline.h"

typedef struct ucx_net ucx_net;

enum { BATCH_BYTES = 8192, MAX_IN_FLIGHT = 256, SMALL_ANSWER = 4096 };

/* Records on their way to one PE. */
typedef struct batch {
  struct ucx_net *net;
  struct batch *next_free;
  wire_head head;
  size_t used;
  _Alignas(8) char data[BATCH_BYTES];
} batch;

/* A large put or answer under way: the header must live as long as the message. */
typedef struct large {
  struct ucx_net *net;
  wire_large head;
  void *copy; /* of the data, where the caller's may change; else NULL */
  struct peer *arriving_from;
  wtl_place at;
  uint64_t n;
  uint64_t token;
} large;

typedef struct peer {
  ucp_ep_h ep;
  batch *open;          /* records not yet sent */
  uint32_t large_in;    /* large puts from it that are arriving */
  uint32_t flush_waits; /* its flushes that wait for those */
  bool dirty;           /* something was sent to it since completion was last asked for */
  bool in_dirty;        /* it is in net->dirty */
  uint32_t asked;       /* flushes it has not answered */
  bool listed;          /* in net->unsent */
} peer;

/* What an outstanding fetch waits for. */
typedef struct fetch {
  void *to;
  uint64_t n;
  uint32_t generation, next_free;
} fetch;

typedef struct answer {
  struct answer *next;
  int pe;
  const void *from;
  uint64_t n, token;
} answer;

struct ucx_net {
  struct wtl_net base; /* first: the rooms above know only this */
  pthread_mutex_t lock;
  wtl_boot *boot;
  wtl_net_home home;
  ucp_context_h context;
  ucp_worker_h worker;
  uint64_t cookie;
  peer *peers;           /* n_pes */
  int *unsent, n_unsent; /* PEs with records not yet sent */
  int *dirty, n_dirty;
  batch *free_batches;
  fetch *fetches_of;
  uint32_t n_slots, free_slot;
  answer *answers; /* large ones, sent after the progress that found them */
  _Atomic uint32_t fetches, flushes, in_flight, sources;
  _Atomic bool large_since_flush, ending;
  wtl_net_counts counts;
  _Atomic uint64_t heard; /* when the node before this one last gave a sign of life, ns */
  uint64_t last_beat;
};

/* --- sending ---------------------------------------------------------------------------------------------------- */

static void fail(const ucx_net *net, int pe, const char *what, ucs_status_t status)
{
  wtl_say("%s PE %d: %s", what, pe, ucs_status_string(status));
  net->boot->ops->abort(net->boot, WTL_EXIT_UNAVAILABLE, "a PE cannot be reached");
  _Exit(WTL_EXIT_UNAVAILABLE);
}

static void on_peer_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
  ucx_net *net = arg;
  for (int pe = 0; pe < net->boot->n_pes && !net->ending; pe++)
    if (net->peers[pe].ep == ep) fail(net, pe, "the connection is lost to", status);
}

static size_t from_hex(const char *text, unsigned char *out)
{
  size_t n = 0;
  for (unsigned byte; sscanf(text + 2 * n, "%2x", &byte) == 1; n++) out[n] = (unsigned char)byte;
  return n;
}

/* First contact. */
static ucp_ep_h endpoint(ucx_net *net, int pe)
{
  peer *p = &net->peers[pe];
  char text[8192];
  unsigned char address[4096];
  ucs_status_t status;
  if (p->ep) return p->ep;
  if (net->boot->ops->lookup(net->boot, pe, "wattle.ucx", text, sizeof text) != 0)
    fail(net, pe, "no address is known of", UCS_ERR_NO_ELEM);
  from_hex(text, address);
  ucp_ep_params_t params = {
      .field_mask =
          UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
      .address = (const ucp_address_t *)address,
      .err_mode = UCP_ERR_HANDLING_MODE_PEER,
      .err_handler = {.cb = on_peer_error, .arg = net},
  };
  status = ucp_ep_create(net->worker, &params, &p->ep);
  if (status != UCS_OK) fail(net, pe, "cannot connect to", status);
  return p->ep;
}

static void batch_sent(void *request, ucs_status_t status, void *arg)
{
  batch *b = arg;
  if (request) ucp_request_free(request);
  b->net->in_flight--;
  b->next_free = b->net->free_batches;
  b->net->free_batches = b;
}

static batch *new_batch(ucx_net *net)
{
  batch *b = net->free_batches;
  if (b)
    net->free_batches = b->next_free;
  else if (!(b = malloc(sizeof *b)))
    fail(net, net->boot->pe, "no memory for a message of", UCS_ERR_NO_MEMORY);
  b->net = net;
  b->used = 0;
  b->head = (wire_head){net->cookie, (uint32_t)net->boot->pe, 0};
  return b;
}

static void send_batch(ucx_net *net, int pe)
{
  peer *p = &net->peers[pe];
  batch *b = p->open;
  ucp_request_param_t how = {.op_attr_mask =
                                 UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
                             .cb.send = batch_sent,
                             .user_data = b,
                             .flags = UCP_AM_SEND_FLAG_EAGER};
  if (!b) return;
  p->open = NULL;
  net->in_flight++;
  ucs_status_ptr_t r = ucp_am_send_nbx(endpoint(net, pe), WIRE_BATCH, &b->head, sizeof b->head, b->data, b->used, &how);
  if (UCS_PTR_IS_ERR(r)) fail(net, pe, "cannot send to", UCS_PTR_STATUS(r));
  if (!r) batch_sent(NULL, UCS_OK, b);
}

static void send_all(ucx_net *net)
{
  for (int i = 0; i < net->n_unsent; i++) {
    net->peers[net->unsent[i]].listed = false;
    send_batch(net, net->unsent[i]);
  }
  net->n_unsent = 0;
}

static size_t padded(uint64_t n)
{
  return (n + 7) & ~(size_t)7;
}

/* Adds a record with room for `n` bytes of data, which the caller fills in. */
static void *add_record(ucx_net *net, int pe, enum wire_kind kind, wtl_place at, uint64_t token, uint64_t n,
                        uint64_t room)
{
  peer *p = &net->peers[pe];
  size_t need = sizeof(wire_record) + padded(room);
  if (p->open && p->open->used + need > BATCH_BYTES) send_batch(net, pe);
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

static void mark_dirty(ucx_net *net, int pe)
{
  peer *p = &net->peers[pe];
  p->dirty = true;
  if (p->in_dirty) return;
  p->in_dirty = true;
  net->dirty[net->n_dirty++] = pe;
}

/* Asks for completion of all that was sent to a PE. */
static void ask(ucx_net *net, int pe)
{
  peer *p = &net->peers[pe];
  p->dirty = false;
  p->asked++;
  net->flushes++;
  add_record(net, pe, WIRE_FLUSH, (wtl_place){0}, 0, 0, 0);
}

static void large_sent(void *request, ucs_status_t status, void *arg)
{
  large *l = arg;
  ucx_net *net = l->net;
  if (request) ucp_request_free(request);
  net->in_flight--;
  if (!l->copy) net->sources--;
  free(l->copy);
  free(l);
  net->home.completed(net->home.owner);
}

/* Sends `n` bytes alone. `copy`: they may change before they are sent. */
static void send_large(ucx_net *net, int pe, enum wire_message message, wtl_place at, uint64_t token, const void *from,
                       size_t n, bool copy)
{
  large *l = calloc(1, sizeof *l);
  ucp_request_param_t how = {.op_attr_mask =
                                 UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
                             .cb.send = large_sent,
                             .user_data = l,
                             .flags = n < WTL_NET_LARGE ? UCP_AM_SEND_FLAG_EAGER : 0};
  if (l && copy) l->copy = malloc(n);
  if (!l || (copy && !l->copy)) fail(net, pe, "no memory for a message to", UCS_ERR_NO_MEMORY);
  if (copy)
    from = memcpy(l->copy, from, n);
  else
    net->sources++;
  l->net = net;
  l->head = (wire_large){net->cookie, (uint32_t)net->boot->pe, at.region, at.offset, token};
  send_batch(net, pe); /* what was said before goes before */
  net->in_flight++;
  ucs_status_ptr_t r = ucp_am_send_nbx(endpoint(net, pe), message, &l->head, sizeof l->head, from, n, &how);
  if (UCS_PTR_IS_ERR(r)) fail(net, pe, "cannot send to", UCS_PTR_STATUS(r));
  if (!r) large_sent(NULL, UCS_OK, l);
}

/* --- arriving
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t take_slot(ucx_net *net, void *to, uint64_t n)
{
  if (net->free_slot == UINT32_MAX) {
    uint32_t more = net->n_slots ? net->n_slots * 2 : 64;
    fetch *grown = realloc(net->fetches_of, more * sizeof *grown);
    if (!grown) fail(net, net->boot->pe, "no memory for a fetch of", UCS_ERR_NO_MEMORY);
    for (uint32_t i = net->n_slots; i < more; i++) grown[i] = (fetch){.next_free = i + 1 < more ? i + 1 : UINT32_MAX};
    net->free_slot = net->n_slots;
    net->fetches_of = grown;
    net->n_slots = more;
  }
  uint32_t i = net->free_slot;
  fetch *f = &net->fetches_of[i];
  net->free_slot = f->next_free;
  f->to = to;
  f->n = n;
  net->fetches++;
  return (uint64_t)++f->generation << 32 | i;
}

/* The fetch that `token` names, if there is one and `n` bytes answer it. */
static fetch *find_slot(ucx_net *net, uint64_t token, uint64_t n)
{
  uint32_t i = (uint32_t)token;
  fetch *f = i < net->n_slots ? &net->fetches_of[i] : NULL;
  return f && f->to && f->generation == token >> 32 && f->n == n ? f : NULL;
}

static void free_slot(ucx_net *net, fetch *f)
{
  f->to = NULL;
  f->next_free = net->free_slot;
  net->free_slot = (uint32_t)(f - net->fetches_of);
  net->fetches--;
  net->home.completed(net->home.owner);
}

static uint64_t operate(void *at, const wire_amo *a)
{
#define OPERATE(T)                                                                                                     \
  {                                                                                                                    \
    T *p = at, v = (T)a->operand, c = (T)a->condition;                                                                 \
    switch (a->op) {                                                                                                   \
    case WTL_NET_FETCH: return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
    case WTL_NET_SET:                                                                                                  \
    case WTL_NET_SWAP: return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                             \
    case WTL_NET_CSWAP: __atomic_compare_exchange_n(p, &c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return c;    \
    case WTL_NET_ADD: return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                               \
    case WTL_NET_AND: return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                                               \
    case WTL_NET_OR: return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                                 \
    default: return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);                                                        \
    }                                                                                                                  \
  }
  if (a->size == 4) OPERATE(uint32_t)
  OPERATE(uint64_t)
#undef OPERATE
}

static void take_store(ucx_net *net, const wire_record *r, const void *data, void *to)
{
  /* A flag must never be seen half written. */
  if (r->n == 8 && ((uintptr_t)to & 7) == 0)
    __atomic_store_n((uint64_t *)to, *(const uint64_t *)data, __ATOMIC_RELEASE);
  else if (r->n == 4 && ((uintptr_t)to & 3) == 0)
    __atomic_store_n((uint32_t *)to, *(const uint32_t *)data, __ATOMIC_RELEASE);
  else
    memcpy(to, data, r->n);
  wtl_fence();
  net->home.changed(net->home.owner, (wtl_place){r->offset, r->region}, r->n);
}

static void take_load(ucx_net *net, int from, const wire_record *r, const void *source)
{
  if (r->n <= SMALL_ANSWER) {
    memcpy(add_record(net, from, WIRE_ANSWER, (wtl_place){0}, r->token, r->n, r->n), source, r->n);
    return;
  }
  answer *a = malloc(sizeof *a);
  if (!a) fail(net, from, "no memory to answer", UCS_ERR_NO_MEMORY);
  *a = (answer){net->answers, from, source, r->n, r->token};
  net->answers = a;
}

static bool take_amo(ucx_net *net, int from, const wire_record *r, const wire_amo *a)
{
  wtl_place at = {r->offset, r->region};
  if (r->n != sizeof *a || (a->size != 4 && a->size != 8) || a->op > WTL_NET_XOR || r->offset % a->size) return false;
  void *to = net->home.find(net->home.owner, at, a->size);
  if (!to) return false;
  uint64_t old = operate(to, a);
  if (a->op != WTL_NET_FETCH) net->home.changed(net->home.owner, at, a->size);
  if (r->token) memcpy(add_record(net, from, WIRE_ANSWER, (wtl_place){0}, r->token, a->size, a->size), &old, a->size);
  return true;
}

static void answer_flush(ucx_net *net, int from)
{
  add_record(net, from, WIRE_FLUSHED, (wtl_place){0}, 0, 0, 0);
}

/* One record; false if it is not a good one. */
static bool take_record(ucx_net *net, int from, const wire_record *r, const void *data)
{
  wtl_place at = {r->offset, r->region};
  peer *p = &net->peers[from];
  fetch *f;
  void *here;
  switch (r->kind) {
  case WIRE_STORE:
    if (!(here = net->home.find(net->home.owner, at, r->n))) return false;
    take_store(net, r, data, here);
    return true;
  case WIRE_LOAD:
    if (!(here = net->home.find(net->home.owner, at, r->n))) return false;
    take_load(net, from, r, here);
    return true;
  case WIRE_AMO: return take_amo(net, from, r, data);
  case WIRE_FLUSH:
    if (p->large_in == 0)
      answer_flush(net, from);
    else
      p->flush_waits++;
    return true;
  case WIRE_ANSWER:
    if (!(f = find_slot(net, r->token, r->n))) return false;
    memcpy(f->to, data, r->n);
    free_slot(net, f);
    return true;
  case WIRE_FLUSHED:
    if (p->asked == 0) return false;
    p->asked--;
    net->flushes--;
    net->home.completed(net->home.owner);
    return true;
  default: return false;
  }
}

static bool is_ours(ucx_net *net, uint64_t cookie, uint32_t from)
{
  if (cookie == net->cookie && from < (uint32_t)net->boot->n_pes) return true;
  net->counts.foreign++;
  return false;
}

static ucs_status_t on_batch(void *arg, const void *header, size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *how)
{
  ucx_net *net = arg;
  const wire_head *h = header;
  const char *at = data, *end = at + length;
  if (header_length != sizeof *h || (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) return net->counts.foreign++, UCS_OK;
  if (!is_ours(net, h->cookie, h->from)) return UCS_OK;
  if (h->records == 0) net->heard = wtl_clock_ns(); /* a sign of life */
  for (uint32_t i = 0; i < h->records; i++) {
    const wire_record *r = (const wire_record *)(const void *)at;
    bool carries =
        (size_t)(end - at) >= sizeof *r && (r->kind == WIRE_STORE || r->kind == WIRE_AMO || r->kind == WIRE_ANSWER);
    if ((size_t)(end - at) < sizeof *r ||
        (carries && (r->n > BATCH_BYTES || padded(r->n) > (size_t)(end - at) - sizeof *r)) ||
        !take_record(net, (int)h->from, r, r + 1)) {
      net->counts.malformed++;
      return UCS_OK; /* where the next record begins is not known any more */
    }
    at += sizeof *r + (carries ? padded(r->n) : 0);
  }
  send_batch(net, (int)h->from); /* the answers, if any */
  return UCS_OK;
}

static void large_arrived(void *request, ucs_status_t status, size_t length, void *arg)
{
  large *l = arg;
  ucx_net *net = l->net;
  if (request) ucp_request_free(request);
  if (l->arriving_from) {
    peer *p = l->arriving_from;
    wtl_fence();
    net->home.changed(net->home.owner, l->at, l->n);
    p->large_in--;
    while (p->large_in == 0 && p->flush_waits) p->flush_waits--, answer_flush(net, (int)(p - net->peers));
  } else {
    fetch *f = find_slot(net, l->token, l->n);
    if (f) free_slot(net, f);
  }
  free(l);
}

/* Takes the data of a large message to where they belong. */
static ucs_status_t take_large(ucx_net *net, large *l, void *to, void *data, size_t n, const ucp_am_recv_param_t *how)
{
  ucp_request_param_t receive = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.recv_am = large_arrived,
                                 .user_data = l};
  if (l->arriving_from) l->arriving_from->large_in++;
  if (!(how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
    memcpy(to, data, n);
    large_arrived(NULL, UCS_OK, n, l);
    return UCS_OK;
  }
  ucs_status_ptr_t r = ucp_am_recv_data_nbx(net->worker, data, to, n, &receive);
  if (UCS_PTR_IS_ERR(r))
    fail(net, (int)(l->arriving_from ? l->arriving_from - net->peers : 0), "cannot receive from", UCS_PTR_STATUS(r));
  if (!r) large_arrived(NULL, UCS_OK, n, l);
  return UCS_INPROGRESS;
}

static ucs_status_t on_large(void *arg, const void *header, size_t header_length, void *data, size_t n,
                             const ucp_am_recv_param_t *how, bool is_put)
{
  ucx_net *net = arg;
  const wire_large *h = header;
  wtl_place at;
  fetch *f = NULL;
  void *to;
  if (header_length != sizeof *h) return net->counts.foreign++, UCS_OK;
  if (!is_ours(net, h->cookie, h->from)) return UCS_OK;
  at = (wtl_place){h->offset, h->region};
  if (is_put)
    to = net->home.find(net->home.owner, at, n);
  else
    to = (f = find_slot(net, h->token, n)) ? f->to : NULL;
  large *l = to ? calloc(1, sizeof *l) : NULL;
  if (!l) return net->counts.malformed++, UCS_OK;
  *l = (large){.net = net, .arriving_from = is_put ? &net->peers[h->from] : NULL, .at = at, .n = n, .token = h->token};
  return take_large(net, l, to, data, n, how);
}

static ucs_status_t on_put(void *arg, const void *header, size_t header_length, void *data, size_t n,
                           const ucp_am_recv_param_t *how)
{
  return on_large(arg, header, header_length, data, n, how, true);
}

static ucs_status_t on_data(void *arg, const void *header, size_t header_length, void *data, size_t n,
                            const ucp_am_recv_param_t *how)
{
  return on_large(arg, header, header_length, data, n, how, false);
}

static bool progress(ucx_net *net)
{
  bool happened = false;
  while (ucp_worker_progress(net->worker)) happened = true;
  while (net->answers) {
    answer *a = net->answers;
    net->answers = a->next;
    send_large(net, a->pe, WIRE_DATA, (wtl_place){0}, a->token, a->from, a->n, a->n < WTL_NET_LARGE);
    free(a);
  }
  if (net->n_unsent) send_all(net), happened = true;
  return happened;
}

/* --- the interface
 * ------------------------------------------------------------------------------------------------------------- */

static bool ucx_has_room(const wtl_net *base)
{
  const ucx_net *net = (const ucx_net *)base;
  return net->in_flight < MAX_IN_FLIGHT;
}

static void ucx_put(wtl_net *base, int pe, wtl_place at, const void *from, size_t n, enum wtl_net_manner manner)
{
  ucx_net *net = (ucx_net *)base;
  pthread_mutex_lock(&net->lock);
  if (manner != WTL_NET_SIGNAL) mark_dirty(net, pe);
  if (n <= WTL_NET_MERGED) {
    memcpy(add_record(net, pe, WIRE_STORE, at, 0, n, n), from, n);
    if (manner == WTL_NET_NOW && !net->peers[pe].asked) ask(net, pe); /* a quiet is likely to follow */
    if (manner != WTL_NET_HELD) send_batch(net, pe);
  } else {
    if (n >= WTL_NET_LARGE) net->large_since_flush = true;
    send_large(net, pe, WIRE_PUT, at, 0, from, n, n < WTL_NET_LARGE);
  }
  pthread_mutex_unlock(&net->lock);
}

static bool ucx_sent(const wtl_net *base)
{
  const ucx_net *net = (const ucx_net *)base;
  return net->sources == 0;
}

static void ucx_get(wtl_net *base, int pe, wtl_place at, void *to, size_t n)
{
  ucx_net *net = (ucx_net *)base;
  pthread_mutex_lock(&net->lock);
  add_record(net, pe, WIRE_LOAD, at, take_slot(net, to, n), n, 0);
  send_batch(net, pe);
  pthread_mutex_unlock(&net->lock);
}

static void ucx_amo(wtl_net *base, int pe, wtl_place at, enum wtl_net_op op, size_t size, uint64_t operand,
                    uint64_t condition, void *result)
{
  ucx_net *net = (ucx_net *)base;
  wire_amo amo = {op, (uint32_t)size, operand, condition};
  pthread_mutex_lock(&net->lock);
  uint64_t token = result ? take_slot(net, result, size) : 0;
  if (!result) mark_dirty(net, pe);
  memcpy(add_record(net, pe, WIRE_AMO, at, token, sizeof amo, sizeof amo), &amo, sizeof amo);
  send_batch(net, pe);
  pthread_mutex_unlock(&net->lock);
}

static bool ucx_fetched(const wtl_net *base)
{
  const ucx_net *net = (const ucx_net *)base;
  return net->fetches == 0;
}

static bool ucx_in_order(const wtl_net *base)
{
  const ucx_net *net = (const ucx_net *)base;
  return !net->large_since_flush;
}

static void ucx_flush(wtl_net *base)
{
  ucx_net *net = (ucx_net *)base;
  pthread_mutex_lock(&net->lock);
  for (int i = 0; i < net->n_dirty; i++) {
    net->peers[net->dirty[i]].in_dirty = false;
    if (net->peers[net->dirty[i]].dirty) ask(net, net->dirty[i]);
  }
  net->n_dirty = 0;
  net->large_since_flush = false;
  send_all(net);
  pthread_mutex_unlock(&net->lock);
}

static bool ucx_flushed(const wtl_net *base)
{
  const ucx_net *net = (const ucx_net *)base;
  return net->flushes == 0 && net->sources == 0;
}

static bool ucx_progress(wtl_net *base)
{
  ucx_net *net = (ucx_net *)base;
  bool happened;
  if (pthread_mutex_trylock(&net->lock) != 0) return false; /* somebody is at it */
  happened = progress(net);
  pthread_mutex_unlock(&net->lock);
  return happened;
}

/* A node is gone. */
static void give_up(ucx_net *net, int pe)
{
  wtl_say("nothing has been heard for 10 s from the node of PE %d: the job ends", pe);
  wtl_lifeline_end_launcher(); /* told to end the job, it would wait for the lost node's daemon */
  net->boot->ops->abort(net->boot, WTL_EXIT_UNAVAILABLE, "a node cannot be reached");
  _Exit(WTL_EXIT_UNAVAILABLE);
}

static bool ucx_beat(wtl_net *base)
{
  ucx_net *net = (ucx_net *)base;
  const wtl_boot *b = net->boot;
  int next = b->leader_pe[(b->node + 1) % b->n_nodes], before = b->leader_pe[(b->node + b->n_nodes - 1) % b->n_nodes];
  uint64_t now = wtl_clock_ns();
  if (b->local_rank != 0 || b->n_nodes < 2) return false;
  /* First time, or this whole job was stopped for a while: begin to listen now. */
  if (!net->last_beat || now - net->last_beat > 2 * WTL_NET_BEAT_NS) net->heard = now;
  net->last_beat = now;
  pthread_mutex_lock(&net->lock);
  if (!net->peers[next].open) net->peers[next].open = new_batch(net);
  send_batch(net, next);
  pthread_mutex_unlock(&net->lock);
  /* Signed: another thread may have heard something since `now`. */
  if (!net->ending && (int64_t)(now - net->heard) > (int64_t)WTL_NET_SILENCE_NS) give_up(net, before);
  return true;
}

static wtl_net_counts ucx_counts(const wtl_net *base)
{
  return ((const ucx_net *)base)->counts;
}

static int ucx_descriptor(const wtl_net *base)
{
  const ucx_net *net = (const ucx_net *)base;
  int fd = -1;
  ucp_worker_get_efd(net->worker, &fd);
  return fd;
}

static bool ucx_arm(wtl_net *base)
{
  ucx_net *net = (ucx_net *)base;
  pthread_mutex_lock(&net->lock);
  ucs_status_t status = ucp_worker_arm(net->worker);
  pthread_mutex_unlock(&net->lock);
  return status == UCS_OK;
}

extern const wtl_net_ops wtl_net_ucx;

/* --- start and stop
 * ------------------------------------------------------------------------------------------------------------ */

static int set_handlers(ucx_net *net)
{
  const struct {
    unsigned id;
    ucp_am_recv_callback_t on;
  } table[] = {{WIRE_BATCH, on_batch}, {WIRE_PUT, on_put}, {WIRE_DATA, on_data}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    ucp_am_handler_param_t h = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                                              UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                .id = table[i].id,
                                .flags = UCP_AM_FLAG_WHOLE_MSG,
                                .cb = table[i].on,
                                .arg = net};
    if (ucp_worker_set_am_recv_handler(net->worker, &h) != UCS_OK) return -1;
  }
  return 0;
}

static ucs_status_t open_worker(ucx_net *net)
{
  ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP};
  ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                .thread_mode = UCS_THREAD_MODE_SERIALIZED};
  ucp_config_t *config;
  ucs_status_t status;
  /* Neighbours talk through the arena; UCX's own shared memory would only add polling. Longer TCP segments: fewer
   * system calls. */
  setenv("UCX_TLS", "^shm", 0);
  setenv("UCX_TCP_TX_SEG_SIZE", "256k", 0);
  setenv("UCX_TCP_RX_SEG_SIZE", "256k", 0);
  if ((status = ucp_config_read(NULL, NULL, &config)) != UCS_OK) return status;
  ucp_config_modify(config, "KEEPALIVE_INTERVAL", "5s");
  status = ucp_init(&params, config, &net->context);
  ucp_config_release(config);
  return status == UCS_OK ? ucp_worker_create(net->context, &worker, &net->worker) : status;
}

static int publish_address(ucx_net *net)
{
  ucp_address_t *address;
  size_t length;
  char *text, cookie[32];
  int rc;
  if (ucp_worker_get_address(net->worker, &address, &length) != UCS_OK) return -1;
  text = calloc(2, length + 1);
  for (size_t i = 0; i < length; i++) sprintf(text + 2 * i, "%02x", ((unsigned char *)address)[i]);
  ucp_worker_release_address(net->worker, address);
  rc = length <= 4096 ? net->boot->ops->publish(net->boot, "wattle.ucx", text) : -1;
  free(text);
  if (rc == 0 && net->boot->pe == 0) {
    if (getrandom(&net->cookie, sizeof net->cookie, 0) != sizeof net->cookie) return -1;
    snprintf(cookie, sizeof cookie, "%016llx", (unsigned long long)net->cookie);
    rc = net->boot->ops->publish(net->boot, "wattle.cookie", cookie);
  }
  if (rc == 0) rc = net->boot->ops->fence(net->boot, NULL, NULL);
  if (rc == 0) rc = net->boot->ops->lookup(net->boot, 0, "wattle.cookie", cookie, sizeof cookie);
  if (rc == 0) net->cookie = strtoull(cookie, NULL, 16);
  return rc;
}

static int ucx_start(wtl_net **out, wtl_boot *boot, const wtl_net_home *home, char *error, size_t size)
{
  ucx_net *net = calloc(1, sizeof *net);
  size_t n = (size_t)boot->n_pes;
  ucs_status_t status;
  net->boot = boot;
  net->home = *home;
  net->free_slot = UINT32_MAX;
  net->peers = calloc(n, sizeof *net->peers);
  net->unsent = calloc(n, sizeof *net->unsent);
  net->dirty = calloc(n, sizeof *net->dirty);
  pthread_mutex_init(&net->lock, NULL);
  if ((status = open_worker(net)) != UCS_OK || set_handlers(net) != 0) {
    snprintf(error, size, "the network between nodes (UCX) does not start: %s", ucs_status_string(status));
    return WTL_EXIT_UNAVAILABLE;
  }
  if (publish_address(net) != 0) {
    snprintf(error, size, "boot by %s: the PEs cannot exchange their network addresses", boot->ops->name);
    return WTL_EXIT_UNAVAILABLE;
  }
  net->base.ops = &wtl_net_ucx;
  *out = &net->base;
  return 0;
}

static void ucx_ending(wtl_net *base)
{
  ((ucx_net *)base)->ending = true;
}

static void ucx_stop(wtl_net *base)
{
  ucx_net *net = (ucx_net *)base;
  /* All PEs have met: nothing is under way. Connections are closed by force, for nobody reads them any more. */
  for (int pe = 0; pe < net->boot->n_pes; pe++) {
    if (!net->peers[pe].ep) continue;
    ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t r = ucp_ep_close_nbx(net->peers[pe].ep, &how);
    if (UCS_PTR_IS_PTR(r)) {
      while (ucp_request_check_status(r) == UCS_INPROGRESS) ucp_worker_progress(net->worker);
      ucp_request_free(r);
    }
  }
  ucp_worker_destroy(net->worker);
  ucp_cleanup(net->context);
  for (batch *b = net->free_batches, *next; b; b = next) next = b->next_free, free(b);
  free(net->fetches_of);
  free(net->peers);
  free(net->unsent);
  free(net->dirty);
  free(net);
}

const wtl_net_ops wtl_net_ucx = {
    "ucx",       ucx_start,    ucx_ending, ucx_stop,    ucx_has_room, ucx_put,    ucx_sent, ucx_get,        ucx_amo,
    ucx_fetched, ucx_in_order, ucx_flush,  ucx_flushed, ucx_progress, ucx_counts, ucx_beat, ucx_descriptor, ucx_arm,
};
