/* am_run.c - takes the messages that have arrived, in one thread of the PE at a time, and runs their handlers. */
#include "am/am_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "am/am_agent.h"
#include "am/am_far.h"
#include "am/am_far_receive.h"
#include "am/am_space.h"
#include "am/am_early.h"
#include "am/am_send.h"
#include "base/error.h"
#include "os/os.h"
#include "pgas/near.h"

/* The head is published when no message is left, and after this many slots or units. Each time costs a sender a
 * fetch of its cache line. */
enum { SLOTS_A_PUBLISH = WTL_AM_SLOTS / 8, UNITS_A_PUBLISH = WTL_AM_UNITS / 8 };

/* If there are several messages, the one this far ahead is prefetched from the other core. */
enum { SLOTS_AHEAD = 4 };

/* --- messages in the rings ---------------------------------------------------------------------------------------- */

/* A message that has arrived in part. */
struct wtl_am_whole {
  struct wtl_am_whole *next;
  uint64_t serial, got, total;
  uint16_t from;
  uint8_t way;
  _Alignas(16) char data[];
};

static wtl_am_whole *whole_of(wtl_am *am, const wtl_am_slot *s, const wtl_am_piece *piece, enum wtl_am_way way)
{
  wtl_am_whole *w = am->wholes;
  while (w && (w->serial != piece->serial || w->from != s->from || w->way != way)) w = w->next;
  if (w) return w;
  if (!(w = malloc(sizeof *w + piece->total)))
    wtl_pe_fail(WTL_EXIT_OSERR, "no memory for a message of %zu bytes from PE %d", (size_t)piece->total,
                am->pe->boot.local_pe[s->from]);
  *w = (wtl_am_whole){.next = am->wholes, .serial = piece->serial, .total = piece->total, .from = s->from, .way = way};
  return am->wholes = w;
}

static void remove_whole(wtl_am *am, wtl_am_whole *w)
{
  wtl_am_whole **at = &am->wholes;
  while (*at != w) at = &(*at)->next;
  *at = w->next;
}

static void take_piece(wtl_am *am, wtl_am_slot *s, uint64_t at, const char *payload, enum wtl_am_way way,
                       wtl_am_message *m)
{
  wtl_am_piece piece;
  memcpy(&piece, s->bytes, sizeof piece);
  wtl_am_whole *w = whole_of(am, s, &piece, way);
  memcpy(w->data + piece.offset, payload, s->n);
  w->got += s->n;
  if (w->got < w->total) return;
  remove_whole(am, w);
  m->data = w->data;
  m->n = w->total;
  if (wtl_am_run(am, m))
    free(w);
  else
    wtl_am_early_keep(am, m, &at, w);
}

static void run_or_keep(wtl_am *am, const wtl_am_message *m, uint64_t at)
{
  if (WTL_UNLIKELY(!wtl_am_run(am, m))) wtl_am_early_keep(am, m, &at, NULL);
}

static void take_slot(wtl_am *am, wtl_am_slot *s, uint64_t at, enum wtl_am_way way)
{
  wtl_pe *self = am->pe;
  char *payload = wtl_am_payload(&am->mine[way], s);
  wtl_am_message m = {
      self->boot.local_pe[s->from], s->handler, s->counted, way == WTL_AM_REPLIES, payload, s->n, s->mark};
  wtl_am_landing landing;
  switch (s->kind) {
  case WTL_AM_WHOLE: run_or_keep(am, &m, at); break;
  case WTL_AM_PART: take_piece(am, s, at, payload, way, &m); break;
  case WTL_AM_LANDED:
    memcpy(&landing, s->bytes, sizeof landing);
    m.data = wtl_own_name(self, landing.offset);
    m.n = landing.n;
    run_or_keep(am, &m, at);
    break;
  default: wtl_am_count(am, s->counted, (uint32_t)s->handler);
  }
}

/* Publishes the position up to which a ring was read, but not past early messages. */
static bool publish_head(wtl_am *am, enum wtl_am_way way)
{
  uint64_t position = atomic_load_explicit(&am->position[way], memory_order_relaxed);
  return wtl_am_publish_head(am, way,
                             WTL_UNLIKELY(am->early != NULL) ? wtl_am_early_position(am, way, position) : position);
}

static bool take_ring(wtl_am *am, enum wtl_am_way way)
{
  wtl_am_ring *r = &am->mine[way];
  int taken;
  for (taken = 0; taken < WTL_AM_TURN && !(way == WTL_AM_REQUESTS && am->pending); taken++) {
    uint64_t at = atomic_load_explicit(&am->position[way], memory_order_relaxed);
    wtl_am_slot *s = wtl_am_peek(r, at);
    if (!s) break;
    wtl_os_near_access(s->n);
    if (taken > 1) __builtin_prefetch(&r->slots[((uint32_t)at + SLOTS_AHEAD) % WTL_AM_SLOTS]);
    take_slot(am, s, at, way);
    at = wtl_am_after(at, s);
    atomic_store_explicit(&am->position[way], at, memory_order_relaxed);
    if (((uint32_t)at - (uint32_t)am->shown[way] >= SLOTS_A_PUBLISH ||
         (uint32_t)(at >> 32) - (uint32_t)(am->shown[way] >> 32) >= UNITS_A_PUBLISH) &&
        publish_head(am, way)) {
      wtl_fence();
      wtl_am_wake_waiters(am, way);
    }
  }
  return taken > 0;
}

/* --- taking messages ---------------------------------------------------------------------------------------------- */

static bool has_message(wtl_am *am, enum wtl_am_way way)
{
  return wtl_am_peek(&am->mine[way], atomic_load_explicit(&am->position[way], memory_order_relaxed)) != NULL;
}

