/*
 * history.h - chooses how long a wait spins before it sleeps, from the earlier waits of its call site.
 *
 * DESIGN. A wait of length w with the limit T costs CPU time: w if it ends within T, otherwise T plus the price of a
 * sleep and a wake-up. Ski rental sets T = price. It costs at most twice what the best T would have cost, for any
 * sequence of waits (Karlin et al., "Competitive randomized algorithms for nonuniform problems", 1994). Where the waits
 * of a site are alike, a sketch of the recent ones gives the T that would have cost least, and the next waits use it.
 *
 * The sketch loses trust when its limits have cost more than ski rental would have, by a few prices. Then ski rental
 * sets the limit until its own waits have earned back the loss. So the total stays within 17/16 of ski rental's plus
 * some prices.
 *
 * All times are in ticks.
 */
#ifndef WTL_GOVERN_HISTORY_H
#define WTL_GOVERN_HISTORY_H

#include "profile/profile.h"

/* How long the next wait spins. A history of zeroes belongs to a site without waits. */
uint64_t wtl_history_limit(const wtl_wait_history *h, uint64_t price);

/* Records a wait of `length`, which slept after `limit` if it had not ended by then. */
void wtl_history_add(wtl_wait_history *h, uint64_t price, uint64_t limit, uint64_t length);

#endif
