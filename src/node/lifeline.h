/*
 * lifeline.h - ends a PE when its launcher has ended.
 *
 * DESIGN. There are two mechanisms, because each has a gap. The kernel's parent-death signal works from the load of the
 * library on, at any moment, but misses a PE that was started through a shell. The boot covers those (PMIx's
 * lost-connection event, or a thread that watches the launcher's process), but exists only after shmem_init. The PE
 * with local rank 0 must live long enough to remove the dead launcher's temporary files. So it drops the parent-death
 * signal once the boot watches.
 *
 * Both mechanisms watch the launcher's daemon on this node, which may lose its connection to the launcher itself. Open
 * MPI's daemon notices that within seconds by keepalive on an idle connection. While it sends, it notices only after a
 * quarter of an hour. So the first process of a node limits the time of the daemon's connections, from the load of the
 * library on.
 *
 * The limit is removed when the network is up, because the network's heartbeat then takes over (fabric/net.h). The
 * limit would also end a job whose launcher is stopped for longer.
 */
#ifndef WTL_NODE_LIFELINE_H
#define WTL_NODE_LIFELINE_H

#include <stdbool.h>

/* Reports that the boot watches the launcher from now on. `cleaner`: this PE removes the launcher's files. */
void wtl_lifeline_handed_over(bool cleaner);

/* Reports that the network between nodes notices a lost node from now on. */
void wtl_lifeline_network_is_up(void);

/* Handles the loss of the launcher: prints a message, removes its files if this PE is the cleaner, and ends this
 * process. Does not return. */
void wtl_lifeline_launcher_lost(void) __attribute__((noreturn));

/* Ensures that this node's launcher, or its daemon, ends within seconds, even if it waits for a process that is
 * gone. A separate process kills it after that time. */
void wtl_lifeline_end_launcher(void);

/* Reports that the job is ending in good order. The loss of the launcher is not reported any more. */
void wtl_lifeline_cut(void);

/* Reports that the boot watches no more. After shmem_finalize the kernel's signal protects this process again. */
void wtl_lifeline_back(void);

#endif
