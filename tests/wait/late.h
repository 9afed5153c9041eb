/*
 * late.h - for programs in which PE 0 comes late to every call: it makes its part of the call only once PE 1 is seen to
 * wait in it. How that is seen does not depend on how fast the machine is: by PE 1's thread being asleep, or by its
 * having used CPU time. late_calls.py then looks for each call in PE 1's profile, by stage.
 */
#ifndef WTL_TESTS_LATE_H
#define WTL_TESTS_LATE_H

#include <shmem.h>
#include <unistd.h>

#include "pes.h"

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

/* State letter and CPU ticks of a thread, from /proc; false if it cannot be read. */
static inline bool look_at(const long thread[2], char *state, long *ticks)
{
  char path[64], text[512], *after;
  unsigned long user, system;
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", thread[0], thread[1]);
  FILE *f = fopen(path, "re");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f) fclose(f);
  text[n] = '\0';
  after = strrchr(text, ')');
  if (!after || sscanf(after + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", state, &user, &system) != 3)
    return false;
  *ticks = (long)(user + system);
  return true;
}

/* Returns once PE 1 waits in the call it announced. Two looks, as a thread may sleep for a moment for another
 * reason. */
static inline void await_waiting(watcher *w)
{
  char state = '?';
  long first = 0, now = 0;
  int asleep = 0;
  while (__atomic_load_n(&w->there->entering, __ATOMIC_ACQUIRE) < w->step) sched_yield();
  if (!look_at(w->there->thread, &state, &first)) return;
  for (;;) {
    usleep(500);
    if (!look_at(w->there->thread, &state, &now)) return;
    asleep = state == 'S' ? asleep + 1 : 0;
    if (strcmp(w->look, "busy") != 0 && asleep >= 2) return;
    if (strcmp(w->look, "asleep") != 0 && now >= first + 2) return;
  }
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
