/*
 * last_thread.h - ends a process whose main thread has ended by pthread_exit.
 *
 * DESIGN. By POSIX such a process continues, and ends as by exit(0) with its last thread. Threads of libraries (this
 * one, PMIx, UCX) run until the process ends, so they must not count. They are recognized in two ways: they begin while
 * this library starts, or they call wtl_last_thread_skip_this.
 */
#ifndef WTL_NODE_LAST_THREAD_H
#define WTL_NODE_LAST_THREAD_H

/* Threads of this process that begin between these two calls do not count. One thread makes both calls. */
void wtl_last_thread_libraries_start(void);
void wtl_last_thread_libraries_started(void);

/* Excludes the calling thread from the count. */
void wtl_last_thread_skip_this(void);

#endif
