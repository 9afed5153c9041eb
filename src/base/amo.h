/*
 * amo.h - describes an atomic memory operation on a word of 4 or 8 bytes and executes it.
 *
 * The processor of a PE executes all AMOs, those of other nodes too. So PEs of one node and of others see one order.
 */
#ifndef WTL_BASE_AMO_H
#define WTL_BASE_AMO_H

#include <stdbool.h>
#include <stdint.h>

enum wtl_amo_kind {
  WTL_AMO_FETCH,
  WTL_AMO_SET,
  WTL_AMO_SWAP,
  WTL_AMO_CSWAP,
  WTL_AMO_ADD,
  WTL_AMO_AND,
  WTL_AMO_OR,
  WTL_AMO_XOR
};

/* Messages carry it unchanged (fabric/wire.h), so the kind of a received one may be none of the above. */
typedef struct wtl_atomic {
  uint32_t kind; /* enum wtl_amo_kind */
  uint32_t size; /* of the word in bytes: 4 or 8 */
  uint64_t operand;
  uint64_t condition; /* WTL_AMO_CSWAP alone */
} wtl_atomic;

_Static_assert(sizeof(wtl_atomic) == 24, "messages carry it without padding");

/* Executes `a` on the aligned word at `at`. Returns the old value. */
static inline __attribute__((always_inline)) uint64_t wtl_atomic_execute(void *at, wtl_atomic a)
{
#define EXECUTE(T)                                                                                                     \
  {                                                                                                                    \
    T *word = (T *)at, v = (T)a.operand, c = (T)a.condition;                                                           \
    switch (a.kind) {                                                                                                  \
    case WTL_AMO_FETCH: return __atomic_load_n(word, __ATOMIC_SEQ_CST);                                                \
    case WTL_AMO_SET:                                                                                                  \
    case WTL_AMO_SWAP: return __atomic_exchange_n(word, v, __ATOMIC_SEQ_CST);                                          \
    case WTL_AMO_CSWAP: __atomic_compare_exchange_n(word, &c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return c; \
    case WTL_AMO_ADD: return __atomic_fetch_add(word, v, __ATOMIC_SEQ_CST);                                            \
    case WTL_AMO_AND: return __atomic_fetch_and(word, v, __ATOMIC_SEQ_CST);                                            \
    case WTL_AMO_OR: return __atomic_fetch_or(word, v, __ATOMIC_SEQ_CST);                                              \
    default: return __atomic_fetch_xor(word, v, __ATOMIC_SEQ_CST);                                                     \
    }                                                                                                                  \
  }
  if (a.size == sizeof(uint32_t)) EXECUTE(uint32_t)
  EXECUTE(uint64_t)
#undef EXECUTE
}

#endif
