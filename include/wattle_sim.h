/*
 * wattle_sim.h - what a program may tell the simulation that runs it (oshcc --sim, wattle sim; docs/simulation.md).
 *
 * Simulated computing is counted by the program's basic blocks. What they do not show, a program says: work that is
 * described in place of being done, and bytes that it moves through memory by a loop or by memcpy. On a real machine
 * both do nothing, so that a program calls them wherever it runs; where it leaves out work that is described, it asks
 * for WATTLE_SIMULATED, which oshcc --sim defines.
 */
#ifndef WATTLE_SIM_H
#define WATTLE_SIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef WATTLE_SIMULATED

/* Computes for as long as that many seconds of work take at the base clock, at the present clock. Nothing for 0 or
 * less. */
void wattle_sim_compute(double seconds);

/* Moves that many bytes, those read and those written together, through memory: the cluster's `memory` and
 * `memory_clock` say how long that takes, its machine profile how many joules. */
void wattle_sim_move(size_t bytes);

#else

static inline void wattle_sim_compute(double seconds)
{
  (void)seconds;
}

static inline void wattle_sim_move(size_t bytes)
{
  (void)bytes;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
