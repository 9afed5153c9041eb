/* node_memory.h - the memory that the PEs of each node share, in one mapping for all nodes. */
#pragma once

#include <cstddef>

namespace sim {

/* wtl_sim_node_memory, for a job of `nodes` nodes, at a multiple of `align`. */
void *node_memory(size_t bytes, size_t align, size_t nodes, int *file, size_t *place);

} // namespace sim
