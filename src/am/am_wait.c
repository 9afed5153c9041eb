/* am_wait.c - waits through the door, and reports a wait that takes long and may have no end. */
#include "am/am_wait.h"

#include "am/am_state.h"
#include "base/error.h"
#include "os/os.h"

/* A wait that is reported when it takes long. */
typedef struct waiting {
  bool (*ready)(void *);
  void *arg;
  double patience_s;
  uint64_t say_at;    /* ns */
  _Atomic bool *told; /* the PE's: it has been reported */
  void (*say)(const struct waiting *w);
} waiting;

static bool is_ready_or_late(void *arg)
{
  waiting *w = arg;
  if (w->ready(w->arg)) return true;
  if (wtl_clock_ns() < w->say_at) return false;
  w->say_at = UINT64_MAX;
  if (!atomic_exchange_explicit(w->told, true, memory_order_relaxed)) w->say(w);
  return false;
}

static void wait_and_say(wtl_pe *self, wtl_site *site, waiting w)
{
  w.patience_s = self->settings.am_patience.seconds;
  w.say_at = wtl_clock_ns() + (uint64_t)(w.patience_s * 1e9);
  wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, is_ready_or_late, &w);
}

static void say_locks(const waiting *w)
{
  wtl_message_print(
      "active messages: a request, or a wait for its handler, has waited for %.3g s in a thread that holds %d "
      "mutex%s; if a handler of this PE wants one, this has no end: unlock before such calls",
      w->patience_s, wtl_am_here.locks, wtl_am_here.locks > 1 ? "es" : "");
}

static void say_handler(const waiting *w)
{
  wtl_message_print(
      "active messages: handler %d has waited for %.3g s for the mutex at %p, and no other handler of this PE can "
      "run; if the thread that holds it waits for one, or for a PE that does, this has no end",
      wtl_am_here.id, w->patience_s, w->arg);
}

void wtl_am_wait(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *arg)
{
  if (WTL_LIKELY(!wtl_am_here.locks))
    wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, ready, arg);
  else
    wait_and_say(self, site,
                 (waiting){.ready = ready, .arg = arg, .told = &self->am->reported_locks, .say = say_locks});
}

void wtl_am_wait_for_mutex(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *m)
{
  if (!wtl_am_here.runs)
    wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, ready, m);
  else
    wait_and_say(self, site,
                 (waiting){.ready = ready, .arg = m, .told = &self->am->reported_handler, .say = say_handler});
}
