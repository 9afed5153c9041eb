/*
 * transfers.h - how one-sided transfers to other nodes are waited for, and at which clock: the protocol of Vishnu et
 * al., "Designing energy efficient communication runtime systems for data centric programming models" (2010), section
 * IV.
 *
 *   aware   below a threshold (thresholds.h) a transfer is waited for by polling, at the clock as it is; from it on
 *           asleep, and at the lowest clock where one can be set and the wait is known to be worth two changes, or not
 *           known at all
 *   scale   the clock is lowered for every transfer; how it is waited for is WATTLE_WAIT's
 *
 * When the clock goes down: for a large contiguous block at the request, because the network takes it from where it
 * lies; for a small one when it is posted, for its sender copies it; for what is not contiguous when it is posted,
 * because it is packed first. Blocking calls wait at once, those that do not block in the call that waits for them. The
 * clock goes up when what was waited for is there.
 *
 * The data server is the network's agent. While the PE's own thread has lowered the clock, it runs at the normal one
 * from when a message has come until it blocks or polls again. Where the thread computes, the clock is up anyway.
 *
 * One thread makes transfers: a PE of several (SHMEM_THREAD_MULTIPLE) has none of this. The server is another thread.
 */
#ifndef WTL_GOVERN_TRANSFERS_H
#define WTL_GOVERN_TRANSFERS_H

#include <stdatomic.h>
#include <stdio.h>

#include "govern/governor.h"
#include "govern/thresholds.h"

/* What was put to other nodes and not been fenced yet. */
typedef struct wtl_unfenced {
  enum wtl_transfer_kind kind; /* of most of it */
  uint64_t bytes;
  uint32_t transfers;
  wtl_choice how;    /* of a single one, */
  double ns, cpu_ns; /* ... and what it has cost so far */
} wtl_unfenced;

typedef struct wtl_transfers {
  enum wtl_transfers_mode mode;
  wtl_governor *governor; /* NULL: no clock is changed */
  wtl_thresholds thresholds;
  wtl_unfenced unfenced;
  double (*cpu_clock)(void);      /* ns of this process on cores; tests have their own */
  uint64_t polled, slept, scaled; /* transfers, for the profile */
} wtl_transfers;

/* One transfer that is under way, on the stack of the call. */
typedef struct wtl_transfer {
  enum wtl_transfer_kind kind;
  uint64_t bytes;
  wtl_choice how;
  enum wtl_way way; /* for the site of the call, until it is done */
  bool scales, fenced_later;
  double ns, cpu_ns; /* when it began; where it is measured */
} wtl_transfer;

/* Takes mode and thresholds from the settings, which must be good. `governor`: NULL for none; `wake_s`: what a sleep
 * and a wake-up are taken to cost. */
void wtl_transfers_start(wtl_transfers *t, const wtl_settings *settings, wtl_governor *governor, double wake_s);

/* A transfer is requested. `at_once`: the network needs no CPU to take it. `fenced_later`: the call may return before
 * the other side has it, which a fence waits for. */
void wtl_transfer_request(wtl_transfers *t, wtl_transfer *x, enum wtl_transfer_kind kind, uint64_t bytes, bool at_once,
                          bool fenced_later);

/* All of it is with the network, and is waited for from now on. */
void wtl_transfer_posted(wtl_transfers *t, wtl_transfer *x);

/* The wait is over. */
void wtl_transfer_done(wtl_transfers *t, wtl_transfer *x);

/* One that does not block was posted: a fence will wait for it. */
void wtl_transfer_left(wtl_transfers *t, enum wtl_transfer_kind kind, uint64_t bytes);

/* A call waits for `bytes` that were posted before by calls that did not block. wtl_transfer_done ends it. */
void wtl_transfer_await(wtl_transfers *t, wtl_transfer *x, enum wtl_transfer_kind kind, uint64_t bytes);

/* A fence begins to wait for all that was not fenced; wtl_transfer_fenced ends that. False: there is nothing. */
bool wtl_transfer_fence(wtl_transfers *t, wtl_transfer *x);
void wtl_transfer_fenced(wtl_transfers *t, wtl_transfer *x);

/* The server has a message (true), or will block or poll. From its own thread, `transfers`: a wtl_transfers with a
 * governor. */
void wtl_transfers_serve(void *transfers, bool serves);

/* What the profile says: a JSON object. */
void wtl_transfers_write(FILE *f, const void *transfers);

#endif
