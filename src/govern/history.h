/*
 * history.h - how long to look on before sleeping, by what a site's waits were like so far.
 *
 * A wait of length w costs, in time awake, w if it ends within the limit T, else T and the price of a sleep and
 * wake-up. Ski rental, T = price, costs at most twice what any other T would have (Karlin et al., "Competitive
 * randomized algorithms for nonuniform problems", 1994), whatever comes. Where a site's waits are alike one can do
 * better: a sketch of the recent ones tells which T would have cost least, and that is followed.
 *
 * Trust ends where following it has cost more than ski rental would have, by a few prices; until ski rental's own
 * course has earned that back, it is ski rental. So the total stays within 17/16 of ski rental's and some prices.
 *
 * All times in ticks.
 */
#ifndef WTL_GOVERN_HISTORY_H
#define WTL_GOVERN_HISTORY_H

#include "profile/profile.h"

/* How long to look on. Zeroes: a site without a past. */
uint64_t wtl_history_limit(const wtl_wait_history *h, uint64_t price);

/* A wait took `length`, and slept after `limit` if it had not ended by then. */
void wtl_history_add(wtl_wait_history *h, uint64_t price, uint64_t limit, uint64_t length);

#endif
