#include "am/am_far.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fabric/wire.h"
#include "am/am_held.h"
#include "am/am_inbox.h"
#include "am/am_mutex.h"
#include "pgas/near.h"

/* What a message between nodes is (the tag's kind). */
enum {
  REQUEST = 1, /* b: handler and number of who counts its end */
  LANDED,      /* likewise; a: where in the target's slice its payload lies */
  REPLY,       /* b: as of REQUEST */
  COUNTED,     /* b: a counted request is done; a: it had so many replies */
  ASK,         /* a: answer when so many requests have been handled */
  DONE,        /* a: so many have; b: so many replies were sent */
  ASKING       /* a REQUEST; a: as of ASK, which it saves */
};

/* What a message takes of its sender's window besides its payload: about what it takes in the inbox. */
enum { COST = 64 };

/* An answer that no quiet waited for is one too many: after some of them the first message is sent without asking. */
enum { ANSWERS_IN_VAIN = 4 };

/* One of the others. Counts wrap. */
typedef struct peer {
  /* What this PE sent to it: messages and bytes, written by who sends (holding am->lock where several threads may). */
  _Atomic uint32_t sent;
  _Atomic uint64_t bytes;
  uint64_t seen; /* what had arrived here when the last message was sent */
  /* What it was asked and has said, written with am->lock held. */
  _Atomic uint32_t asked;
  uint64_t asked_bytes;
  _Atomic bool asks;           /* an answer is under way, with which what is held leaves; its arrival ends that */
  _Atomic uint64_t done_bytes; /* answered for */
  _Atomic uint32_t done;       /* handled there */
  _Atomic uint32_t due, taken; /* replies it says it sent, replies taken */
  /* What it sent to this PE. */
  uint32_t handled, wanted, replies;
  uint32_t held; /* requests that wait for their handlers: nothing is answered before they have run */
  bool wants;
} peer;

struct wtl_am_far {
  peer *peers;
  wtl_am_inbox inbox[WTL_AM_WAYS];
  uint64_t window;
  _Atomic uint64_t arrivals;
  _Atomic uint64_t replied, heard; /* bytes of replies: that came, that were handled */
  _Atomic uint32_t in_vain;
  bool held; /* something was said that has not been pushed */
};

static wtl_am_far *make_far(wtl_am *am)
{
  pthread_mutex_lock(&am->lock);
  wtl_am_far *f = am->far;
  if (!f) {
    f = calloc(1, sizeof *f);
    if (f) f->peers = calloc((size_t)am->pe->n, sizeof *f->peers);
    if (!f || !f->peers) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for active messages to %d PEs", am->pe->n);
    uint64_t share = WTL_AM_INBOX / (uint64_t)am->pe->n;
    f->window = share > WTL_AM_WINDOW ? WTL_AM_WINDOW : share < WTL_AM_LEAST_WINDOW ? WTL_AM_LEAST_WINDOW : share;
    atomic_store_explicit(&am->far, f, memory_order_release);
  }
  pthread_mutex_unlock(&am->lock);
  return f;
}

static wtl_am_far *far_of(wtl_am *am)
{
  wtl_am_far *f = atomic_load_explicit(&am->far, memory_order_acquire);
  return WTL_LIKELY(f != NULL) ? f : make_far(am);
}

void wtl_am_far_free(wtl_am *am)
{
  wtl_am_far *f = am->far;
  if (!f) return;
  for (int way = 0; way < WTL_AM_WAYS; way++) wtl_am_inbox_free(&f->inbox[way]);
  free(f->peers);
  free(f);
}

static uint64_t pack(int id, uint32_t counted)
{
  return (uint64_t)counted << 32 | (uint32_t)id;
}

/* --- what arrives: under the network's lock ----------------------------------------------------------------------- */

static enum wtl_am_way way_of(uint32_t kind)
{
  return kind <= LANDED || kind == ASK || kind == ASKING ? WTL_AM_REQUESTS : WTL_AM_REPLIES;
}

static bool has_payload(uint32_t kind)
{
  return (kind >= REQUEST && kind <= REPLY) || kind == ASKING;
}

