/*
 * accumulate.h - there[i] += scale * here[i], atomic for each element against all other accumulates, of this node's PEs
 * and of those that are served for other nodes.
 *
 * Atomic by locks: each PE's memory has WTL_ACC_LOCKS of them, one for each WTL_ACC_SPAN bytes by turns, so that PEs
 * that accumulate to different parts do not meet. Who holds one only computes. Blocks of a patch that lie in one span
 * are done under one hold.
 *
 * A product is rounded before it is added, as if it had been computed apart: all compilers and processors give the same
 * bits.
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

/* Of one PE, in an arena, zeroed. */
size_t wtl_acc_locks_bytes(void);

/* Is a scale of that type 1? Any alignment. */
bool wtl_acc_is_one(enum wtl_acc_type type, const void *scale);

/*
 * A series of accumulates to the memory of one PE of this node, at addresses of this process. `scale`: an element of
 * the type; it must stay. wtl_acc_end must follow.
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

/* `n` bytes, whole elements. */
void wtl_acc_add(wtl_acc *a, char *there, const char *here, size_t n);

void wtl_acc_end(wtl_acc *a);

#endif
