/* leftovers.h - lets wattle-profiles write the profiles of PEs that were killed, and removes what they left. */
#ifndef WTL_LAUNCH_LEFTOVERS_H
#define WTL_LAUNCH_LEFTOVERS_H

/*
 * To be called after the job. Writes no profile if WATTLE_PROFILE_DIR is empty, if no process left counts in this
 * node's memory, or while the process OSHRUN_LEAVES_PROFILES lives: `wattle run`, which knows more about the ends of
 * the PEs.
 */
void wtl_leftovers_collect(void);

#endif
