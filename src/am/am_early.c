/* am_early.c - runs handlers, and keeps the list of early messages. */
#include "am/am_early.h"

#include <stdlib.h>

#include "am/am_far.h"
#include "am/am_handlers.h"
#include "am/am_send.h"
#include "base/error.h"
#include "os/os.h"

struct wtl_am_early {
  struct wtl_am_early *next;
  wtl_am_message m;
  bool in_ring;
  uint64_t at;
  void *owned;
};

/* --- running a handler -------------------------------------------------------------------------------------------- */

/* Of the runs of handlers for a call site the first ones are timed, and then one in so many. */
enum { FIRST_TIMED = 64, TIMED_ONE_IN = 16 };

/* Counts a request for the PE that asked. Returns its row if this run is to be timed, else NULL. The network counts
 * those of other nodes when they arrive. */
static wtl_served_work *count_served(wtl_am *am, const wtl_am_message *m, bool by_agent)
{
  wtl_served_row *row = wtl_served_row_of(&am->served, m->from, m->mark);
  wtl_served_work *work = &row->by[by_agent ? WTL_SERVED_BY_AGENT : WTL_SERVED_BY_HANDLER];
  if (am->pe->slot_of[m->from] >= 0) {
    row->requests++;
    row->bytes += m->n;
  }
  work->pieces++;
  return work->pieces <= FIRST_TIMED || work->pieces % TIMED_ONE_IN == 0 ? work : NULL;
}

static void call(wtl_am *am, const wtl_am_message *m, wtl_am_handler handler)
{
  wtl_am_thread *here = &wtl_am_here;
  wtl_thread_profile program = wtl_thread_sites;
  here->id = m->id;
  here->from = m->from;
  here->is_reply = m->is_reply;
  here->serial = ++am->runs;
  here->counted = m->counted;
  here->replies = 0;
  here->frame = __builtin_frame_address(0);
  wtl_thread_sites.table = am->sites;
  wtl_thread_sites.generation = here->is_agent ? WTL_IN_AGENTS_HANDLER : WTL_IN_HANDLER;
  wtl_served_work *timed = m->is_reply ? NULL : count_served(am, m, here->is_agent);
  uint64_t start = timed ? wtl_ticks() : 0;
  here->runs = true;
  handler(m->data, m->n, m->from, (wtl_am_token)here->serial << 32 | (uint32_t)m->from);
  here->runs = false;
  if (timed) {
    timed->timed++;
    timed->ticks += wtl_ticks() - start;
  }
  wtl_thread_sites.table = program.table;
  wtl_thread_sites.generation = program.generation;
  _Atomic uint64_t *handled = &am->pe->door.handled; /* only the thread that takes messages writes it */
  atomic_store_explicit(handled, atomic_load_explicit(handled, memory_order_relaxed) + 1, memory_order_relaxed);
  if (WTL_UNLIKELY(here->locks))
    wtl_pe_fail(WTL_EXIT_USAGE, "active messages: handler %d returned while it held %d mutex%s", m->id, here->locks,
                here->locks > 1 ? "es" : "");
  if (WTL_LIKELY(!m->counted)) return;
  if (m->is_reply)
    wtl_am_count_reply(am, m->counted);
  else
    wtl_am_publish_counted(am, m->from, m->counted, here->replies);
}

/* --- early messages ----------------------------------------------------------------------------------------------- */

static const char *kind_of(const wtl_am_message *m)
{
  return m->is_reply ? "reply" : "request";
}

static void refuse(const wtl_am_message *m)
{
  wtl_pe_fail(WTL_EXIT_USAGE,
              "active messages: a %s from PE %d is for handler %d, which this PE has not attached, and it ends now "
              "(shmemx_am_attach, before shmem_finalize)",
              kind_of(m), m->from, m->id);
}

void wtl_am_early_keep(wtl_am *am, const wtl_am_message *m, const uint64_t *at, void *owned)
{
  wtl_am_early *h;
  if (atomic_load_explicit(&am->ends, memory_order_relaxed)) refuse(m);
  if (!(h = malloc(sizeof *h)))
    wtl_pe_fail(WTL_EXIT_OSERR, "no memory to hold a message from PE %d for handler %d", m->from, m->id);
  *h = (wtl_am_early){.m = *m, .in_ring = at != NULL, .at = at ? *at : 0, .owned = owned};
  *am->early_end = h;
  am->early_end = &h->next;
  if (!atomic_load_explicit(&am->remind_at, memory_order_relaxed))
    atomic_store_explicit(&am->remind_at, wtl_clock_ns() + wtl_am_patience_ns(am), memory_order_relaxed);
  atomic_fetch_add_explicit(&am->n_early, 1, memory_order_seq_cst);
}

