/* am_far.c - sends requests and replies to PEs of other nodes, and exchanges the counts that show completion. */
#include "am/am_far.h"

#include <stdlib.h>
#include <string.h>

#include "am/am_wait.h"
#include "base/error.h"
#include "pgas/near.h"

/* The bytes of its window that a message uses in addition to its payload: about its share of the inbox. */
enum { COST = 64 };

/* An answer that no quiet waited for was in vain. After this many, the first message of a burst is sent without
 * asking for one. */
enum { USELESS_ANSWERS = 4 };

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

wtl_am_far *wtl_am_far_of(wtl_am *am)
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

/* --- requests ----------------------------------------------------------------------------------------------------- */

typedef struct sending {
  wtl_am *am;
  const wtl_am_far *far;
  const wtl_am_peer *to;
} sending;

/* Returns the bytes sent to a PE for which no answer has come. */
static uint64_t unanswered(const wtl_am_peer *p)
{
  return p->bytes - p->done_bytes;
}

/* Returns whether a request may be sent. A PE that does not handle the replies it has received sends no more. */
static bool has_space(void *arg)
{
  const sending *s = arg;
  return unanswered(s->to) < s->far->window && wtl_net_has_space(s->am->pe->net) &&
         s->far->reply_bytes - s->far->reply_bytes_handled < WTL_AM_MOST_REPLIES;
}

static bool is_zero(void *left)
{
  return atomic_load_explicit((_Atomic uint32_t *)left, memory_order_acquire) == 0;
}

static void wait_for(wtl_am *am, wtl_site *site, bool (*ready)(void *), void *arg)
{
  if (!ready(arg)) wtl_am_wait(am->pe, site, ready, arg);
}

/* Asks for an answer when all messages so far have been handled. The caller holds am->lock. */
static wtl_net_tag ask(wtl_am_peer *p)
{
  p->asked = p->sent;
  p->asked_bytes = p->bytes;
  p->asks = true;
  return (wtl_net_tag){.a = p->asked, .kind = WTL_FAR_ASK};
}

/*
 * Returns whether to ask for an answer with this message. There are three reasons. A quiet is likely to follow. This
 * message is not the only one: nothing has arrived since the last one was sent. A quarter of the window is used, and
 * asking now lets this PE send on without a pause. The first two reasons can wait while more messages follow.
 */
static bool should_ask(wtl_am_far *f, wtl_am_peer *p, bool more)
{
  uint64_t arrivals = atomic_load_explicit(&f->arrivals, memory_order_relaxed);
  bool burst = p->seen == arrivals + 1;
  p->seen = arrivals + 1;
  return !p->asks && ((!more && (burst || f->useless_answers < USELESS_ANSWERS)) || unanswered(p) > f->window / 4);
}

/* Counts a message that is about to be sent. Returns true, with the question in *question, if it must be followed by
 * one. */
static bool count_sent(wtl_am *am, wtl_am_far *f, wtl_am_peer *p, size_t n, bool more, wtl_net_tag *question)
{
  bool alone = am->pe->thread_level < WTL_THREAD_MULTIPLE, asks;
  if (!alone) pthread_mutex_lock(&am->lock);
  atomic_store_explicit(&p->sent, atomic_load_explicit(&p->sent, memory_order_relaxed) + 1, memory_order_relaxed);
  atomic_store_explicit(&p->bytes, atomic_load_explicit(&p->bytes, memory_order_relaxed) + n + COST,
                        memory_order_relaxed);
  asks = should_ask(f, p, more);
  if (asks && alone) pthread_mutex_lock(&am->lock);
  if (asks)
    *question = ask(p); /* no other thread begins to ask: an answer that arrives asks again only if one was asked for */
  if (asks || !alone) pthread_mutex_unlock(&am->lock);
  return asks;
}

/* May requests and replies wait for the next message to the same PE? */
static bool may_merge(const wtl_am *am)
{
  return am->pe->settings.merge.number == WTL_MERGE_AUTO;
}

void wtl_am_far_request(wtl_am *am, wtl_site *site, const wtl_am_request *r, uint32_t counted)
{
  wtl_am_far *f = wtl_am_far_of(am);
  wtl_net *net = am->pe->net;
  wtl_am_peer *p = &f->peers[r->pe];
  sending s = {am, f, p};
  _Atomic uint32_t left = 0;
  wtl_net_tag tag = {.b = pack(r->id, counted), .kind = WTL_FAR_REQUEST, .joins = true}, question;
  uint16_t mark = wtl_site_mark(site);
  wtl_os_note_work(WTL_OS_FAR);
  if (r->target) tag = (wtl_net_tag){.a = wtl_far_place(am->pe, r->target).offset, .b = tag.b, .kind = WTL_FAR_LANDED};
  wait_for(am, site, has_space, &s);
  bool asks = count_sent(am, f, p, r->n, r->more, &question), held = asks || (p->asks && may_merge(am));
  bool takes_it_along =
      asks && !r->target && r->n > WTL_NET_MERGED; /* a shorter one shares a message with the question */
  if (takes_it_along) tag = (wtl_net_tag){.a = question.a, .b = tag.b, .kind = WTL_FAR_ASKING};
  tag.mark = mark;
  wtl_net_message(net, r->pe, tag, r->source, r->n, held, r->n > WTL_NET_MERGED ? &left : NULL);
  question.mark = mark;
  if (asks && !takes_it_along)
    wtl_net_message(net, r->pe, question, NULL, 0, false, NULL);
  else if (!asks && held && !p->asks)
    wtl_net_push(net); /* the answer came meanwhile, so no other event sends this message */
  wait_for(am, site, is_zero, &left);
}

