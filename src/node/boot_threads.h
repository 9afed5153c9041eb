/* boot_threads.h - lets the main of a test make PEs of its threads (threads build). */
#ifndef WTL_NODE_BOOT_THREADS_H
#define WTL_NODE_BOOT_THREADS_H

/* Begins a job of `n` PEs, distributed evenly to `n_nodes` nodes, as if these were separate machines. Call it before
 * any PE starts. */
void wtl_threads_begin(int n, int n_nodes);

/* Makes the calling thread PE `pe`. Call it before shmem_init. */
void wtl_threads_join(int pe);

#endif
