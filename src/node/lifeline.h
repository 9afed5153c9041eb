/*
 * lifeline.h - a PE does not outlive its launcher.
 *
 * Two lines, because each has a hole. The kernel's parent-death signal works from the library's load on, whatever this
 * process does, but misses a PE that was started through a shell. The boot has no such hole (PMIx's lost-connection
 * event, or a thread that watches the launcher's process), but exists only after shmem_init. One PE of a node must live
 * long enough to remove what the dead launcher left in the temporary directory: the one with local rank 0 gives up the
 * parent-death signal once the boot watches.
 *
 * Both count on the launcher's daemon, which may be cut off from the launcher itself. Open MPI's daemon notices that by
 * keepalive where its connection is idle; where it was sending, only after a quarter of an hour. So from the library's
 * load on, its connections have a limit, set by the first process of a node. It is lifted when the network is up, whose
 * signs of life take over (fabric/net.h): it would also end a job whose launcher is stopped for longer than that.
 */
#ifndef WTL_NODE_LIFELINE_H
#define WTL_NODE_LIFELINE_H

#include <stdbool.h>

/* The boot watches the launcher from now on. `cleaner`: this PE removes the launcher's remains. */
void wtl_lifeline_handed_over(bool cleaner);

/* The network between nodes notices a lost node from now on. */
void wtl_lifeline_network_is_up(void);

/* The launcher is gone: says so, cleans up where this PE is the cleaner, ends this process. Does not return. */
void wtl_lifeline_launcher_lost(void) __attribute__((noreturn));

/*
 * Sees to it that this node's launcher, or its daemon, ends within seconds, even if it waits for one that is gone: a
 * process apart kills it if it has not ended by then.
 */
void wtl_lifeline_end_launcher(void);

/* The job is ending in good order: the loss of the launcher is no longer news. */
void wtl_lifeline_cut(void);

/* The boot watches no more: what this process does after shmem_finalize hangs on the kernel's signal again. */
void wtl_lifeline_back(void);

#endif
