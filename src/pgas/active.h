/* active.h - the words in which an active set meets: the program's pSync, of WTL_ACTIVE_WORDS longs (team.h). */
#ifndef WTL_PGAS_ACTIVE_H
#define WTL_PGAS_ACTIVE_H

/* Words from 0: arrivals, one for each round of the barrier; then what a PE says of itself. */
enum { WTL_ACTIVE_SAID = 20 };

#endif
