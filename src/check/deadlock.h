/*
 * deadlock.h - with SHMEM_DEBUG: finds the PEs of a team that do not come to a collective call, and whether they ever
 * can.
 *
 * DESIGN
 *
 * This entry compares the arguments of a collective (arguments.c, group_arguments.c) before the call begins. A
 * comparison is a barrier, all PEs read the words of all, a second barrier. A PE publishes in its control data in
 * which comparison it arrives. It publishes that all have arrived before it enters the second barrier. A PE that waits
 * long reads where the others are:
 *
 *   - They wait for this PE in other comparisons, directly or through other PEs. This is a deadlock: the job ends with
 *     an error that names the calls and the teams.
 *   - One of them has ended: the job ends in the same way.
 *   - Otherwise they may only be late. This is reported once.
 *
 * Why a report is never false: a PE leaves the second barrier when all have entered it. So while PE q publishes that it
 * arrives in a comparison, no PE has got beyond that comparison. A PE of the same comparison that publishes that it
 * arrives in another one has not been in q's yet, and cannot come before its own is over. PEs that hold each other in
 * such a circle never continue. The circle is read twice: PEs that published the same both times were in it together.
 *
 * Limits: where several threads of a PE may call, another thread may still come, and a PE is in several places at once.
 * Then no place is published, and a late PE is found by the serial number of its last comparison and only reported. The
 * checks cost two barriers a call, so they are for programs under test.
 */
#ifndef WTL_CHECK_DEADLOCK_H
#define WTL_CHECK_DEADLOCK_H

#include "team/team.h"

/* A PE that has waited for another one for so many times WATTLE_PATIENCE says that it may be late. */
enum { WTL_LATE_AFTER = 10 };

/* This PE is about to wait for the others of `t`, in t->call. Where several threads of a PE may call, each would say
 * something else: nothing is said, nor when all have come. */
void wtl_deadlock_arrive(wtl_pe *self, const wtl_site *site, const wtl_team *t);

/* All have come. Said before this PE lets any of them go on. */
void wtl_deadlock_all_arrived(wtl_pe *self);

/* This PE makes no collective call any more. */
void wtl_deadlock_end(wtl_pe *self);

/* Waits for an arrival as the door does, and looks who is absent where it lasts. */
void wtl_deadlock_wait(wtl_pe *self, wtl_site *site, const wtl_team *t, wtl_watch watch, bool (*ready)(void *),
                       void *arg);

#endif
