/* am_mutex.c - locks and unlocks a mutex, waits for one through the door, and runs the handlers that waited for its
 * release. */
#include "am/am_mutex.h"

#include <stdatomic.h>

#include "am/am_order.h"
#include "am/am_run.h"
#include "am/am_state.h"
#include "am/am_wait.h"
#include "base/error.h"
#include "os/os.h"
#include "profile/error_place.h"

/* Values of `state`. MADE and DESTROYED are arbitrary numbers, which memory that was never a mutex hardly holds. */
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
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: the mutex at %p was destroyed%s", wtl_error_place(call), (const void *)m, where());
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: there is no mutex at %p%s; use shmemx_am_mutex_init or zeroed memory, and let nothing else write "
              "there",
              wtl_error_place(call), (const void *)m, where());
}

static void refuse_second(const char *call, const wtl_am_mutex *m)
{
  if (WTL_UNLIKELY(atomic_load_explicit(&m->owner, memory_order_relaxed) == this_thread()))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this thread already holds the mutex at %p%s", wtl_error_place(call),
                (const void *)m, where());
}

/* Memory that was not a mutex may hold any value. It holds the identity of this thread only if this thread has the
 * mutex. */
void wtl_am_mutex_init(wtl_pe *self, const char *call, wtl_am_mutex *m)
{
  if (WTL_UNLIKELY(wtl_am_here.locks)) refuse_second(call, m);
  if (WTL_UNLIKELY(self->settings.am_debug.on)) wtl_am_order_forget(self, m); /* another mutex may have been here */
  atomic_store_explicit(&m->owner, 0, memory_order_relaxed);
  atomic_store_explicit(&m->waiters, 0, memory_order_relaxed);
  m->state = MADE;
}

void wtl_am_mutex_destroy(const char *call, wtl_am_mutex *m)
{
  refuse_no_mutex(call, m);
  if (atomic_load_explicit(&m->owner, memory_order_relaxed))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: the mutex at %p is held%s", wtl_error_place(call), (void *)m, where());
  m->state = DESTROYED;
}

/* `waits`: the thread waits for the mutex if it is not free. */
static bool try_lock(wtl_pe *self, wtl_am_mutex *m, bool waits)
{
  uintptr_t unowned = 0;
  if (!atomic_compare_exchange_strong_explicit(&m->owner, &unowned, this_thread(), memory_order_acquire,
                                               memory_order_relaxed))
    return false;
  wtl_am_here.locks++;
  if (WTL_UNLIKELY(self->settings.am_debug.on)) {
    wtl_am_order_locked(self, m, waits);
    m->since = wtl_clock_ns();
  }
  return true;
}

static bool is_free(void *m)
{
  return atomic_load_explicit(&((wtl_am_mutex *)m)->owner, memory_order_acquire) == 0;
}

void wtl_am_mutex_lock(wtl_pe *self, wtl_site *site, const char *call, wtl_am_mutex *m)
{
  refuse_no_mutex(call, m);
  refuse_second(call, m);
  if (WTL_LIKELY(try_lock(self, m, true))) return;
  do {
    atomic_fetch_add_explicit(&m->waiters, 1, memory_order_seq_cst);
    wtl_am_wait_for_mutex(self, site, is_free, m);
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
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this thread does not hold the mutex at %p%s", wtl_error_place(call), (void *)m,
                where());
  if (WTL_UNLIKELY(self->settings.am_debug.on)) wtl_am_order_unlocks(self, m, wtl_clock_ns() - m->since);
  wtl_am_here.locks--;
  atomic_store_explicit(&m->owner, 0, memory_order_seq_cst);
  if (WTL_UNLIKELY(atomic_load_explicit(&m->waiters, memory_order_seq_cst) > 0) &&
      wtl_bell_has_sleeper(self->door.bell))
    wtl_bell_ring_control(self->door.bell);
  /* Run the handlers that had to wait for the release. */
  if (!wtl_am_here.locks && !wtl_am_here.runs) wtl_am_take_if_any(self->am);
}