static bool has_space(const wtl_am *am)
{
  return !atomic_load_explicit(&am->pending_ring, memory_order_acquire) &&
         (!am->pe->net || wtl_net_has_space(am->pe->net));
}

/* Reports an early message, once for each PE: further reports would say the same. */
static void report(wtl_am *am)
{
  const wtl_am_message *m = &am->early->m;
  if (wtl_clock_ns() < atomic_load_explicit(&am->remind_at, memory_order_relaxed)) return;
  atomic_store_explicit(&am->remind_at, UINT64_MAX, memory_order_relaxed);
  wtl_message_print(
      "active messages: a %s from PE %d has waited for %.3g s for handler %d, which this PE has not attached "
      "(shmemx_am_attach)",
      kind_of(m), m->from, am->pe->settings.am_patience.seconds, m->id);
}

static bool is_same(const wtl_am_message *a, const wtl_am_message *b)
{
  return a->id == b->id && a->from == b->from && a->is_reply == b->is_reply;
}

/* Returns whether a message must wait although its handler is attached, because an earlier one of the same kind
 * waits. */
static bool is_held_up(const wtl_am *am, const wtl_am_message *m)
{
  const wtl_am_early *h = am->early;
  while (h && !is_same(&h->m, m)) h = h->next;
  return h != NULL;
}

bool wtl_am_early_retry(wtl_am *am)
{
  uint32_t attached = atomic_load_explicit(&am->attached, memory_order_seq_cst);
  bool any = false, fits = true;
  if (!am->early) return false;
  if (attached != atomic_load_explicit(&am->tried, memory_order_relaxed)) {
    for (wtl_am_early **at = &am->early, *h; (h = *at) != NULL;) {
      wtl_am_handler handler = wtl_am_handlers_find(am->handlers, h->m.id);
      if (!handler && atomic_load_explicit(&am->ends, memory_order_relaxed)) refuse(&h->m);
      if (handler && !h->m.is_reply) fits = fits && has_space(am);
      if (!handler || (!h->m.is_reply && !fits)) {
        at = &h->next;
        continue;
      }
      call(am, &h->m, handler);
      if (!h->in_ring) wtl_am_far_handled(am, &h->m, true);
      if (!(*at = h->next)) am->early_end = at;
      free(h->owned);
      free(h);
      atomic_fetch_sub_explicit(&am->n_early, 1, memory_order_relaxed);
      any = true;
    }
    if (fits) atomic_store_explicit(&am->tried, attached, memory_order_relaxed);
  }
  if (am->early) report(am);
  return any;
}

bool wtl_am_run(wtl_am *am, const wtl_am_message *m)
{
  wtl_am_handler handler = wtl_am_handlers_find(am->handlers, m->id);
  if (WTL_UNLIKELY(!handler)) return false;
  if (WTL_UNLIKELY(am->early != NULL)) {
    wtl_am_early_retry(am); /* the handler may have been attached just now */
    if (is_held_up(am, m)) return false;
  }
  wtl_os_note_work(WTL_OS_HANDLER);
  call(am, m, handler);
  return true;
}

uint64_t wtl_am_early_position(const wtl_am *am, enum wtl_am_way way, uint64_t position)
{
  const wtl_am_early *h = am->early;
  while (h && !(h->in_ring && h->m.is_reply == (way == WTL_AM_REPLIES))) h = h->next;
  return h ? h->at : position;
}

bool wtl_am_early_is_due(const wtl_am *am)
{
  if (atomic_load_explicit(&am->attached, memory_order_seq_cst) !=
          atomic_load_explicit(&am->tried, memory_order_relaxed) &&
      has_space(am))
    return true;
  return wtl_clock_ns() >= atomic_load_explicit(&am->remind_at, memory_order_relaxed);
}

bool wtl_am_early_attached(wtl_am *am)
{
  atomic_fetch_add_explicit(&am->attached, 1, memory_order_seq_cst);
  if (!atomic_load_explicit(&am->n_early, memory_order_seq_cst)) return false;
  wtl_am_wake(wtl_control_of(am->pe, am->pe->me));
  return true;
}

void wtl_am_early_free(wtl_am *am)
{
  for (wtl_am_early *h = am->early, *next; h; h = next) {
    next = h->next;
    free(h->owned);
    free(h);
  }
}
