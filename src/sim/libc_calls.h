/*
 * libc_calls.h - what a simulated PE has computed, and its time. A program's calls of the C library that take time, or
 * ask for it, come to libc_calls.c; the runtime calls these functions.
 */
#ifndef WTL_SIM_LIBC_CALLS_H
#define WTL_SIM_LIBC_CALLS_H

#include <stdint.h>

/*
 * What a PE computes becomes simulated time when it next catches up, so until then it is ahead of the others by that
 * much. To be called before anything that others can notice, unless it tells them when it happened (wtl_sim_send), and
 * before a thread blocks.
 */
void wtl_sim_catch_up(void);
/* The runtime computed for as long as `seconds` at the base clock. Never catches up: it may be called with a lock
 * held. */
void wtl_sim_charge(double seconds);
/* How far the PE is ahead, in s. */
double wtl_sim_ahead(void);

/* Simulated time, in s and ns, as the PE has it: with how far it is ahead. */
double wtl_sim_time(void);
uint64_t wtl_sim_ns(void);

/* Runs what on_exit and atexit registered, last first. */
void wtl_sim_end(int status);

#endif
