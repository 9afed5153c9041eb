/*
 * live.h - where a process waits now, for whoever asks from outside: one page of shared memory without a name, which
 * `wattle top` finds among the process's open files, and which a SIGQUIT makes the process tell. Its size is sealed.
 *
 * Only waits that have lasted a moment are told (the door sees to that), so that short ones do not pay for it. Of
 * threads that wait at the same time one is told. A reader takes what it finds if `turn` is even and the same before
 * and after.
 */
#ifndef WTL_WAIT_LIVE_H
#define WTL_WAIT_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

enum { WTL_LIVE_CALL = 48, WTL_LIVE_BYTES = 4096 };

/* The page. python/wattle/top/page.py knows this layout. */
typedef struct wtl_live {
  char mark[8]; /* "WTLLIVE1" */
  int64_t pid;
  int32_t pe, n_pes;
  _Atomic uint32_t turn;
  _Atomic uint32_t taken; /* by the thread whose wait is told */
  uint64_t base, end;     /* where the program's own file lies */
  uint64_t since_ns;      /* CLOCK_MONOTONIC: when this began, wait or not */
  uint64_t addr;          /* of the site; 0: it does not wait */
  uint64_t stage_ns[3];   /* what it has waited so far, up to then: spin, yield, asleep */
  char call[WTL_LIVE_CALL];
} wtl_live;

/* Makes the page; NULL without memory, and where the process has several PEs (threads, a simulation). The process has
 * one. */
wtl_live *wtl_live_start(int pe, int n_pes);
void wtl_live_stop(wtl_live *l);

/* A wait that has lasted a moment; false: another thread's is told. */
bool wtl_live_enter(wtl_live *l, const char *call, const wtl_site *site, const uint64_t stage_ns[3]);
void wtl_live_leave(wtl_live *l);

#endif
