/* wait_time.h - records the time of a wait, for door.c and wait_by_test.c. */
#ifndef WTL_WAIT_WAIT_TIME_H
#define WTL_WAIT_WAIT_TIME_H

#include "govern/governor.h"
#include "wait/door.h"

/* Returns the stage of a wait that polls. */
static inline enum wtl_stage wtl_door_polling_stage(const wtl_door *d)
{
  return d->stages.yields ? WTL_STAGE_YIELD : WTL_STAGE_SPIN;
}

/* Returns whether a handler waits in a thread of the runtime. The program does not wait meanwhile. */
static inline bool wtl_door_is_in_agent(void)
{
  return wtl_thread_sites.generation == WTL_IN_AGENTS_HANDLER;
}

/* Keeps the long wait in progress for readers of the profile's file. */
static inline void wtl_door_keep_wait(wtl_door *d, const wtl_site *site)
{
  wtl_kept_waits *k = d->kept;
  if (!k) return;
  atomic_store_explicit(&k->call, site->call, memory_order_relaxed);
  atomic_store_explicit(&k->since_ns, wtl_clock_ns(), memory_order_relaxed);
  atomic_store_explicit(&k->addr, site->addr ? site->addr : 1, memory_order_release);
}

/* Keeps that the thread sleeps from now on, and the rarer counts. */
static inline void wtl_door_keep_sleep(wtl_door *d)
{
  wtl_kept_waits *k = d->kept;
  if (!k) return;
  atomic_store_explicit(&k->sleeps, atomic_load_explicit(&d->sleeps, memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(&k->rescues, atomic_load_explicit(&d->rescues, memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(&k->rings, atomic_load_explicit(&d->rings, memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(&k->asleep, 1, memory_order_relaxed);
}

/* Reads the time without a core in a long wait that began `ticks` ago, or at its end, and keeps it for readers. */
static inline void wtl_door_note_no_core(wtl_door *d, uint64_t ticks, bool is_over)
{
  wtl_kept_waits *k = d->kept;
  if (!wtl_no_core_note_wait(&d->no_core, ticks) || !k) return;
  atomic_store_explicit(&k->no_core_ns, wtl_no_core_last_outside_waits(&d->no_core), memory_order_relaxed);
  atomic_store_explicit(&k->no_core_in_waits_ns, d->no_core.in_waits, memory_order_relaxed);
  atomic_store_explicit(&k->no_core_waits, !is_over, memory_order_relaxed);
  atomic_store_explicit(&k->no_core_tick, wtl_ticks(), memory_order_relaxed);
}

/* Adds the time of a stage that ended at tick `now` to the site and to the PE. */
static inline void wtl_door_add(wtl_door *d, wtl_site *site, enum wtl_stage stage, uint64_t spent, uint64_t now)
{
  _Atomic uint64_t *all = &d->ticks[stage];
  wtl_site_add_wait(site, stage, spent, d->waited_shift);
  if (d->is_shared)
    atomic_fetch_add_explicit(all, spent, memory_order_relaxed);
  else /* no atomic add here: it would delay the thread whose wait has just ended */
    atomic_store_explicit(all, atomic_load_explicit(all, memory_order_relaxed) + spent, memory_order_relaxed);
  if (!d->kept) return;
  atomic_store_explicit(&d->kept->ticks[stage], atomic_load_explicit(all, memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(&d->kept->last_tick, now, memory_order_relaxed);
  atomic_store_explicit(&d->kept->asleep, 0, memory_order_relaxed);
}

/* Ends a stage that began at tick *since, and begins the next. Its time goes to the site and the timeline. The time
 * of a wait of the program also goes to the PE and the governor. */
static inline void wtl_door_record(wtl_door *d, wtl_site *site, enum wtl_stage stage, uint64_t *since)
{
  uint64_t began = *since, now = wtl_ticks(), spent = now - began;
  if (WTL_UNLIKELY(d->noted != NULL)) wtl_profile_note(d->noted, (enum wtl_span)stage, began, now, site);
  *since = now;
  if (WTL_UNLIKELY(wtl_door_is_in_agent())) {
    wtl_site_add_wait(site, stage, spent, d->waited_shift);
    return;
  }
  wtl_door_add(d, site, stage, spent, now);
  if (WTL_UNLIKELY(d->governor != NULL)) wtl_governor_record(d->governor, stage, began, now);
}

#endif