bool wtl_am_waits(void *arg)
{
  wtl_am *am = arg;
  if (atomic_load_explicit(&am->taken, memory_order_seq_cst) || !wtl_am_may_take(am)) return false;
  if (has_message(am, WTL_AM_REPLIES) || wtl_am_far_is_there(am, WTL_AM_REPLIES)) return true;
  if (WTL_UNLIKELY(atomic_load_explicit(&am->n_early, memory_order_relaxed)) && wtl_am_early_is_due(am)) return true;
  const wtl_am_ring *pending = atomic_load_explicit(&am->pending_ring, memory_order_acquire);
  if (WTL_UNLIKELY(pending != NULL)) return wtl_am_has_space(pending);
  return has_message(am, WTL_AM_REQUESTS) || wtl_am_far_is_there(am, WTL_AM_REQUESTS);
}

/* Takes messages from other nodes. They come in long runs, so this takes as many as come within a moment before a
 * waiting thread polls the network again. */
static bool take_far(wtl_am *am, enum wtl_am_way way)
{
  int taken = wtl_am_far_take(am, way, WTL_AM_TURN);
  bool any = taken > 0;
  if (taken < WTL_AM_TURN) return any;
  for (uint64_t until = wtl_ticks() + am->moment; taken == WTL_AM_TURN && wtl_ticks() < until;)
    taken = wtl_am_far_take(am, way, WTL_AM_TURN);
  return any;
}

static bool take_some(wtl_am *am)
{
  bool any = am->pending && wtl_am_send_pending(am);
  if (WTL_UNLIKELY(am->early != NULL)) any |= wtl_am_early_retry(am);
  any |= take_ring(am, WTL_AM_REPLIES);
  any |= take_far(am, WTL_AM_REPLIES);
  any |= take_ring(am, WTL_AM_REQUESTS);
  any |= take_far(am, WTL_AM_REQUESTS);
  wtl_am_far_push(am);
  return any;
}

bool wtl_am_take(void *arg)
{
  wtl_am *am = arg;
  wtl_pe *self = am->pe;
  bool any, any_waits, shown[WTL_AM_WAYS];
  if (atomic_exchange_explicit(&am->taken, 1, memory_order_seq_cst)) return false;
  wtl_pe_enter(self);
  if (WTL_UNLIKELY(!am->sites)) am->sites = wtl_profile_handlers(&self->profile);
  any = take_some(am);
  for (int way = 0; way < WTL_AM_WAYS; way++) shown[way] = publish_head(am, (enum wtl_am_way)way);
  atomic_store_explicit(&am->turns, atomic_load_explicit(&am->turns, memory_order_relaxed) + 1, memory_order_relaxed);
  atomic_store_explicit(&am->taken, 0, memory_order_release);
  wtl_fence(); /* one barrier for all: the loads below must come after the store above */
  for (int way = 0; way < WTL_AM_WAYS; way++)
    if (shown[way]) wtl_am_wake_waiters(am, (enum wtl_am_way)way);
  /* A handler may have changed what another thread of this PE waits for, even in private memory. */
  any_waits = any || atomic_load_explicit(&am->awaited, memory_order_relaxed);
  if (any_waits && wtl_bell_has_sleeper(self->door.bell)) wtl_bell_ring(self->door.bell);
  /* A sender that saw this thread take messages did not wake the PE. So poll once more. */
  wtl_control *own = wtl_control_of(self, self->me);
  if (wtl_am_has_sleeper(own) && wtl_am_waits(am)) wtl_am_wake(own);
  return any;
}

/* A run of another thread that takes messages. */
typedef struct turn {
  const wtl_am *am;
  uint64_t number;
} turn;

static bool turn_is_over(void *arg)
{
  const turn *t = arg;
  return !atomic_load_explicit(&t->am->taken, memory_order_seq_cst) ||
         atomic_load_explicit(&t->am->turns, memory_order_acquire) != t->number;
}

void wtl_am_wait_for_turn(wtl_am *am, wtl_site *site)
{
  turn t = {am, atomic_load_explicit(&am->turns, memory_order_acquire)};
  if (turn_is_over(&t)) return;
  atomic_fetch_add_explicit(&am->awaited, 1, memory_order_seq_cst);
  wtl_door_wait(&am->pe->door, site, WTL_WATCH_CONTROL, turn_is_over, &t);
  atomic_fetch_sub_explicit(&am->awaited, 1, memory_order_relaxed);
}

bool wtl_am_take_if_any(wtl_am *am)
{
  return atomic_load_explicit(&am->pe->door.bell->has_messages, memory_order_relaxed) && wtl_am_waits(am) &&
         wtl_am_take(am);
}

double wtl_am_served(wtl_pe *self, wtl_served *to)
{
  enum { TRIES = 1 << 20 };
  wtl_am *am = self->am;
  bool runs = wtl_am_here.runs; /* then this thread has taken `am` */
  for (int i = 0; !runs && atomic_exchange_explicit(&am->taken, 1, memory_order_acquire); i++)
    if (i == TRIES) return NAN;
  wtl_served_add(to, &am->served);
  if (!runs) atomic_store_explicit(&am->taken, 0, memory_order_release);
  return am->agent ? wtl_am_agent_cpu_s(am->agent) : 0;
}

bool wtl_am_agents_turn(void *am)
{
  wtl_am_here.is_agent = true;
  return wtl_am_take_if_any(am);
}

void wtl_am_run_free(wtl_am *am)
{
  for (wtl_am_whole *w = am->wholes, *next; w; w = next) next = w->next, free(w);
}
