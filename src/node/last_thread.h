/*
 * last_thread.h - the end of a process whose main thread ended by pthread_exit.
 *
 * POSIX: such a process goes on, and ends as by exit(0) with its last thread. Threads that serve the libraries (this one's,
 * PMIx's, UCX's) run until the process ends, so they must not count. What is known of them: they begin while this library
 * starts, or say so themselves.
 */
#ifndef WTL_NODE_LAST_THREAD_H
#define WTL_NODE_LAST_THREAD_H

/* Threads of this process that begin between the two calls count for none. Both are the same thread's. */
void wtl_last_thread_libraries_start(void);
void wtl_last_thread_libraries_started(void);

/* The calling thread counts for none. */
void wtl_last_thread_skip_this(void);

#endif
