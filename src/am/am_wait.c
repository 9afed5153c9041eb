/* am_wait.c - waits through the door for handlers and mutexes, and reports a long wait that may have no end. */
#include "am/am_wait.h"

#include "am/am_state.h"
#include "base/error.h"
#include "os/os.h"

/* A wait that is reported when it is long. */
typedef struct waiting {
  bool (*ready)(void *);
  void *arg;
  double patience_s;
  uint64_t report_at;     /* ns */
  _Atomic bool *reported; /* of the PE: such a wait was reported */
  void (*report)(const struct waiting *w);
} waiting;

static bool is_ready_or_overdue(void *arg)
{
  waiting *w = arg;
  if (w->ready(w->arg)) return true;
  if (wtl_clock_ns() < w->report_at) return false;
  w->report_at = UINT64_MAX;
  if (!atomic_exchange_explicit(w->reported, true, memory_order_relaxed)) w->report(w);
  return false;
}

static void wait_and_report(wtl_pe *self, wtl_site *site, waiting w)
{
  w.patience_s = self->settings.am_patience.seconds;
  w.report_at = wtl_clock_ns() + wtl_am_patience_ns(self->am);
  wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, is_ready_or_overdue, &w);
}

static void report_locks(const waiting *w)
{
  wtl_message_print(
      "active messages: a request, or a wait for its handler, has waited for %.3g s in a thread that holds %d "
      "mutex%s; if a handler of this PE needs one of them, this is a deadlock: unlock before such calls",
      w->patience_s, wtl_am_here.locks, wtl_am_here.locks > 1 ? "es" : "");
}

static void report_handler(const waiting *w)
{
  wtl_message_print(
      "active messages: handler %d has waited for %.3g s for the mutex at %p, and no other handler of this PE can "
      "run; if the thread that holds the mutex waits for such a handler, or for a PE that waits for one, this is a "
      "deadlock",
      wtl_am_here.id, w->patience_s, w->arg);
}

void wtl_am_wait(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *arg)
{
  if (WTL_LIKELY(!wtl_am_here.locks))
    wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, ready, arg);
  else
    wait_and_report(
        self, site,
        (waiting){.ready = ready, .arg = arg, .reported = &self->am->reported_locks, .report = report_locks});
}

void wtl_am_wait_for_mutex(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *m)
{
  if (!wtl_am_here.runs)
    wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, ready, m);
  else
    wait_and_report(
        self, site,
        (waiting){.ready = ready, .arg = m, .reported = &self->am->reported_handler, .report = report_handler});
}
