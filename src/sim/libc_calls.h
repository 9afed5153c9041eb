/*
 * libc_calls.h - counts the computation of a simulated PE and returns its time. libc_calls.c receives the program's
 * calls of the C library that take or read time. The runtime calls the functions declared here.
 */
#ifndef WTL_SIM_LIBC_CALLS_H
#define WTL_SIM_LIBC_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/simulator.h"

/*
 * Turns the computation counted so far into simulated time. Until then the PE is ahead of the other PEs by that time.
 * Must be called before a thread blocks, and before any action that other PEs can notice, except one with its own time
 * (wtl_sim_send).
 */
void wtl_sim_catch_up(void);
/* Counts `seconds` of computation of the runtime at the base clock. Never catches up, so the caller may hold a lock. */
void wtl_sim_charge(double seconds);
/* Counts work of the runtime of this kind. A call, which begins without a lock, may catch up. */
void wtl_sim_work(enum wtl_sim_work what);
/* The PE accesses `n` bytes of memory that the PEs of its node share. Takes no time if the node has one PE. */
void wtl_sim_near(size_t n);
/* Returns by how many seconds the PE is ahead. */
double wtl_sim_ahead(void);

/* Return what the processor's counters would show: instructions of the program, and bytes that it moved through memory
 * by cache lines. */
double wtl_sim_instructions(void);
double wtl_sim_misses(void);

/* Return the PE's time, in s and ns: simulated time and the time by which the PE is ahead. */
double wtl_sim_time(void);
uint64_t wtl_sim_ns(void);

/* Runs the functions registered by on_exit and atexit, last first. The simulator calls it when main returns. */
void wtl_sim_end(int status);

#endif
