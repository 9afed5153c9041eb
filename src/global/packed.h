/*
 * packed.h - patches and lists of blocks to and from the memory of PEs of other nodes, and accumulates: packed into few
 * messages, and served there by whoever runs handlers, mostly the network's agent.
 *
 * A message is shorter than WTL_NET_LARGE, so that packed messages of one PE to another are served in their order.
 * Blocks too long to gain from packing travel as plain puts and gets; accumulates of long blocks in pieces.
 *
 * What arrives is checked before memory is touched: a message that names a place outside of this PE's global memory
 * ends the job.
 */
#ifndef WTL_GLOBAL_PACKED_H
#define WTL_GLOBAL_PACKED_H

#include "global/accumulate.h"
#include "global/global.h"
#include "global/strides.h"

void wtl_packed_start(wtl_pe *self);

enum wtl_packed_op { WTL_PACKED_PUT, WTL_PACKED_ACC, WTL_PACKED_GET };

/* What is done with the blocks; `type` and `scale` for accumulates. */
typedef struct wtl_packed {
  enum wtl_packed_op op;
  enum wtl_acc_type type;
  const void *scale;
  int pe;
  bool blocking;
} wtl_packed;

/* `here` and `there`: block 0 in this PE's own memory and in that of how->pe. `r` as in global.h; what is sent is taken
 * along before this returns, but for long blocks. */
void wtl_packed_patch(wtl_pe *self, wtl_site *site, const wtl_packed *how, const wtl_strides *s, char *here,
                      char *there, wtl_request *r);

/* `n` blocks of `block` bytes each; the lists may be reused on return. */
void wtl_packed_list(wtl_pe *self, wtl_site *site, const wtl_packed *how, size_t n, size_t block, char *const *here,
                     char *const *there, wtl_request *r);

#endif
