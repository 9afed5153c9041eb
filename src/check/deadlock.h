/*
 * deadlock.h - with SHMEM_DEBUG: which PEs of a team do not come to a collective call, and whether they ever can.
 *
 * DESIGN
 *
 * The room compares what PEs pass to a collective (arguments.c, group_arguments.c) before the call begins. A comparison
 * is a meeting: a barrier, all read what all have told, a second barrier. A PE tells in its control data in which meeting
 * it arrives, and that it has met, before it enters the second barrier. A PE that waits long in a meeting reads where the
 * others are:
 *
 *   - they wait, directly or by way of others, for this PE in other meetings: a deadlock. The job ends with an error that
 *     names the calls and the teams
 *   - one of them has ended: the same
 *   - else they may only come late, which is said once
 *
 * Why a report is no false alarm: a PE tells that it has met before it enters the second barrier, and leaves that when
 * all have entered it. So while PE q tells that it arrives in a meeting, no PE has got beyond that meeting; and a PE of
 * the meeting that tells that it arrives in another one has not been in q's yet, and cannot come before its own is over.
 * PEs that hold each other so in a circle never go on. The circle is read twice: PEs that told the same all the while
 * were in it at the same time.
 *
 * What may go wrong: where several threads of a PE may call, another one may still come, and a PE is in several places at
 * once. Then nothing is told; that a PE is late is found by what the PEs of the team have told in its room, and only
 * said. The checks cost two barriers a call, so they are for programs under test.
 */
#ifndef WTL_CHECK_DEADLOCK_H
#define WTL_CHECK_DEADLOCK_H

#include "team/team.h"

/* A PE that has waited for another one for so many times WATTLE_PATIENCE says that it may be late. */
enum { WTL_LATE_AFTER = 10 };

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
