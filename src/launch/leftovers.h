/* leftovers.h - lets wattle-profiles write the profiles of PEs that were killed. */
#ifndef WTL_LAUNCH_LEFTOVERS_H
#define WTL_LAUNCH_LEFTOVERS_H

/*
 * To be called after the job. Does nothing if WATTLE_PROFILE_DIR is empty, if no process left counts in this node's
 * memory, or if OSHRUN_LEAVES_PROFILES is set: `wattle run` sets it, because it knows more about the ends of the PEs.
 */
void wtl_leftovers_collect(void);

#endif
