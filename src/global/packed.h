/*
 * packed.h - patches and lists of blocks to and from the memory of PEs of other nodes, and accumulates: packed into few
 * messages, and served there by any thread that runs handlers, mostly the network's agent.
 *
 * A message is shorter than WTL_NET_LARGE, so that packed messages of one PE to another are served in their order.
 * Blocks too long to gain from packing travel as plain puts and gets; accumulates of long blocks in pieces.
 *
 * What arrives is checked before memory is touched: a message that names a place outside of this PE's global memory
 * ends the job.
 */
#ifndef WTL_GLOBAL_PACKED_H
#define WTL_GLOBAL_PACKED_H

#include "global/global.h"

void wtl_packed_start(wtl_pe *self);

/* As wtl_global_move and _move_list, with op->request set. What is sent is copied before they return, except for long
 * blocks. */
void wtl_packed_patch(const wtl_global_op *op, const wtl_strides *s, char *here, char *there);
void wtl_packed_list(const wtl_global_op *op, const wtl_block_list *l);

#endif
