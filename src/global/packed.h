/*
 * packed.h - moves patches and lists of blocks to and from PEs of other nodes, and accumulates them. Blocks are packed
 * into few messages. At the target any thread that runs handlers serves them, mostly the progress agent.
 *
 * DESIGN
 *
 * A message is shorter than WTL_NET_LARGE, so packed messages of one PE to another are served in their order. Blocks
 * that are too long to gain from packing move by plain puts and gets. Accumulates of long blocks are sent in pieces.
 *
 * A request is checked before memory is accessed. A message that names a place outside this PE's global memory ends the
 * job.
 */
#ifndef WTL_GLOBAL_PACKED_H
#define WTL_GLOBAL_PACKED_H

#include "global/global.h"

void wtl_packed_start(wtl_pe *self);

/* As wtl_global_move and wtl_global_move_list, with op->request set. They copy the data to send before they return,
 * except for long blocks. */
void wtl_packed_patch(const wtl_global_op *op, const wtl_strides *s, char *here, char *there);
void wtl_packed_list(const wtl_global_op *op, const wtl_block_list *l);

#endif
