/* active_set.h - the layout of pSync, the WTL_ACTIVE_WORDS longs of the program with which an active set
 * synchronizes (team.h). */
#ifndef WTL_TEAM_ACTIVE_SET_H
#define WTL_TEAM_ACTIVE_SET_H

/* The first words count arrivals, one word for each round of the barrier. In this word a PE publishes its byte count
 * for collect. */
enum { WTL_ACTIVE_EXCHANGE = 20 };

#endif
