/*
 * os.h - the operating system of a simulated PE, as the library sees it. What a program sees of it has the C library's
 * names (os.c).
 */
#ifndef WTL_SIM_OS_H
#define WTL_SIM_OS_H

#include <stdint.h>

/*
 * What a PE computes becomes simulated time when it next catches up, so until then it is ahead of the others by that
 * much. To be called before anything that others can notice, unless it tells them when it happened (wtl_sim_send), and
 * before a thread blocks.
 */
void wtl_os_catch_up(void);
/* The runtime computed for as long as `seconds` at the base clock. Never catches up: it may be called with a lock
 * held. */
void wtl_os_charge(double seconds);
/* How far the PE is ahead, in s. */
double wtl_os_ahead(void);

/* Simulated time, in s and ns, as the PE has it: with how far it is ahead. */
double wtl_os_now(void);
uint64_t wtl_os_ns(void);

/* Runs what on_exit and atexit registered, last first. */
void wtl_os_end(int status);

#endif
