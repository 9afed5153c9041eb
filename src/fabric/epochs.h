/*
 * epochs.h - waits for all operations that began before a moment, and for no later ones.
 *
 * An operation belongs to the epoch in which it begins. A wait closes the current epoch and ends when this epoch and
 * the earlier ones have drained. Later operations belong to the next epoch, so the wait ends however busy other threads
 * are.
 *
 * At most two epochs are open: one takes operations and one drains. The caller holds a lock, except for
 * wtl_epoch_is_over.
 */
#ifndef WTL_FABRIC_EPOCHS_H
#define WTL_FABRIC_EPOCHS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct wtl_epochs {
  _Atomic uint64_t drained; /* the epochs below this one are over */
  uint64_t now, wanted;     /* `now` takes operations; a wait needs the epochs below `wanted` */
  uint64_t left[2];         /* pending operations of the even and the odd epoch */
} wtl_epochs;

/* Begins an operation. Returns the argument for wtl_epoch_end. */
unsigned wtl_epoch_begin(wtl_epochs *e);

/* Ends it. True: a wait may be over. */
bool wtl_epoch_end(wtl_epochs *e, unsigned begun_in);

/* Returns a ticket for all operations that have begun. The wait is over when wtl_epoch_is_over. */
uint64_t wtl_epoch_wait(wtl_epochs *e);
bool wtl_epoch_is_over(const wtl_epochs *e, uint64_t ticket);

#endif
