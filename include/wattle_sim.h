/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file wattle_sim.h
 * Work that a program describes to the simulation that runs it (oshcc --sim, wattle sim; docs/simulation.md).
 *
 * The simulation counts computing by the program's basic blocks. It cannot count work that a program describes in place
 * of doing it, or bytes that the program moves through memory by a loop or by memcpy. The functions below add these. On
 * a real machine they do nothing, so a program may call them in any case. A program that leaves out described work
 * tests WATTLE_SIMULATED, which oshcc --sim defines.
 *
 * @code
 *   #ifdef WATTLE_SIMULATED
 *     wattle_sim_compute(0.012);   // the solver takes 12 ms at the base clock
 *   #else
 *     solve();
 *   #endif
 * @endcode
 *
 * Any thread and any handler of an active message may call the functions. They report no errors. Since version 0.1.0.
 */
#ifndef WATTLE_SIM_H
#define WATTLE_SIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef WATTLE_SIMULATED

/**
 * Computes for the time that this work takes at the present clock.
 *
 * @param[in] seconds  the work, as seconds at the base clock; 0 or less has no effect
 */
void wattle_sim_compute(double seconds);

/**
 * Moves bytes through memory. The cluster's `memory` and `memory_clock` determine the time, and its machine profile the
 * joules.
 *
 * @param[in] bytes  bytes read plus bytes written
 */
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
