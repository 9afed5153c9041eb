/*
 * rma.h - put, get, atomic operations and signals on symmetric memory of any PE.
 *
 * DESIGN. A wtl_op describes an operation: the PE that makes it, the call site, the context, the target PE and how the
 * operation completes. The functions here take it and decide between near and far in one place:
 *
 *   near   The target is a PE of this node. The operation is address arithmetic, a copy or an atomic instruction, and
 *          the target's doorbell (near.h). It is inlined, and always complete on return.
 *   far    The target is a PE of another node. One call out of line (far.h) sends messages.
 *
 * The description is passed by value, so that a near operation keeps it in registers. Only the call to far.h stores it.
 *
 * Completion. A far operation is in one of three states on return. The fields `nbi` and `left` choose:
 *
 *   neither       Complete on this side: the source may be reused, the result is there. A put may still be on its way.
 *   nbi           Pending. It completes with the next quiet of its context. Small ones share messages.
 *   left          Pending. *left is increased, and decreased when the operation is complete on this side. wtl_far_wait
 *                 waits for 0. With `nbi` as well, small ones share messages.
 */
#ifndef WTL_PGAS_RMA_H
#define WTL_PGAS_RMA_H

#include "base/amo.h"
#include "pgas/far.h"
#include "pgas/near.h"
#include "pgas/op.h"

/*
 * The description in memory, for the far call. It is made member by member, or GCC would copy it on the near path, too.
 */
#define WTL_STORED(op) (&(wtl_op){(op).self, (op).flow, (op).site, (op).left, (op).pe, (op).memory, (op).nbi})

/* Stores `n` bytes to the symmetric `dest`. */
static inline __attribute__((always_inline)) void wtl_put(wtl_op op, void *dest, const void *source, size_t n)
{
  char *to = wtl_remote(op.self, dest, op.pe);
  if (WTL_LIKELY(to != NULL)) {
    wtl_near_put(op.self, to, source, n, op.pe);
  } else {
    wtl_far_put(WTL_STORED(op), dest, source, n);
  }
}

/* Loads `n` bytes of `source`, which is symmetric or a constant of the program. */
static inline __attribute__((always_inline)) void wtl_get(wtl_op op, void *dest, const void *source, size_t n)
{
  const char *from = wtl_remote_source(op.self, source, op.pe);
  if (WTL_LIKELY(from != NULL)) {
    wtl_os_near_access(n);
    wtl_load_bytes(dest, from, n);
  } else {
    wtl_far_get(WTL_STORED(op), dest, source, n);
  }
}

/* An atomic operation on an aligned word of symmetric or global memory. The old value goes to `result`, which has the
 * word's size; NULL: it is not needed. */
static inline __attribute__((always_inline)) void wtl_amo(wtl_op op, void *dest, wtl_atomic a, void *result)
{
  char *to = op.memory == WTL_GLOBAL ? wtl_near_global(op.self, dest, op.pe) : wtl_remote(op.self, dest, op.pe);
  if (WTL_LIKELY(to != NULL)) {
    wtl_near_amo(&op, to, a, result);
  } else {
    wtl_far_amo(WTL_STORED(op), dest, &(wtl_atomic){a.kind, a.size, a.operand, a.condition}, result);
  }
}

/* Stores `n` bytes, which may be 0, to `dest`, and then the signal. A PE that sees the signal sees the bytes. */
static inline __attribute__((always_inline)) void wtl_put_signal(wtl_op op, void *dest, const void *source, size_t n,
                                                                 wtl_signal signal)
{
  char *word = wtl_remote(op.self, signal.word, op.pe);
  if (WTL_LIKELY(word != NULL)) {
    if (n) wtl_near_put(op.self, wtl_remote(op.self, dest, op.pe), source, n, op.pe);
    wtl_near_signal(&op, word, signal);
  } else {
    wtl_far_put_signal(WTL_STORED(op), dest, source, n, &(wtl_signal){signal.word, signal.value, signal.adds});
  }
}

static inline __attribute__((always_inline)) void wtl_put_blocks(wtl_op op, void *dest, const void *source,
                                                                 wtl_blocks blocks)
{
  char *to = wtl_remote(op.self, dest, op.pe);
  if (WTL_LIKELY(to != NULL)) {
    wtl_near_put_blocks(op.self, op.pe, to, source, blocks);
  } else {
    wtl_far_put_blocks(WTL_STORED(op), dest, source,
                       &(wtl_blocks){blocks.to_step, blocks.from_step, blocks.bytes, blocks.n});
  }
}

static inline __attribute__((always_inline)) void wtl_get_blocks(wtl_op op, void *dest, const void *source,
                                                                 wtl_blocks blocks)
{
  const char *from = wtl_remote_source(op.self, source, op.pe);
  if (WTL_LIKELY(from != NULL)) {
    wtl_near_get_blocks(dest, from, blocks);
  } else {
    wtl_far_get_blocks(WTL_STORED(op), dest, source,
                       &(wtl_blocks){blocks.to_step, blocks.from_step, blocks.bytes, blocks.n});
  }
}

#endif
