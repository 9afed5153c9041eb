#include "am/am_mutex.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/error.h"
#include "am/am_order.h"
#include "am/am_state.h"
#include "profile/caller.h"

/* What `state` holds: zeros, or a number that memory holds by chance once in four thousand million times. */
enum { ZEROS = 0, MADE = 0x57614d75, DESTROYED = 0x57614465 };

static uintptr_t this_thread(void)
{
  return (uintptr_t)&wtl_am_here;
}

static const char *where(void)
{
  return wtl_am_here.runs ? " (in a handler)" : "";
}

static void refuse_no_mutex(const char *call, const wtl_am_mutex *m)
{
  if (WTL_LIKELY(m->state == MADE || m->state == ZEROS)) return;
  if (m->state == DESTROYED)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: the mutex at %p was destroyed%s", wtl_here(call), (const void *)m, where());
  wtl_pe_fail(
      WTL_EXIT_USAGE,
      "%s: what is at %p is no mutex%s; shmemx_am_mutex_init makes one, or memory that is all zeros, and nothing "
      "else may write there",
      wtl_here(call), (const void *)m, where());
}

static void refuse_second(const char *call, const wtl_am_mutex *m)
{
  if (WTL_UNLIKELY(atomic_load_explicit(&m->owner, memory_order_relaxed) == this_thread()))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this thread already holds the mutex at %p%s", wtl_here(call), (const void *)m,
                where());
}

/* What memory held before may be anything, but this thread's own name only where it has the mutex. */
void wtl_am_mutex_init(wtl_pe *self, const char *call, wtl_am_mutex *m)
{
  if (WTL_UNLIKELY(wtl_am_here.locks)) refuse_second(call, m);
  if (WTL_UNLIKELY(self->settings.am_debug.on)) wtl_am_order_forget(self, m); /* another one may have been there */
  atomic_store_explicit(&m->owner, 0, memory_order_relaxed);
  atomic_store_explicit(&m->waiters, 0, memory_order_relaxed);
  m->state = MADE;
}

void wtl_am_mutex_destroy(const char *call, wtl_am_mutex *m)
{
  refuse_no_mutex(call, m);
  if (atomic_load_explicit(&m->owner, memory_order_relaxed))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: the mutex at %p is held%s", wtl_here(call), (void *)m, where());
  m->state = DESTROYED;
}

/* waits: if it is not free, the thread waits for it. */
static bool try_lock(wtl_pe *self, wtl_am_mutex *m, bool waits)
{
  uintptr_t nobody = 0;
  if (!atomic_compare_exchange_strong_explicit(&m->owner, &nobody, this_thread(), memory_order_acquire,
                                               memory_order_relaxed))
    return false;
  wtl_am_here.locks++;
  if (WTL_UNLIKELY(self->settings.am_debug.on)) wtl_am_order_locked(self, m, waits);
  return true;
}

/* What a thread waits for, and when it is said that this takes long. */
typedef struct waiting {
  wtl_am *am;
  bool (*ready)(void *);
  void *arg;
  double patience_s;
  uint64_t say_at; /* ns */
} waiting;

static waiting wait_for(const wtl_pe *self, bool (*ready)(void *), void *arg)
{
  double patience_s = self->settings.am_patience.seconds;
  return (waiting){self->am, ready, arg, patience_s, wtl_clock_ns() + (uint64_t)(patience_s * 1e9)};
}

/* It takes long, and `told`, the PE's, is yet to be set. */
static bool is_to_be_told(waiting *w, _Atomic bool *told)
{
  if (wtl_clock_ns() < w->say_at) return false;
  w->say_at = UINT64_MAX;
  return !atomic_exchange_explicit(told, true, memory_order_relaxed);
}

static bool is_free(void *m)
{
  return atomic_load_explicit(&((wtl_am_mutex *)m)->owner, memory_order_acquire) == 0;
}

static bool is_free_or_late(void *arg)
{
  waiting *w = arg;
  if (is_free(w->arg)) return true;
  if (is_to_be_told(w, &w->am->told_of_handler))
    wtl_say(
        "active messages: handler %d has waited for %.3g s for the mutex at %p, and no other handler of this PE can "
        "run; if the thread that holds it waits for one, or for a PE that does, this has no end",
        wtl_am_here.id, w->patience_s, w->arg);
  return false;
}

void wtl_am_mutex_lock(wtl_pe *self, wtl_site *site, const char *call, wtl_am_mutex *m)
{
  refuse_no_mutex(call, m);
  refuse_second(call, m);
  if (WTL_LIKELY(try_lock(self, m, true))) return;
  waiting w = wait_for(self, is_free, m);
  do {
    atomic_fetch_add_explicit(&m->waiters, 1, memory_order_seq_cst);
    if (wtl_am_here.runs)
      wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, is_free_or_late, &w);
    else
      wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, is_free, m);
    atomic_fetch_sub_explicit(&m->waiters, 1, memory_order_relaxed);
  } while (!try_lock(self, m, true));
}

bool wtl_am_mutex_trylock(wtl_pe *self, const char *call, wtl_am_mutex *m)
{
  refuse_no_mutex(call, m);
  return try_lock(self, m, false);
}

void wtl_am_mutex_unlock(wtl_pe *self, const char *call, wtl_am_mutex *m)
{
  refuse_no_mutex(call, m);
  if (WTL_UNLIKELY(atomic_load_explicit(&m->owner, memory_order_relaxed) != this_thread()))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this thread does not hold the mutex at %p%s", wtl_here(call), (void *)m, where());
  if (WTL_UNLIKELY(self->settings.am_debug.on)) wtl_am_order_unlocks(self, m);
  wtl_am_here.locks--;
  atomic_store_explicit(&m->owner, 0, memory_order_seq_cst);
  if (WTL_UNLIKELY(atomic_load_explicit(&m->waiters, memory_order_seq_cst) > 0) &&
      wtl_bell_has_sleeper(self->door.bell))
    wtl_bell_ring_control(self->door.bell);
  /* Handlers that this thread left alone because of the mutex. */
  if (!wtl_am_here.locks && !wtl_am_here.runs) wtl_am_take_if_any(self->am);
}

static bool is_ready_or_late(void *arg)
{
  waiting *w = arg;
  if (w->ready(w->arg)) return true;
  if (is_to_be_told(w, &w->am->told_of_locks))
    wtl_say("active messages: a request, or a wait for its handler, has waited for %.3g s in a thread that holds %d "
            "mutex%s; if a handler of this PE wants one, this has no end: unlock before such calls",
            w->patience_s, wtl_am_here.locks, wtl_am_here.locks > 1 ? "es" : "");
  return false;
}

void wtl_am_wait(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *arg)
{
  if (WTL_LIKELY(!wtl_am_here.locks)) {
    wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, ready, arg);
    return;
  }
  waiting w = wait_for(self, ready, arg);
  wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, is_ready_or_late, &w);
}
