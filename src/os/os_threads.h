/*
 * os_threads.h - defines the port to the threads build: PEs are threads of one Linux process. The main function of a
 * test starts them (node/boot_threads.c).
 */
#ifndef WTL_OS_OS_THREADS_H
#define WTL_OS_OS_THREADS_H

enum { WTL_OS_PES_ARE_THREADS = 1 };
#define WTL_OS_OF_PE _Thread_local
#define WTL_OS_CPU_CLOCK CLOCK_THREAD_CPUTIME_ID

#endif
