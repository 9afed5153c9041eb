/*
 * boot_threads.h - the threads build: how a test's main makes PEs of its threads.
 */
#ifndef WTL_NODE_BOOT_THREADS_H
#define WTL_NODE_BOOT_THREADS_H

/* Before any PE: the job has `n`, dealt out evenly to `n_nodes` nodes, as if these were machines of their own. */
void wtl_threads_begin(int n, int n_nodes);

/* In each thread, before shmem_init: it is PE `pe`. */
void wtl_threads_join(int pe);

#endif
