/*
 * deadlock.h - with SHMEM_DEBUG: finds the PEs of a team that do not arrive at a collective call, and whether they ever
 * can.
 *
 * DESIGN
 *
 * With SHMEM_DEBUG the PEs compare their arguments of a collective before the call begins (arguments.c,
 * group_arguments.c). In a comparison the PEs pass a barrier, read the words of all others, and pass a second barrier.
 * A PE publishes in its control data in which comparison it arrives. It publishes that all have arrived before it
 * enters the second barrier. A PE that waits long reads where the others are:
 *
 *   - They wait for this PE in other comparisons, directly or through other PEs. This is a deadlock: the job ends with
 *     an error that names the calls and the teams.
 *   - One of them has ended: the job ends in the same way.
 *   - Otherwise they may only be late. This is reported once.
 *
 * Why a report is never false: a PE leaves the second barrier when all have entered it. So while PE q publishes that it
 * arrives in comparison C, no PE has got beyond C. Let PE p be a member of C that publishes that it arrives in another
 * comparison D. Then p has not been in C yet, and cannot arrive there before D is over. PEs that block each other in
 * such a circle never continue. The circle is read twice: PEs that published the same both times were in it together.
 *
 * Limits: if several threads of a PE may call, the PE may be in several calls at once, and another thread may still
 * arrive. Then the PE publishes no position. A late PE is found by the serial number of its last comparison and is only
 * reported. The checks cost two barriers a call, so they are for programs under test.
 */
#ifndef WTL_CHECK_DEADLOCK_H
#define WTL_CHECK_DEADLOCK_H

#include "team/team.h"

/* A PE that has waited for another one for this many times WATTLE_PATIENCE reports that it may be late. */
enum { WTL_LATE_AFTER = 10 };

/* Publishes that this PE is about to wait for the others of `t`, in t->call. If several threads of a PE may call, this
 * function and the next one publish nothing, because the threads would overwrite each other's words. */
void wtl_deadlock_arrive(wtl_pe *self, const wtl_site *site, const wtl_team *t);

/* Publishes that all have arrived. The caller does so before it lets any of them continue. */
void wtl_deadlock_all_arrived(wtl_pe *self);

/* Publishes that this PE makes no more collective calls. */
void wtl_deadlock_end(wtl_pe *self);

/* Waits for an arrival through the door. If the wait lasts long, finds the PEs that have not arrived. */
void wtl_deadlock_wait(wtl_pe *self, wtl_site *site, const wtl_team *t, wtl_watch watch, bool (*ready)(void *),
                       void *arg);

#endif