/* --- replies, sent by the thread that takes messages -------------------------------------------------------------- */

void wtl_am_far_reply(wtl_am *am, int pe, int id, uint32_t counted, const void *source, size_t n)
{
  wtl_am_far *f = wtl_am_far_of(am);
  wtl_os_note_work(WTL_OS_FAR);
  f->peers[pe].replies++;
  f->unsent = true;
  wtl_net_message(am->pe->net, pe, (wtl_net_tag){0, pack(id, counted), WTL_FAR_REPLY, WTL_SERVED_ANSWER, true}, source,
                  n, may_merge(am), NULL);
}

/* The notice counts as a reply, so that quiet waits for it. */
void wtl_am_far_publish_counted(wtl_am *am, int pe, uint32_t counted, uint32_t replies)
{
  wtl_am_far *f = wtl_am_far_of(am);
  f->peers[pe].replies++;
  f->unsent = true;
  wtl_net_message(am->pe->net, pe,
                  (wtl_net_tag){.a = replies, .b = counted, .kind = WTL_FAR_COUNTED, .mark = WTL_SERVED_ANSWER}, NULL,
                  0, true, NULL);
}

void wtl_am_far_push(wtl_am *am)
{
  wtl_am_far *f = am->far;
  if (!f || !f->unsent) return;
  f->unsent = false;
  wtl_net_push(am->pe->net);
}

/* --- counts of handled messages, by the thread that takes messages ------------------------------------------------ */

/* Returns whether the count `a` is newer than `b`. Several threads ask and their messages may overtake each other,
 * so older counts may arrive. */
static bool is_later(uint32_t a, uint32_t b)
{
  return (int32_t)(a - b) > 0;
}

static void answer(wtl_am *am, wtl_am_far *f, int pe)
{
  wtl_am_peer *p = &f->peers[pe];
  if (!p->wants || p->early || (int32_t)(p->handled - p->wanted) < 0) return;
  p->wants = false;
  f->unsent = true;
  wtl_net_message(am->pe->net, pe,
                  (wtl_net_tag){.a = p->wanted, .b = p->replies, .kind = WTL_FAR_DONE, .mark = WTL_SERVED_ANSWER}, NULL,
                  0, true, NULL);
}

/* If much was sent since the question, asks again at once: the sender may wait for space by now and send nothing
 * more. */
void wtl_am_far_done(wtl_am *am, int pe, const wtl_net_tag *tag)
{
  wtl_am_far *f = am->far;
  wtl_am_peer *p = &f->peers[pe];
  wtl_net_tag question;
  bool again = false;
  pthread_mutex_lock(&am->lock);
  if (is_later((uint32_t)tag->b, p->due)) p->due = (uint32_t)tag->b;
  if (is_later((uint32_t)tag->a, p->done)) p->done = (uint32_t)tag->a;
  if (p->asked == (uint32_t)tag->a) {
    p->done_bytes = p->asked_bytes;
    f->useless_answers++;
    again = unanswered(p) > f->window / 4;
    if (again) question = ask(p);
  }
  pthread_mutex_unlock(&am->lock);
  if (again) wtl_net_message(am->pe->net, pe, question, NULL, 0, false, NULL);
}

void wtl_am_far_asked(wtl_am *am, int pe, uint32_t wanted)
{
  wtl_am_far *f = am->far;
  wtl_am_peer *p = &f->peers[pe];
  if (!p->wants || is_later(wanted, p->wanted)) p->wanted = wanted;
  p->wants = true;
  answer(am, f, pe);
}

void wtl_am_far_handled(wtl_am *am, const wtl_am_message *m, bool was_held)
{
  wtl_am_far *f = am->far;
  wtl_am_peer *p = &f->peers[m->from];
  if (m->is_reply) {
    p->taken++;
    f->reply_bytes_handled += m->n;
  } else {
    p->early -= was_held;
    p->handled++;
    answer(am, f, m->from);
  }
}

/* --- completion --------------------------------------------------------------------------------------------------- */

typedef struct completing {
  const wtl_am_peer *to;
  uint32_t sent;
} completing;

static bool is_complete(void *arg)
{
  const completing *c = arg;
  uint32_t done = c->to->done; /* loaded before `due`, which is stored before it */
  return (int32_t)(done - c->sent) >= 0 && (int32_t)(c->to->taken - c->to->due) >= 0;
}

static void ask_for_end(wtl_am *am, wtl_am_far *f, int pe)
{
  wtl_am_peer *p = &f->peers[pe];
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
  f->useless_answers = 0;
  for (int i = first; i < end; i++) ask_for_end(am, f, i);
  for (int i = first; i < end; i++) {
    completing c = {&f->peers[i], f->peers[i].sent};
    wait_for(am, site, is_complete, &c);
  }
}
