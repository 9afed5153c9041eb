/*
 * boot_threads.h - the threads build: how a test's main makes PEs of its threads.
 */
#ifndef WTL_NODE_BOOT_THREADS_H
#define WTL_NODE_BOOT_THREADS_H

/* Before any PE: the job has `n`. */
void wtl_threads_begin(int n);

/* In each thread, before shmem_init: it is PE `pe`. */
void wtl_threads_join(int pe);

#endif
