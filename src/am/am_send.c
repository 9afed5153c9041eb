/* am_send.c - sends requests and replies to PEs of this node, counts completions of requests, and waits in quiet.
 * am_far.c sends to other nodes. */
#include "am/am_send.h"

#include <stdlib.h>
#include <string.h>

#include "am/am_far.h"
#include "am/am_space.h"
#include "am/am_order.h"
#include "base/error.h"
#include "pgas/near.h"
#include "profile/error_place.h"

/* Makes the tables for sending, when the first message is sent. */
static void make_tables(wtl_am *am)
{
  size_t n = (size_t)am->pe->n_local;
  pthread_mutex_lock(&am->lock);
  if (!atomic_load_explicit(&am->last, memory_order_relaxed)) {
    _Atomic uint64_t *last = calloc(n, sizeof *last);
    for (int way = 0; way < WTL_AM_WAYS; way++) am->known[way] = calloc(n, sizeof *am->known[way]);
    if (!last || !am->known[WTL_AM_REQUESTS] || !am->known[WTL_AM_REPLIES])
      wtl_pe_fail(WTL_EXIT_OSERR, "no memory for active messages to %zu PEs", n);
    atomic_store_explicit(&am->last, last, memory_order_release);
  }
  pthread_mutex_unlock(&am->lock);
}

static inline void need_tables(wtl_am *am)
{
  if (WTL_UNLIKELY(!atomic_load_explicit(&am->last, memory_order_acquire))) make_tables(am);
}

/* --- on one node -------------------------------------------------------------------------------------------------- */

static void copy(char *to, const void *from, size_t n)
{
  if (n == 8) /* by far the most frequent length: no call */
    memcpy(to, from, 8);
  else if (n)
    memcpy(to, from, n);
}

/* A message to a PE of this node. */
typedef struct outgoing {
  enum wtl_am_way way;
  int pe, id;
  uint32_t counted;
  const char *data;
  size_t n, sent;  /* bytes, and those of them that were sent in pieces */
  uint64_t serial; /* number of a message in pieces */
  uint16_t mark;   /* of the call site that asks */
} outgoing;

/* Claims a place for `n` bytes in the ring of the target. Returns false if there is no space. */
static inline bool claim(wtl_am *am, const outgoing *m, size_t n, bool beside, wtl_am_claim *c)
{
  int slot = am->pe->slot_of[m->pe];
  return wtl_am_claim_place(wtl_am_ring_of(am, slot, m->way), &am->known[m->way][slot], n, beside, c);
}

/* Fills in a claimed slot, publishes it and wakes its target. */
static void post(wtl_am *am, const outgoing *m, const wtl_am_claim *c, enum wtl_am_kind kind, size_t n)
{
  wtl_control *there = wtl_control_of(am->pe, m->pe);
  c->slot->from = (uint16_t)am->pe->slot;
  c->slot->kind = (uint16_t)kind;
  c->slot->handler = m->id;
  c->slot->n = (uint32_t)n;
  c->slot->counted = m->counted;
  c->slot->mark = m->mark;
  wtl_am_announce(&there->bell);
  wtl_am_publish(c);
  wtl_am_wake(there);
}

static bool send_pieces(wtl_am *am, outgoing *m, wtl_am_claim *c)
{
  for (size_t step; m->sent < m->n; m->sent += step) {
    size_t left = m->n - m->sent;
    wtl_am_piece piece = {m->n, m->sent, m->serial};
    step = left < WTL_AM_PIECE ? left : WTL_AM_PIECE;
    if (!claim(am, m, step, true, c)) return false;
    memcpy(c->slot->bytes, &piece, sizeof piece);
    memcpy(c->payload, m->data + m->sent, step);
    post(am, m, c, WTL_AM_PART, step);
  }
  return true;
}