static void show(wtl_pe *self, wtl_am_far *f, uint32_t kind, size_t n)
{
  f->arrivals++;
  if (kind == REPLY)
    atomic_store_explicit(&f->replied, atomic_load_explicit(&f->replied, memory_order_relaxed) + n,
                          memory_order_release);
  wtl_am_announce(self->door.bell);
  wtl_am_inbox_show(&f->inbox[way_of(kind)]);
  /* Who serves the network takes what came next. If that one may not, another must. */
  if (wtl_am_may_take(self->am)) return;
  wtl_fence();
  wtl_am_wake(wtl_control_of(self, self->me));
}

static char *landing_place(wtl_pe *self, uint64_t offset, size_t n)
{
  uint64_t length = self->statics_bytes + self->heap_bytes;
  if (offset < self->statics_bytes) length = self->statics_bytes; /* what follows them lies elsewhere */
  if (offset > length || n > length - offset) return NULL;
  return wtl_own_name(self, offset);
}

bool wtl_am_far_message(void *owner, int from, wtl_net_tag tag, const void *data, size_t n, uint32_t count)
{
  wtl_pe *self = owner;
  wtl_am_far *f = far_of(self->am);
  char *place = NULL;
  if (tag.kind < REQUEST || tag.kind > ASKING) return false;
  if (n && !has_payload(tag.kind)) return false;
  if (tag.kind != REQUEST && tag.kind != REPLY && count > 1) return false;
  if (tag.kind == LANDED) {
    if (!(place = landing_place(self, tag.a, n))) return false;
    if (n) wtl_store_bytes(place, data, n);
  }
  /* Not when it is taken, which may be much later: what is held until now leaves, and nobody else sends on the rest. */
  if (tag.kind == DONE && f->peers[from].asked == (uint32_t)tag.a) f->peers[from].asks = false;
  size_t bytes = place ? 0 : count * wire_padded(n);
  wtl_am_letter *l = wtl_am_inbox_add(&f->inbox[way_of(tag.kind)], bytes);
  if (!l) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for a message of %zu bytes from PE %d", n, from);
  l->tag = tag;
  l->from = from;
  l->n = (uint32_t)n;
  l->count = count;
  l->far_data = place;
  if (bytes) memcpy(l->data, data, bytes);
  show(self, f, tag.kind, count * n);
  return true;
}

void *wtl_am_far_room(void *owner, int from, wtl_net_tag tag, size_t n)
{
  wtl_pe *self = owner;
  (void)from;
  if (n == 0 || n > WTL_AM_LONGEST || !has_payload(tag.kind)) return NULL;
  return tag.kind == LANDED ? landing_place(self, tag.a, n) : malloc(n);
}

