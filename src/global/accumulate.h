/*
 * accumulate.h - there[i] += scale * here[i]. Each element is updated atomically with respect to all other accumulates,
 * those of this node's PEs and those served for other nodes.
 *
 * DESIGN
 *
 * Locks make the updates atomic. The memory of each PE has WTL_ACC_LOCKS locks, which spans of WTL_ACC_SPAN bytes use
 * in rotation. So PEs that accumulate to different parts rarely need the same lock. A PE that holds a lock only
 * computes. Blocks of a patch that lie in one span are computed under one hold of the lock.
 *
 * A product is rounded before it is added, as if it had been computed separately. So all compilers and processors give
 * the same bits.
 */
#ifndef WTL_GLOBAL_ACCUMULATE_H
#define WTL_GLOBAL_ACCUMULATE_H

#include "pgas/pe.h"
#include "global/strides.h"

enum { WTL_ACC_LOCKS = 64, WTL_ACC_SPAN = 65536 };

/* In the order of ARMCI_ACC_*. */
enum wtl_acc_type { WTL_ACC_INT, WTL_ACC_LONG, WTL_ACC_FLOAT, WTL_ACC_DOUBLE, WTL_ACC_FCOMPLEX, WTL_ACC_DCOMPLEX };
enum { WTL_ACC_TYPES = 6, WTL_ACC_MOST_BYTES = 16 };

static inline size_t wtl_acc_bytes(enum wtl_acc_type type)
{
  static const unsigned char bytes[WTL_ACC_TYPES] = {sizeof(int), sizeof(long), 4, 8, 8, 16};
  return bytes[type];
}

/* Bytes of the locks of one PE, which lie in an arena and begin as zeros. */
size_t wtl_acc_locks_bytes(void);

/* Whether a scale of that type is 1. It may have any alignment. */
bool wtl_acc_is_one(enum wtl_acc_type type, const void *scale);

/*
 * A series of accumulates to the memory of one PE of this node, at addresses of this process. `scale` points to an
 * element of the type, which must not change during the series. wtl_acc_end must follow.
 */
typedef struct wtl_acc {
  wtl_pe *self;
  wtl_site *site;
  char *locks;
  _Atomic uint32_t *held;
  const void *scale; /* NULL: 1 */
  enum wtl_acc_type type;
} wtl_acc;

void wtl_acc_begin(wtl_acc *a, wtl_pe *self, wtl_site *site, enum wtl_acc_type type, const void *scale, int slot);

/* Accumulates `n` bytes, whole elements. */
void wtl_acc_add(wtl_acc *a, char *there, const char *here, size_t n);

void wtl_acc_end(wtl_acc *a);

#endif
