/* op.h - the description of a one-sided operation: initiator, target, memory, completion. rma.h has the operations. */
#ifndef WTL_PGAS_OP_H
#define WTL_PGAS_OP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wtl_pe;
struct wtl_site;
struct wtl_net_flow;

/* The kind of memory in which an address lies. */
enum wtl_memory {
  WTL_SYMMETRIC, /* heap and statics: the address is that of the initiator's own object */
  WTL_GLOBAL     /* global memory (src/global): the address is the target's */
};

/* In this order of the fields GCC stores the struct for a far call by the fewest instructions (tests/pgas/hot_path). */
typedef struct wtl_op {
  struct wtl_pe *self;       /* the initiator */
  struct wtl_net_flow *flow; /* of the context; NULL: the default one */
  struct wtl_site *site;     /* of the call; the time that it waits is recorded there */
  _Atomic uint32_t *left;    /* the network's while it is not 0. "Completion" in rma.h explains it and `nbi` */
  int pe;                    /* the target */
  uint16_t memory;           /* enum wtl_memory */
  uint16_t nbi;              /* a bool */
} wtl_op;

/* The word that is stored behind a put, or increased if `adds`. */
typedef struct wtl_signal {
  uint64_t *word; /* symmetric */
  uint64_t value;
  bool adds;
} wtl_signal;

/* `n` blocks of `bytes` bytes. The next block begins `to_step` bytes later at the destination, `from_step` at the
 * source. */
typedef struct wtl_blocks {
  size_t to_step, from_step, bytes, n;
} wtl_blocks;

#endif
