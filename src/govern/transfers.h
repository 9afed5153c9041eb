/*
 * transfers.h - chooses how a one-sided transfer to another node waits, and at which clock.
 *
 * DESIGN. The protocol is that of Vishnu et al., "Designing energy efficient communication runtime systems for data
 * centric programming models" (2010), section IV.
 *
 *   aware   A transfer below a threshold (thresholds.h) polls at the present clock. A larger one sleeps, at the lowest
 *           clock if one can be set and the wait is worth two changes or of unknown length.
 *   scale   The clock goes down for every transfer, which waits as WATTLE_WAIT says.
 *
 * The clock goes down at the request of a large contiguous block, because the network takes it from its place. For a
 * small block, which the sender copies, and for a block that is packed it goes down once the message is posted. A
 * blocking call then waits. A non-blocking transfer does all this in the call that waits for it. The clock goes up when
 * the wait is over.
 *
 * The data server is the network's agent. While the PE's own thread has lowered the clock, the agent runs at the normal
 * clock from the arrival of a message until it blocks or polls again. While that thread computes, the clock is up
 * anyway.
 *
 * One thread makes transfers, and the agent is another one. A PE with several threads (SHMEM_THREAD_MULTIPLE) has none
 * of this.
 */
#ifndef WTL_GOVERN_TRANSFERS_H
#define WTL_GOVERN_TRANSFERS_H

#include <stdatomic.h>
#include <stdio.h>

#include "govern/governor.h"
#include "govern/thresholds.h"

/* Puts to other nodes that no fence has waited for. */
typedef struct wtl_unfenced {
  enum wtl_transfer_kind kind; /* of the largest */
  uint64_t bytes;
  uint32_t transfers;
  wtl_choice how;    /* of a single transfer ... */
  double ns, cpu_ns; /* ... and its cost so far */
} wtl_unfenced;

typedef struct wtl_transfers {
  enum wtl_transfers_mode mode;
  wtl_governor *governor; /* NULL: no clock is changed */
  wtl_thresholds thresholds;
  wtl_unfenced unfenced;
  double (*cpu_clock)(void);      /* CPU time of this process in ns; tests replace it */
  uint64_t polled, slept, scaled; /* transfers, for the profile */
} wtl_transfers;

/* One transfer under way, on the stack of the call. */
typedef struct wtl_transfer {
  enum wtl_transfer_kind kind;
  uint64_t bytes;
  wtl_choice how;
  enum wtl_way way; /* for the site of the call, until the transfer is done */
  bool scales, fenced_later;
  double ns, cpu_ns; /* when it began, if it is measured */
} wtl_transfer;

/* Takes mode and thresholds from the settings, which must be correct. `governor`: NULL for none. `wake_s`: the assumed
 * cost of a sleep and a wake-up. */
void wtl_transfers_start(wtl_transfers *t, const wtl_settings *settings, wtl_governor *governor, double wake_s);

/* Requests a transfer. `at_once`: the network needs no CPU to take the data. `fenced_later`: the call may return before
 * the data is at the target, and a fence waits for that. */
void wtl_transfer_request(wtl_transfers *t, wtl_transfer *x, enum wtl_transfer_kind kind, uint64_t bytes, bool at_once,
                          bool fenced_later);

/* The network has all of the transfer, and the wait begins. */
void wtl_transfer_posted(wtl_transfers *t, wtl_transfer *x);

/* The wait is over. */
void wtl_transfer_done(wtl_transfers *t, wtl_transfer *x);

/* A non-blocking transfer was posted, for which a fence will wait. */
void wtl_transfer_left(wtl_transfers *t, enum wtl_transfer_kind kind, uint64_t bytes);

/* A call waits for `bytes` of earlier non-blocking transfers. wtl_transfer_done ends it. */
void wtl_transfer_await(wtl_transfers *t, wtl_transfer *x, enum wtl_transfer_kind kind, uint64_t bytes);

/* A fence begins to wait for all transfers since the last one; wtl_transfer_fenced ends that. False: there are none. */
bool wtl_transfer_fence(wtl_transfers *t, wtl_transfer *x);
void wtl_transfer_fenced(wtl_transfers *t, wtl_transfer *x);

/* The server has a message (true), or will block or poll (false). Called from its own thread. `transfers`: a
 * wtl_transfers with a governor. */
void wtl_transfers_serve(void *transfers, bool serves);

/* Writes the profile's JSON object about transfers. */
void wtl_transfers_write(FILE *f, const void *transfers);

#endif
