/*
 * recent.h - finds the level of memory that holds what a PE copies: the smallest cache whose capacity the PE has not
 * moved since it last used the same memory. This is a cache that replaces what was used longest ago.
 *
 * The memory is known by pages of 4 KiB. A page that the PE has not moved before counts as just used by the program,
 * with everything that the same copy moves. Loads and stores that the program does not describe are not known.
 */
#ifndef WTL_SIM_RECENT_H
#define WTL_SIM_RECENT_H

#include <stddef.h>

#include "sim/simulator.h"

/* Notes that the PE moves the `n` bytes at `at`, in a copy that moves `whole` bytes. Adds them to `bytes`, by level. */
void wtl_recent_use(const void *at, size_t n, size_t whole, size_t bytes[WTL_SIM_LEVELS]);

/* Notes that the PE moves `bytes` at unknown places, all of them since it last moved the same. Returns their level. */
enum wtl_sim_level wtl_recent_pass(size_t bytes);

#endif