/* Sends all of a message, or the rest of it. `c` is the last place that it took. Returns false if the ring is full. */
static inline bool send_local(wtl_am *am, outgoing *m, wtl_am_claim *c)
{
  if (WTL_UNLIKELY(m->n > WTL_AM_PIECE)) return send_pieces(am, m, c);
  if (!claim(am, m, m->n, false, c)) return false;
  copy(c->payload, m->data, m->n);
  post(am, m, c, WTL_AM_WHOLE, m->n);
  return true;
}

static inline uint64_t new_serial(wtl_am *am, size_t n)
{
  return WTL_UNLIKELY(n > WTL_AM_PIECE) ? ++am->serial : 0;
}

/* Records the last request of this PE to `slot`: the one at `position`, or a later one of another thread. */
static void note_last(wtl_am *am, int slot, uint32_t position)
{
  _Atomic uint64_t *last = &am->last[slot];
  uint64_t mine = (uint64_t)1 << 32 | position, old = atomic_load_explicit(last, memory_order_relaxed);
  if (am->pe->thread_level < WTL_THREAD_MULTIPLE) {
    atomic_store_explicit(last, mine, memory_order_relaxed);
    return;
  }
  const wtl_am_ring *ring = wtl_am_ring_of(am, slot, WTL_AM_REQUESTS);
  while ((!old || (int32_t)(position - (uint32_t)old) > 0 || wtl_am_is_past(ring, (uint32_t)old)) &&
         !atomic_compare_exchange_weak_explicit(last, &old, mine, memory_order_relaxed, memory_order_relaxed))
    continue;
}

/* --- counters of completions -------------------------------------------------------------------------------------- */

/* Counts the completion of a request. */
struct wtl_am_counter {
  uint64_t *done;
  uint32_t replies; /* replies sent, less replies handled here, which may arrive before the number of replies sent */
  bool is_final;    /* the number of replies sent has arrived */
  uint32_t next;    /* next free counter */
};

/* Returns the number of a new counter for `done`, or 0 if that is NULL. */
static uint32_t counted_by(wtl_am *am, uint64_t *done)
{
  uint32_t number;
  if (!done) return 0;
  pthread_mutex_lock(&am->lock);
  if (am->free_counter == 0) { /* number 0 is not used */
    uint32_t more = am->n_counters ? 2 * am->n_counters : 64;
    wtl_am_counter *grown = realloc(am->counters, more * sizeof *grown);
    if (!grown) wtl_pe_fail(WTL_EXIT_OSERR, "no memory to count %u requests", more);
    for (uint32_t i = am->n_counters ? am->n_counters : 1; i < more; i++)
      grown[i] = (wtl_am_counter){.next = i + 1 < more ? i + 1 : 0};
    am->free_counter = am->n_counters ? am->n_counters : 1;
    am->counters = grown;
    am->n_counters = more;
  }
  number = am->free_counter;
  am->free_counter = am->counters[number].next;
  am->counters[number] = (wtl_am_counter){.done = done};
  pthread_mutex_unlock(&am->lock);
  return number;
}

/* Adds `by` (replies sent, less replies handled) to a counter. `is_final`: this includes the number of replies sent. */
static void count_replies(wtl_am *am, uint32_t counted, uint32_t by, bool is_final)
{
  uint64_t *done = NULL;
  pthread_mutex_lock(&am->lock);
  if (counted > 0 && counted < am->n_counters && am->counters[counted].done) {
    wtl_am_counter *c = &am->counters[counted];
    c->replies += by;
    c->is_final |= is_final;
    if (c->is_final && c->replies == 0) {
      done = c->done;
      *c = (wtl_am_counter){.next = am->free_counter};
      am->free_counter = counted;
    }
  }
  pthread_mutex_unlock(&am->lock);
  if (done) __atomic_fetch_add(done, 1, __ATOMIC_SEQ_CST);
}

void wtl_am_count(wtl_am *am, uint32_t counted, uint32_t replies)
{
  count_replies(am, counted, replies, true);
}

