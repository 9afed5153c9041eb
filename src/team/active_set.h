/* active_set.h - the words through which an active set synchronizes: the program's pSync, of WTL_ACTIVE_WORDS longs
 * (team.h). */
#ifndef WTL_TEAM_ACTIVE_SET_H
#define WTL_TEAM_ACTIVE_SET_H

/* Words from 0: arrivals, one for each round of the barrier; then what a PE says of itself. */
enum { WTL_ACTIVE_SAID = 20 };

#endif
