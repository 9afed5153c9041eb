/* am_far_receive.c - puts messages that arrive from other nodes into the inbox, and takes them from there. */
#include "am/am_far_receive.h"

#include <stdlib.h>
#include <string.h>

#include "am/am_far.h"
#include "am/am_early.h"
#include "am/am_inbox.h"
#include "am/am_send.h"
#include "base/error.h"
#include "fabric/wire.h"
#include "pgas/near.h"

/* --- arrival, under the lock of the network ----------------------------------------------------------------------- */

static enum wtl_am_way way_of(uint32_t kind)
{
  return kind <= WTL_FAR_LANDED || kind == WTL_FAR_ASK || kind == WTL_FAR_ASKING ? WTL_AM_REQUESTS : WTL_AM_REPLIES;
}

static bool has_payload(uint32_t kind)
{
  return (kind >= WTL_FAR_REQUEST && kind <= WTL_FAR_REPLY) || kind == WTL_FAR_ASKING;
}

static void show(wtl_pe *self, wtl_am_far *f, uint32_t kind, size_t n)
{
  f->arrivals++;
  if (kind == WTL_FAR_REPLY)
    atomic_store_explicit(&f->reply_bytes, atomic_load_explicit(&f->reply_bytes, memory_order_relaxed) + n,
                          memory_order_release);
  wtl_am_announce(self->door.bell);
  wtl_am_inbox_show(&f->inbox[way_of(kind)]);
  /* The thread that serves the network takes the message next. If it may not, another one must be woken. */
  if (wtl_am_may_take(self->am)) return;
  wtl_fence();
  wtl_am_wake(wtl_control_of(self, self->me));
}

static char *landing_place(wtl_pe *self, uint64_t offset, size_t n)
{
  uint64_t length = self->statics_bytes + self->heap_bytes;
  if (offset < self->statics_bytes) length = self->statics_bytes; /* the memory behind them is not contiguous */
  if (offset > length || n > length - offset) return NULL;
  return wtl_own_name(self, offset);
}

bool wtl_am_far_message(void *owner, int from, wtl_net_tag tag, const void *data, size_t n, uint32_t count)
{
  wtl_pe *self = owner;
  wtl_am_far *f = wtl_am_far_of(self->am);
  char *place = NULL;
  if (tag.kind < WTL_FAR_REQUEST || tag.kind > WTL_FAR_ASKING) return false;
  if (n && !has_payload(tag.kind)) return false;
  if (tag.kind != WTL_FAR_REQUEST && tag.kind != WTL_FAR_REPLY && count > 1) return false;
  if (tag.kind == WTL_FAR_LANDED) {
    if (!(place = landing_place(self, tag.a, n))) return false;
    if (n) wtl_store_bytes(place, data, n);
  }
  /* Clear it now, since the answer may be taken much later: the messages held until now leave, and nothing else
   * sends the rest. */
  if (tag.kind == WTL_FAR_DONE && f->peers[from].asked == (uint32_t)tag.a) f->peers[from].asks = false;
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

void *wtl_am_far_buffer(void *owner, int from, wtl_net_tag tag, size_t n)
{
  wtl_pe *self = owner;
  (void)from;
  if (n == 0 || n > WTL_AM_LONGEST || !has_payload(tag.kind)) return NULL;
  return tag.kind == WTL_FAR_LANDED ? landing_place(self, tag.a, n) : malloc(n);
}

void wtl_am_far_landed(void *owner, int from, wtl_net_tag tag, void *buffer, size_t n)
{
  wtl_pe *self = owner;
  wtl_am_far *f = wtl_am_far_of(self->am);
  wtl_am_letter *l = wtl_am_inbox_add(&f->inbox[way_of(tag.kind)], 0);
  if (!l) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for a message of %zu bytes from PE %d", n, from);
  l->tag = tag;
  l->from = from;
  l->n = (uint32_t)n;
  l->far_data = buffer;
  l->owned = tag.kind != WTL_FAR_LANDED;
  show(self, f, tag.kind, n);
}

/* --- taking from the inbox ---------------------------------------------------------------------------------------- */

/* Keeps an early message. Its payload stays in memory of its own, as the letter is reused. */
static void keep_early(wtl_am *am, wtl_am_letter *l, wtl_am_message *m)
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
  if (!m->is_reply) am->far->peers[m->from].early++;
  wtl_am_early_keep(am, m, NULL, owned);
}

/* Returns whether the network has space for the reply that a request may send. */
static bool has_space_for(const wtl_am *am, enum wtl_am_way way)
{
  return way == WTL_AM_REPLIES || wtl_net_has_space(am->pe->net);
}

/* Returns whether this thread, which takes messages, may take more. It takes no request while a reply waits for
 * space in a ring of the node. */
static bool may_take(const wtl_am *am, enum wtl_am_way way)
{
  return has_space_for(am, way) && !(way == WTL_AM_REQUESTS && am->pending);
}

/* Takes up to `most` messages of a letter, and returns how many. */
static int run(wtl_am *am, wtl_am_letter *l, enum wtl_am_way way, int most)
{
  wtl_am_message m = {.from = l->from,
                      .id = (int)(uint32_t)l->tag.b,
                      .counted = (uint32_t)(l->tag.b >> 32),
                      .is_reply = way == WTL_AM_REPLIES,
                      .n = l->n,
                      .mark = l->tag.mark};
  char *first = l->far_data ? l->far_data : l->data;
  int taken = 0;
  do {
    m.data = first + l->done++ * wire_padded(l->n);
    if (WTL_LIKELY(wtl_am_run(am, &m)))
      wtl_am_far_handled(am, &m, false);
    else
      keep_early(am, l, &m);
    taken++;
  } while (l->done < l->count && taken < most && may_take(am, way));
  return taken;
}

static int take(wtl_am *am, wtl_am_letter *l, int most)
{
  switch (l->tag.kind) {
  case WTL_FAR_ASKING:
    run(am, l, WTL_AM_REQUESTS, 1);
    wtl_am_far_asked(am, l->from, (uint32_t)l->tag.a);
    break;
  case WTL_FAR_REQUEST:
  case WTL_FAR_LANDED: return run(am, l, WTL_AM_REQUESTS, most);
  case WTL_FAR_REPLY: return run(am, l, WTL_AM_REPLIES, most);
  case WTL_FAR_COUNTED:
    wtl_am_count(am, (uint32_t)l->tag.b, (uint32_t)l->tag.a);
    am->far->peers[l->from].taken++;
    break;
  case WTL_FAR_ASK: wtl_am_far_asked(am, l->from, (uint32_t)l->tag.a); break;
  default: wtl_am_far_done(am, l->from, &l->tag);
  }
  l->done = l->count;
  return 1;
}

bool wtl_am_far_is_there(const wtl_am *am, enum wtl_am_way way)
{
  const wtl_am_far *f = atomic_load_explicit(&am->far, memory_order_acquire);
  return f && !wtl_am_inbox_is_empty(&f->inbox[way]) && has_space_for(am, way);
}

int wtl_am_far_take(wtl_am *am, enum wtl_am_way way, int most)
{
  wtl_am_far *f = atomic_load_explicit(&am->far, memory_order_acquire);
  int taken = 0;
  while (f && taken < most && may_take(am, way)) {
    wtl_am_letter *l = wtl_am_inbox_peek(&f->inbox[way]);
    if (!l) break;
    taken += take(am, l, most - taken);
    if (l->done == l->count) wtl_am_inbox_remove(&f->inbox[way], l);
  }
  return taken;
}
