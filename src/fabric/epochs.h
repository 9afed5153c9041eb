/*
 * epochs.h - "everything so far": operations belong to the epoch in which they began; who waits for all that began
 * before now waits for this epoch and the earlier ones to drain, while later operations go to the next. So nobody waits
 * for what begins after him, however busy other threads are.
 *
 * At most two epochs are open: one that takes operations and one that drains. The caller holds a lock, but for
 * wtl_epoch_is_over.
 */
#ifndef WTL_FABRIC_EPOCHS_H
#define WTL_FABRIC_EPOCHS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct wtl_epochs {
  _Atomic uint64_t drained; /* epochs below this one are over */
  uint64_t now, wanted;     /* the one that takes operations; epochs below `wanted` are waited for */
  uint64_t left[2];         /* operations of the even and the odd epoch */
} wtl_epochs;

/* An operation begins: returns what to end it with. */
unsigned wtl_epoch_begin(wtl_epochs *e);

/* It ended. True if a wait may be over. */
bool wtl_epoch_end(wtl_epochs *e, unsigned begun_in);

/* A ticket for all that began before. */
uint64_t wtl_epoch_wait(wtl_epochs *e);
bool wtl_epoch_is_over(const wtl_epochs *e, uint64_t ticket);

#endif
