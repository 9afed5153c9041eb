/*
 * node_split.h - divides the joules of a node among the processes of a job, other programs, and the idle node.
 *
 * DESIGN. A sensor sees all programs of its node. So the CPU time of all programs, less that of the job's processes, is
 * an activity of its own: it computes, at the base clock. The meter then divides as among processes. The model counts
 * only the job, so its joules have no others. The kernel counts CPU time in ticks of some milliseconds. Less than two
 * ticks for each CPU are taken for none. Bytes that other programs move are not known, so all memory joules beyond idle
 * are the job's.
 */
#ifndef WTL_POWER_NODE_SPLIT_H
#define WTL_POWER_NODE_SPLIT_H

#include "power/power.h"

/*
 * The node's joules by domain: the total, the part of the idle node, and that of other programs. others_cpu_s: the CPU
 * time of other programs; 0: none, or not known, and `others` is not set.
 */
typedef struct wtl_node_joules {
  wattle_joules_t total[WTL_MAX_DOMAINS], idle[WTL_MAX_DOMAINS], others[WTL_MAX_DOMAINS];
  double others_cpu_s;
} wtl_node_joules;

/*
 * Ends the interval of the meter and divides the node's joules. start_machine_s: the CPU seconds of all programs of the
 * machine at its begin. `all`: the activity of each of the n processes of this
 * node, whose wake_s and second_s are filled. part[i*domains+d]: the joules of process i; space for n*WTL_MAX_DOMAINS.
 * Returns the number of domains; 0 if there is no memory. To be called by the process that reads the meter.
 */
size_t wtl_split_node(wtl_meter *meter, double start_machine_s, wtl_activity *all, size_t n, wtl_node_joules *node,
                      wattle_joules_t *part);

#endif
