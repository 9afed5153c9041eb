/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file wattle_sim.h
 * Work that a program describes to the simulation that runs it (oshcc --sim, wattle sim; docs/simulation.md).
 *
 * The simulation counts computing by the program's basic blocks, and bytes that memcpy, memmove and memset move. It
 * cannot count work that a program describes in place of doing it, or bytes that a loop reads and writes. The functions
 * below add these. On a real machine they do nothing, so a program may call them in any case. A program that leaves out
 * described work tests WATTLE_SIMULATED, which oshcc --sim defines.
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
 * States what the loops since the last call have read and written. They have moved these bytes while they computed, so
 * only the time by which the bytes take longer is added. The smallest cache that holds `bytes` determines their price,
 * because they are taken for different bytes: a loop over an array again and again calls this once for each pass. The
 * bytes of a larger pass come from memory. They share its bandwidth with the other cores of the socket, and cost
 * joules.
 *
 * @code
 *   for (size_t i = 0; i < n; i++) a[i] = b[i] + x * c[i];
 *   wattle_sim_move(3 * n * sizeof *a);
 * @endcode
 *
 * @param[in] bytes  bytes read plus bytes written; 0: the loops up to here have moved nothing
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