void wtl_am_count_reply(wtl_am *am, uint32_t counted)
{
  count_replies(am, counted, -1u, false);
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

/* Called after the request has left: a quiet that clears the note waits for the request. */
static inline void note_unquiet(wtl_am *am, int id)
{
  if (id >= WTL_AM_FIRST_ID) atomic_store_explicit(&am->unquiet, 1, memory_order_release);
}

/* Sends a request to a PE of this node. The payload may go straight to its target. */
static inline void request_local(wtl_am *am, wtl_site *site, const wtl_am_request *r, uint32_t counted)
{
  wtl_pe *self = am->pe;
  int slot = self->slot_of[r->pe];
  outgoing m = {WTL_AM_REQUESTS, r->pe, r->id, counted, r->source, r->n, 0, new_serial(am, r->n), wtl_site_mark(site)};
  wtl_am_claim c;
  wtl_os_note_work(WTL_OS_REQUEST);
  wtl_os_near_access(r->n);
  need_tables(am);
  if (r->target) {
    char *to = wtl_remote(self, r->target, r->pe);
    wtl_am_landing where = {(uint64_t)(to - (self->slices + (size_t)slot * self->stride)), r->n};
    if (r->n) wtl_store_bytes(to, r->source, r->n);
    while (!claim(am, &m, 0, false, &c)) wtl_am_wait_for_space(am, site, slot);
    memcpy(c.slot->bytes, &where, sizeof where);
    post(am, &m, &c, WTL_AM_LANDED, 0);
  } else {
    while (WTL_UNLIKELY(!send_local(am, &m, &c))) wtl_am_wait_for_space(am, site, slot);
  }
  note_last(am, slot, c.position);
}

void wtl_am_request_send(wtl_pe *self, wtl_site *site, const wtl_am_request *r)
{
  wtl_am *am = self->am;
  if (WTL_UNLIKELY(self->settings.am_debug.on) && r->call) wtl_am_order_waits(self, r->call);
  uint32_t counted = counted_by(am, r->done);
  if (WTL_UNLIKELY(self->slot_of[r->pe] < 0))
    wtl_am_far_request(am, site, r, counted);
  else
    request_local(am, site, r, counted);
  note_unquiet(am, r->id);
}

/* --- replies ------------------------------------------------------------------------------------------------------ */

/* A reply that found no space, or the notice that a counted request is complete. */
struct wtl_am_pending {
  struct wtl_am_pending *next;
  outgoing m;
  bool is_reply;
  char data[];
};

static void watch_pending(wtl_am *am)
{
  wtl_am_watch_space(am, am->pending ? am->pe->slot_of[am->pending->m.pe] : -1);
}

static bool post_counted(wtl_am *am, const outgoing *m)
{
  wtl_am_claim c;
  if (!claim(am, m, 0, false, &c)) return false;
  post(am, m, &c, WTL_AM_COUNTED, 0);
  return true;
}

/* Sends a reply. If there is no space, keeps it and all that follow it. */
static void send_or_keep(wtl_am *am, outgoing m, bool is_reply)
{
  wtl_am_claim c;
  wtl_os_note_work(WTL_OS_REQUEST);
  wtl_os_near_access(m.n);
  need_tables(am);
  if (!am->pending && (is_reply ? send_local(am, &m, &c) : post_counted(am, &m))) return;
  wtl_am_pending *k = malloc(sizeof *k + m.n);
  if (!k) wtl_pe_fail(WTL_EXIT_OSERR, "no memory to keep a reply of %zu bytes to PE %d", m.n, m.pe);
  *k = (wtl_am_pending){.m = m, .is_reply = is_reply};
  if (m.n) memcpy(k->data, m.data, m.n);
  k->m.data = k->data;
  *am->pending_end = k;
  am->pending_end = &k->next;
  watch_pending(am);
}

void wtl_am_reply(wtl_pe *self, const char *call, int id, const void *source, size_t n, wtl_am_token token)
{
  wtl_am *am = self->am;
  wtl_am_thread *now = &wtl_am_here;
  int pe = (int)(uint32_t)token;
  if (!now->runs)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: called outside of a handler; only a request's handler may reply",
                wtl_error_place(call));
  if ((const char *)__builtin_frame_address(0) > now->frame) wtl_am_refuse_in_handler(call);
  if (now->is_reply)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: handler %d runs for a reply, and a reply cannot be answered",
                wtl_error_place(call), now->id);
  if (now->serial != token >> 32 || now->from != pe)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: the token is not that of the request which handler %d runs for",
                wtl_error_place(call), now->id);
  now->replies++;
  if (self->slot_of[pe] < 0)
    wtl_am_far_reply(am, pe, id, now->counted, source, n);
  else
    send_or_keep(am, (outgoing){WTL_AM_REPLIES, pe, id, now->counted, source, n, 0, new_serial(am, n), 0}, true);
}

