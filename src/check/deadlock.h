/*
 * check/deadlock.h - with SHMEM_DEBUG: where each PE is, told in its rooms, and who of a team does not come because it is
 * somewhere else.
 *
 * PEs that call on unlike teams wait for each other. One that waits long for others reads where these are. If they
 * wait, by whatever way round, for this PE, or have ended, none of them can ever come: the job ends with an error that
 * names the calls and the teams. Otherwise it may be that they only come late: that is said once.
 */
#ifndef WTL_CHECK_DEADLOCK_H
#define WTL_CHECK_DEADLOCK_H

#include "team/team.h"

/* This PE is about to wait for the others of `t`, in t->call. Where several threads of a PE may call, each would say
 * something else: nothing is said, nor when all have come. */
void wtl_absent_arrive(wtl_pe *self, const wtl_site *site, const wtl_team *t);

/* All have come. Said before this PE lets any of them go on. */
void wtl_absent_meet(wtl_pe *self);

/* This PE makes no collective call any more. */
void wtl_absent_end(wtl_pe *self);

/* Waits for an arrival as the door does, and looks who is absent where it lasts. */
void wtl_absent_wait(wtl_pe *self, wtl_site *site, const wtl_team *t, wtl_watch watch, bool (*ready)(void *),
                     void *arg);

#endif
