/* am_life.c - starts and stops active messages, and attaches and detaches handlers. */
#include <stdlib.h>

#include "am/am_agent.h"
#include "am/am_far.h"
#include "am/am_handlers.h"
#include "am/am_early.h"
#include "am/am_order.h"
#include "am/am_run.h"
#include "am/am_send.h"
#include "am/am_state.h"
#include "base/error.h"
#include "os/os.h"
#include "record/record.h"

/* Checks the call number `call` to `pe` that a handler makes. A call to its own PE waits for no other PE, so more
 * are allowed there. The check also finds a handler that was left by longjmp. */
static void in_handler(uint32_t call, int pe)
{
  const wtl_call_info *info = wtl_record_call(wtl_self->record, call);
  bool left = (const char *)__builtin_frame_address(0) > wtl_am_here.frame;
  bool may =
      info->in_handler == WTL_IN_HANDLERS || (info->in_handler == WTL_TO_ITSELF_IN_HANDLERS && pe == wtl_self->me);
  if (left || !may) wtl_am_refuse_in_handler(info->name);
}

/* --- life --------------------------------------------------------------------------------------------------------- */

size_t wtl_am_ring_bytes(int n_local)
{
  return (size_t)n_local * WTL_AM_WAYS * sizeof(wtl_am_ring);
}

void wtl_am_start(wtl_pe *self, char *rings)
{
  wtl_am *am = calloc(1, sizeof *am);
  if (!am) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for active messages");
  am->pe = self;
  am->rings = (wtl_am_ring *)(void *)rings;
  am->mine = wtl_am_ring_of(am, self->slot, 0);
  am->progress = (enum wtl_am_progress)self->settings.progress.number;
  am->moment = (uint64_t)(WTL_AM_MOMENT_NS / wtl_clock_ns_per_tick());
  am->pending_end = &am->pending;
  am->early_end = &am->early;
  pthread_mutex_init(&am->lock, NULL);
  self->am = am;
  self->profile.in_handler = in_handler;
  self->door.messages = (wtl_messages){.of = am, .waits = wtl_am_waits, .take = wtl_am_take};
  wtl_am_agent_is_notified(&self->door.messages);
}

/* Tries the early messages again. */
static void retry_early(wtl_am *am)
{
  if (wtl_am_early_attached(am)) wtl_am_take_if_any(am);
}

void wtl_am_end(wtl_pe *self)
{
  atomic_store_explicit(&self->am->ends, true, memory_order_seq_cst);
  retry_early(self->am);
}

void wtl_am_stop(wtl_pe *self)
{
  self->door.messages = (wtl_messages){0};
  if (self->am->agent) wtl_am_agent_stop(self->am->agent);
  self->am->agent = NULL;
}

void wtl_am_free(wtl_pe *self)
{
  wtl_am *am = self->am;
  wtl_am_far_free(am);
  wtl_am_early_free(am);
  wtl_am_order_free(am->order);
  wtl_am_handlers_free(am->handlers);
  wtl_am_run_free(am);
  wtl_am_send_free(am);
  wtl_served_free(&am->served);
  pthread_mutex_destroy(&am->lock);
  free(am);
  self->am = NULL;
}

/* --- handlers ----------------------------------------------------------------------------------------------------- */

/* Replaces a detached handler: a message for it came too late, not too early. */
static void is_detached(void *buf, size_t n, int pe, wtl_am_token token)
{
  const wtl_am_thread *now = &wtl_am_here;
  (void)buf, (void)n, (void)token;
  wtl_pe_fail(WTL_EXIT_USAGE, "active messages: a %s from PE %d is for handler %d, which this PE has detached",
              now->is_reply ? "reply" : "request", pe, now->id);
}

static void set_handler(wtl_pe *self, const char *call, int id, wtl_am_handler handler)
{
  wtl_am *am = self->am;
  pthread_mutex_lock(&am->lock);
  if (!handler) {
    if (wtl_am_handlers_find(am->handlers, id)) wtl_am_handlers_set(&am->handlers, id, is_detached);
  } else if (!wtl_am_handlers_set(&am->handlers, id, handler))
    wtl_pe_fail(WTL_EXIT_OSERR, "%s: no memory for handler %d", call, id);
  /* In simulation the agent of the network runs the handlers of messages from other nodes (wtl_am_agents_turn). */
  bool is_served =
      (!WTL_OS_IS_SIMULATED || self->n_local > 1) && (id >= WTL_AM_FIRST_ID || am->progress == WTL_PROGRESS_AGENT);
  if (!am->agent && handler && is_served && am->progress != WTL_PROGRESS_CALLER) {
    char error[256];
    am->agent = wtl_am_agent_start(am, error, sizeof error);
    if (!am->agent) wtl_pe_fail(WTL_EXIT_OSERR, "%s: %s", call, error);
  }
  pthread_mutex_unlock(&am->lock);
}

void wtl_am_serve(wtl_pe *self)
{
  wtl_am *am = self->am;
  if (am->progress == WTL_PROGRESS_CALLER) am->progress = WTL_PROGRESS_AUTO;
}

void wtl_am_attach(wtl_pe *self, const char *call, int id, wtl_am_handler handler)
{
  set_handler(self, call, id, handler);
  retry_early(self->am);
}

void wtl_am_detach(wtl_pe *self, wtl_site *site, const char *call, int id)
{
  set_handler(self, call, id, NULL);
  if (!wtl_am_here.locks) wtl_am_wait_for_turn(self->am, site);
}

/* --- polling ------------------------------------------------------------------------------------------------------ */

bool wtl_am_poll(wtl_pe *self)
{
  enum { TURNS = WTL_AM_SLOTS / WTL_AM_TURN }; /* as many messages as a ring holds: others may send on */
  wtl_am *am = self->am;
  int turns = 0;
  if (am->agent) wtl_am_agent_note_poll(am->agent);
  while (turns < TURNS && wtl_am_take_if_any(am)) turns++;
  return turns > 0;
}
