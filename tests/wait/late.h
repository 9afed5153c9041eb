/*
 * late.h - for programs in which PE 0 comes late to every call: it makes its part of the call only once PE 1 is seen to
 * wait in it (waiting_thread.h). late_calls.py then looks for each call in PE 1's profile, by stage.
 */
#ifndef WTL_TESTS_LATE_H
#define WTL_TESTS_LATE_H

#include <shmem.h>
#include <unistd.h>

#include "pes.h"
#include "wait/waiting_thread.h"

/* Symmetric. */
typedef struct lateness {
  long entering;  /* on PE 0: the step PE 1 is about to make */
  long thread[2]; /* on PE 0: PE 1's process and thread */
} lateness;

typedef struct watcher {
  lateness *there;
  int me;
  const char *look; /* how a waiting PE looks: asleep, busy, or either */
  long step;
} watcher;

/* Returns once PE 1 waits in the call it announced. */
static inline void await_waiting(watcher *w)
{
  while (__atomic_load_n(&w->there->entering, __ATOMIC_ACQUIRE) < w->step) sched_yield();
  await_waiting_thread(w->there->thread, w->look);
}

/* PE 1 publishes its next step, and PE 0 waits until PE 1 does it. No other PE takes part. */
static inline void come_late(watcher *w)
{
  w->step++;
  if (w->me == 1) shmem_long_p(&w->there->entering, w->step, 0);
  if (w->me == 0) await_waiting(w);
}

/* Collective. */
static inline void watch(watcher *w, const char *look)
{
  *w = (watcher){shmem_calloc(1, sizeof *w->there), shmem_my_pe(), look, 0};
  if (w->me == 1) {
    long thread[2] = {getpid(), gettid()};
    shmem_long_put(w->there->thread, thread, 2, 0);
  }
  shmem_sync_all();
}

#endif