void wtl_am_far_landed(void *owner, int from, wtl_net_tag tag, void *room, size_t n)
{
  wtl_pe *self = owner;
  wtl_am_far *f = far_of(self->am);
  wtl_am_letter *l = wtl_am_inbox_add(&f->inbox[way_of(tag.kind)], 0);
  if (!l) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for a message of %zu bytes from PE %d", n, from);
  l->tag = tag;
  l->from = from;
  l->n = (uint32_t)n;
  l->far_data = room;
  l->owned = tag.kind != LANDED;
  show(self, f, tag.kind, n);
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

typedef struct sending {
  wtl_am *am;
  const wtl_am_far *far;
  const peer *to;
} sending;

/* Bytes that nobody has answered for. */
static uint64_t unanswered(const peer *p)
{
  return p->bytes - p->done_bytes;
}

/* Who does not handle the replies that came gets no more. */
static bool has_room(void *arg)
{
  const sending *s = arg;
  return unanswered(s->to) < s->far->window && wtl_net_has_room(s->am->pe->net) &&
         s->far->replied - s->far->heard < WTL_AM_REPLIES_KEPT;
}

static bool is_zero(void *left)
{
  return atomic_load_explicit((_Atomic uint32_t *)left, memory_order_acquire) == 0;
}

static void wait_for(wtl_am *am, wtl_site *site, bool (*ready)(void *), void *arg)
{
  if (!ready(arg)) wtl_am_wait(am->pe, site, ready, arg);
}

/* Asks to be told when all that was sent so far has been handled. The lock is held. */
static wtl_net_tag ask(peer *p)
{
  p->asked = p->sent;
  p->asked_bytes = p->bytes;
  p->asks = true;
  return (wtl_net_tag){.a = p->asked, .kind = ASK};
}

/*
 * Is an answer wanted now? Where a quiet is likely to come; where this is not the only message, for nothing has arrived
 * since the last one; and in time to send on without a pause. The first two can wait while more follows.
 */
static bool should_ask(wtl_am_far *f, peer *p, bool more)
{
  uint64_t arrivals = atomic_load_explicit(&f->arrivals, memory_order_relaxed);
  bool burst = p->seen == arrivals + 1;
  p->seen = arrivals + 1;
  return !p->asks && ((!more && (burst || f->in_vain < ANSWERS_IN_VAIN)) || unanswered(p) > f->window / 4);
}

/* Counts a message that is about to be sent; true, with the question, where one is to follow it. */
static bool count_sent(wtl_am *am, wtl_am_far *f, peer *p, size_t n, bool more, wtl_net_tag *question)
{
  bool alone = am->pe->thread_level < WTL_THREAD_MULTIPLE, asks;
  if (!alone) pthread_mutex_lock(&am->lock);
  atomic_store_explicit(&p->sent, atomic_load_explicit(&p->sent, memory_order_relaxed) + 1, memory_order_relaxed);
  atomic_store_explicit(&p->bytes, atomic_load_explicit(&p->bytes, memory_order_relaxed) + n + COST,
                        memory_order_relaxed);
  asks = should_ask(f, p, more);
  if (asks && alone) pthread_mutex_lock(&am->lock);
  if (asks)
    *question = ask(p); /* nobody else begins to ask: an answer that comes asks on only where it was asked for */
  if (asks || !alone) pthread_mutex_unlock(&am->lock);
  return asks;
}

void wtl_am_far_request(wtl_am *am, wtl_site *site, const wtl_am_request *r, uint32_t counted)
{
  wtl_am_far *f = far_of(am);
  wtl_net *net = am->pe->net;
  peer *p = &f->peers[r->pe];
  sending s = {am, f, p};
  _Atomic uint32_t left = 0;
  wtl_net_tag tag = {.b = pack(r->id, counted), .kind = REQUEST, .joins = true}, question;
  if (r->target) tag = (wtl_net_tag){.a = wtl_far_place(am->pe, r->target).offset, .b = tag.b, .kind = LANDED};
  wait_for(am, site, has_room, &s);
  bool asks = count_sent(am, f, p, r->n, r->more, &question), held = asks || p->asks;
  bool takes_it_along =
      asks && !r->target && r->n > WTL_NET_MERGED; /* shorter ones share a message with the question */
  if (takes_it_along) tag = (wtl_net_tag){.a = question.a, .b = tag.b, .kind = ASKING};
  wtl_net_message(net, r->pe, tag, r->source, r->n, held, r->n > WTL_NET_MERGED ? &left : NULL);
  if (asks && !takes_it_along)
    wtl_net_message(net, r->pe, question, NULL, 0, false, NULL);
  else if (!asks && held && !p->asks)
    wtl_net_push(net); /* the answer came meanwhile, and this is what nobody else would send on */
  wait_for(am, site, is_zero, &left);
}

/* --- replies: by who has taken ------------------------------------------------------------------------------------ */

void wtl_am_far_reply(wtl_am *am, int pe, int id, uint32_t counted, const void *source, size_t n)
{
  wtl_am_far *f = far_of(am);
  f->peers[pe].replies++;
  f->held = true;
  wtl_net_message(am->pe->net, pe, (wtl_net_tag){0, pack(id, counted), REPLY, .joins = true}, source, n, true, NULL);
}

/* Counts as a reply: quiet waits for it. */
void wtl_am_far_say_counted(wtl_am *am, int pe, uint32_t counted, uint32_t replies)
{
  wtl_am_far *f = far_of(am);
  f->peers[pe].replies++;
  f->held = true;
  wtl_net_message(am->pe->net, pe, (wtl_net_tag){.a = replies, .b = counted, .kind = COUNTED}, NULL, 0, true, NULL);
}

void wtl_am_far_push(wtl_am *am)
{
  wtl_am_far *f = am->far;
  if (!f || !f->held) return;
  f->held = false;
  wtl_net_push(am->pe->net);
}

/* --- what is in the inbox ----------------------------------------------------------------------------------------- */

/* Several threads ask, and what they send may pass each other: an older count says nothing. */
static bool is_later(uint32_t a, uint32_t b)
{
  return (int32_t)(a - b) > 0;
}

static void answer(wtl_am *am, wtl_am_far *f, int pe)
{
  peer *p = &f->peers[pe];
  if (!p->wants || p->held || (int32_t)(p->handled - p->wanted) < 0) return;
  p->wants = false;
  f->held = true;
  wtl_net_message(am->pe->net, pe, (wtl_net_tag){.a = p->wanted, .b = p->replies, .kind = DONE}, NULL, 0, true, NULL);
}

/* What was sent since is asked about at once where it is much: its sender may wait for room by now, and send nothing
 * more. */
static void take_done(wtl_am *am, wtl_am_far *f, int pe, const wtl_net_tag *tag)
{
  peer *p = &f->peers[pe];
  wtl_net_tag question;
  bool again = false;
  pthread_mutex_lock(&am->lock);
  if (is_later((uint32_t)tag->b, p->due)) p->due = (uint32_t)tag->b;
  if (is_later((uint32_t)tag->a, p->done)) p->done = (uint32_t)tag->a;
  if (p->asked == (uint32_t)tag->a) {
    p->done_bytes = p->asked_bytes;
    f->in_vain++;
    again = unanswered(p) > f->window / 4;
    if (again) question = ask(p);
  }
  pthread_mutex_unlock(&am->lock);
  if (again) wtl_net_message(am->pe->net, pe, question, NULL, 0, false, NULL);
}

static void count_handled(wtl_am *am, wtl_am_far *f, const wtl_am_message *m)
{
  peer *p = &f->peers[m->from];
  if (m->is_reply) {
    p->taken++;
    f->heard += m->n;
  } else {
    p->handled++;
    answer(am, f, m->from);
  }
}

void wtl_am_far_handled(wtl_am *am, const wtl_am_message *m)
{
  if (!m->is_reply) am->far->peers[m->from].held--;
  count_handled(am, am->far, m);
}

/* Its payload goes on being kept where it is the letter's. */
static void hold(wtl_am *am, wtl_am_far *f, wtl_am_letter *l, wtl_am_message *m)
{
  void *owned = NULL;
  if (l->owned) {
    owned = l->far_data;
    l->owned = false;
  } else if (!l->far_data && l->n) {
    if (!(owned = malloc(l->n)))
      wtl_pe_fail(WTL_EXIT_OSERR, "no memory to hold a message of %zu bytes from PE %d", (size_t)l->n, l->from);
    memcpy(owned, m->data, l->n);
    m->data = owned;
  }
  if (!m->is_reply) f->peers[m->from].held++;
  wtl_am_hold(am, m, NULL, owned);
}

/* A request may need room on the network for its reply. */
static bool has_room_for(const wtl_am *am, enum wtl_am_way way)
{
  return way == WTL_AM_REPLIES || wtl_net_has_room(am->pe->net);
}

/* By who has taken: while a reply waits for room on the node no more requests are taken. */
static bool may_take(const wtl_am *am, enum wtl_am_way way)
{
  return has_room_for(am, way) && !(way == WTL_AM_REQUESTS && am->kept);
}

/* Takes up to `most` of a letter's messages; how many. */
static int run(wtl_am *am, wtl_am_far *f, wtl_am_letter *l, enum wtl_am_way way, int most)
{
  wtl_am_message m = {.from = l->from,
                      .id = (int)(uint32_t)l->tag.b,
                      .counted = (uint32_t)(l->tag.b >> 32),
                      .is_reply = way == WTL_AM_REPLIES,
                      .n = l->n};
  char *first = l->far_data ? l->far_data : l->data;
  int taken = 0;
  do {
    m.data = first + l->done++ * wire_padded(l->n);
    if (WTL_LIKELY(wtl_am_run(am, &m)))
      count_handled(am, f, &m);
    else
      hold(am, f, l, &m);
    taken++;
  } while (l->done < l->count && taken < most && may_take(am, way));
  return taken;
}

static void take_question(wtl_am *am, wtl_am_far *f, int pe, uint32_t wanted)
{
  peer *p = &f->peers[pe];
  if (!p->wants || is_later(wanted, p->wanted)) p->wanted = wanted;
  p->wants = true;
  answer(am, f, pe);
}

static int take(wtl_am *am, wtl_am_far *f, wtl_am_letter *l, int most)
{
  switch (l->tag.kind) {
  case ASKING:
    run(am, f, l, WTL_AM_REQUESTS, 1);
    take_question(am, f, l->from, (uint32_t)l->tag.a);
    break;
  case REQUEST:
  case LANDED: return run(am, f, l, WTL_AM_REQUESTS, most);
  case REPLY: return run(am, f, l, WTL_AM_REPLIES, most);
  case COUNTED:
    wtl_am_count(am, (uint32_t)l->tag.b, (uint32_t)l->tag.a);
    f->peers[l->from].taken++;
    break;
  case ASK: take_question(am, f, l->from, (uint32_t)l->tag.a); break;
  default: take_done(am, f, l->from, &l->tag);
  }
  l->done = l->count;
  return 1;
}

bool wtl_am_far_is_there(const wtl_am *am, enum wtl_am_way way)
{
  const wtl_am_far *f = atomic_load_explicit(&am->far, memory_order_acquire);
  return f && !wtl_am_inbox_is_empty(&f->inbox[way]) && has_room_for(am, way);
}

int wtl_am_far_take(wtl_am *am, enum wtl_am_way way, int most)
{
  wtl_am_far *f = atomic_load_explicit(&am->far, memory_order_acquire);
  int taken = 0;
  while (f && taken < most && may_take(am, way)) {
    wtl_am_letter *l = wtl_am_inbox_peek(&f->inbox[way]);
    if (!l) break;
    taken += take(am, f, l, most - taken);
    if (l->done == l->count) wtl_am_inbox_remove(&f->inbox[way], l);
  }
  return taken;
}

/* --- completion --------------------------------------------------------------------------------------------------- */

typedef struct completing {
  const peer *to;
  uint32_t sent;
} completing;

static bool is_complete(void *arg)
{
  const completing *c = arg;
  uint32_t done = c->to->done; /* before `due`, which is written before it */
  return (int32_t)(done - c->sent) >= 0 && (int32_t)(c->to->taken - c->to->due) >= 0;
}

static void ask_for_end(wtl_am *am, wtl_am_far *f, int pe)
{
  peer *p = &f->peers[pe];
  wtl_net_tag question;
  bool asks;
  pthread_mutex_lock(&am->lock);
  asks = p->done != p->sent && p->asked != p->sent;
  if (asks) question = ask(p);
  pthread_mutex_unlock(&am->lock);
  if (asks) wtl_net_message(am->pe->net, pe, question, NULL, 0, false, NULL);
}

void wtl_am_far_quiet(wtl_am *am, wtl_site *site, int pe)
{
  wtl_am_far *f = atomic_load_explicit(&am->far, memory_order_acquire);
  int first = pe < 0 ? 0 : pe, end = pe < 0 ? am->pe->n : pe + 1;
  if (!f) return;
  f->in_vain = 0;
  for (int i = first; i < end; i++) ask_for_end(am, f, i);
  for (int i = first; i < end; i++) {
    completing c = {&f->peers[i], f->peers[i].sent};
    wait_for(am, site, is_complete, &c);
  }
}