void wtl_am_publish_counted(wtl_am *am, int pe, uint32_t counted, uint32_t replies)
{
  if (am->pe->slot_of[pe] < 0)
    wtl_am_far_publish_counted(am, pe, counted, replies);
  else
    send_or_keep(am, (outgoing){.way = WTL_AM_REPLIES, .pe = pe, .id = (int)replies, .counted = counted}, false);
}

bool wtl_am_send_pending(wtl_am *am)
{
  bool any = false;
  wtl_am_claim c;
  for (wtl_am_pending *k; (k = am->pending) != NULL; any = true) {
    if (!(k->is_reply ? send_local(am, &k->m, &c) : post_counted(am, &k->m))) break;
    if (!(am->pending = k->next)) am->pending_end = &am->pending;
    free(k);
  }
  watch_pending(am);
  return any;
}

/* --- completion --------------------------------------------------------------------------------------------------- */

void wtl_am_quiet(wtl_pe *self, wtl_site *site, const char *call)
{
  wtl_am *am = self->am;
  if (WTL_UNLIKELY(self->settings.am_debug.on)) wtl_am_order_waits(self, call);
  for (int slot = 0; am->last && slot < self->n_local; slot++) {
    uint64_t last = atomic_load_explicit(&am->last[slot], memory_order_relaxed);
    if (!last) continue;
    wtl_am_wait_until_past(am, site, slot, WTL_AM_REQUESTS, (uint32_t)last);
    atomic_compare_exchange_strong_explicit(&am->last[slot], &last, 0, memory_order_relaxed, memory_order_relaxed);
  }
  wtl_am_far_quiet(am, site, -1);
  wtl_am_ring *replies = &am->mine[WTL_AM_REPLIES];
  uint32_t tail = (uint32_t)atomic_load_explicit(&replies->tail, memory_order_acquire);
  if ((uint32_t)atomic_load_explicit(&replies->head, memory_order_acquire) != tail)
    wtl_am_wait_until_past(am, site, self->slot, WTL_AM_REPLIES, tail - 1);
}

void wtl_am_pe_quiet(wtl_pe *self, wtl_site *site, int pe)
{
  wtl_am_far_quiet(self->am, site, pe);
}

void wtl_am_complete(wtl_pe *self, wtl_site *site, const char *call)
{
  wtl_am *am = self->am;
  if (WTL_LIKELY(!atomic_load_explicit(&am->unquiet, memory_order_relaxed))) {
    /* Other PEs in the barrier may wait for handlers of this PE. */
    if (WTL_UNLIKELY(self->settings.am_debug.on)) wtl_am_order_waits(self, call);
    return;
  }
  atomic_exchange_explicit(&am->unquiet, 0, memory_order_acquire);
  wtl_am_quiet(self, site, call);
}

void wtl_am_send_free(wtl_am *am)
{
  for (int way = 0; way < WTL_AM_WAYS; way++) free(am->known[way]);
  free(am->last);
  free(am->counters);
}
