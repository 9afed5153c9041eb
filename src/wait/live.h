/*
 * live.h - shows from outside where a process waits now. It is one page of shared memory without a name, of sealed
 * size. `wattle top` finds it among the open files of the process. On SIGQUIT, the process prints it.
 *
 * The wait door shows only long waits, so that short ones do not pay for it. If several threads wait at the same time,
 * the page shows one of them. A reader accepts what it read if `turn` is even and the same before and after.
 */
#ifndef WTL_WAIT_LIVE_H
#define WTL_WAIT_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

enum { WTL_LIVE_CALL = 48, WTL_LIVE_BYTES = 4096 };

/* The page. python/wattle/top/page.py reads this layout. */
typedef struct wtl_live {
  char mark[8]; /* "WTLLIVE1" */
  int64_t pid;
  int32_t pe, n_pes;
  _Atomic uint32_t turn;
  _Atomic uint32_t taken; /* 1: a thread shows its wait */
  uint64_t base, end;     /* the addresses of the executable */
  uint64_t since_ns;      /* CLOCK_MONOTONIC: when the wait, or the time without one, began */
  uint64_t addr;          /* address of the site; 0: no wait */
  uint64_t stage_ns[3];   /* time of all waits before `since_ns`: spin, yield, asleep */
  char call[WTL_LIVE_CALL];
} wtl_live;

/* Makes the page, one for each process. Returns NULL without memory, and where a process has several PEs (threads,
 * simulation). */
wtl_live *wtl_live_start(int pe, int n_pes);
void wtl_live_stop(wtl_live *l);

/* Shows a wait. Returns false if the page shows the wait of another thread. */
bool wtl_live_enter(wtl_live *l, const char *call, const wtl_site *site, const uint64_t stage_ns[3]);
void wtl_live_leave(wtl_live *l);

#endif
