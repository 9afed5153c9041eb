/*
 * os.h - the operating system of a simulated PE, as the library sees it. What a program sees of it has the C library's names
 * (os.c).
 */
#ifndef WTL_SIM_OS_H
#define WTL_SIM_OS_H

#include <stdint.h>

/* What the program computed since the last time becomes simulated time. To be called before anything that other PEs can notice. */
void wtl_os_catch_up(void);

/* Simulated time, in s and ns, with what was computed and not yet caught up with. */
double wtl_os_now(void);
uint64_t wtl_os_ns(void);

/* Runs what on_exit and atexit registered, last first. */
void wtl_os_end(int status);

#endif
