/*
 * node_split.h - divides the joules of a node among the processes of a job, other programs, and the idle node.
 *
 * DESIGN. A sensor sees all programs of its node. So the CPU time of all programs, less that of the job's processes, is
 * an activity of its own: it computes, at the base clock. The meter then divides as among processes. The model counts
 * only the job, so its joules have no others. The kernel counts CPU time in ticks of some milliseconds. Less than two
 * ticks for each CPU are taken for none. Bytes that other programs move are not known, so all memory joules beyond idle
 * are the job's.
 */
#ifndef WTL_RECORD_NODE_SPLIT_H
#define WTL_RECORD_NODE_SPLIT_H

#include "record/record.h"

/*
 * Ends the interval of the meter and divides the node's joules. `all`: the activity of each of the n processes of this
 * node, whose wake_s and second_s are filled. part[i*domains+d]: the joules of process i; space for n*WTL_MAX_DOMAINS.
 * Returns the number of domains; 0 if there is no memory. To be called by the process that reads the meter.
 */
size_t wtl_record_split_node(const wtl_record *r, wtl_activity *all, size_t n, wtl_node_joules *node,
                             wattle_joules_t *part);

#endif
