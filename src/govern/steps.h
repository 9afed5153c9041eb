/*
 * steps.h - chooses the length of a sleep that no doorbell ends: the sleeper polls when the sleep is over.
 *
 * DESIGN. A sleep of length s costs a wake-up. If the awaited event comes during it, the wait ends s/2 late on average.
 * Let h be the chance, per tick, that the event comes now. The sum of both costs per tick is least at s = sqrt(2 price
 * / h).
 *
 * Where the waits of a site are alike, their mean and spread give the time around which the next one ends. Before that
 * time the process sleeps nearly all of the wait. Around it, h is one over the length of that time. Where the waits are
 * not alike, the shortest of them replaces the mean. After that time a wait that has lasted t is expected to last about
 * as long again: h = 1/t.
 *
 * A sleep is bounded, so that a wait becomes little longer:
 *
 *   - by a sixteenth of the time without an event, or half of it before the site's waits end;
 *   - by 1 ms, or 5 ms before the site's waits end. Other processes may need the progress that this process makes when
 *     it polls, and Open MPI itself polls its sockets every 10 ms;
 *   - by 10 ms where the other processes wake this one for both (wait/peer_wakeup.h).
 */
#ifndef WTL_GOVERN_STEPS_H
#define WTL_GOVERN_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "govern/stages.h"

/* The next sleep, in ticks, at a site with waits of this length, after `idle` ticks without an event. A length of
 * zeroes belongs to a site without waits. */
uint64_t wtl_steps_next(const wtl_stages *s, const wtl_wait_length *length, uint64_t idle);

/* Records a wait that had `ticks` without an event. */
void wtl_steps_waited(wtl_wait_length *length, uint64_t ticks);

/* Records the end of a wait that other processes could have ended (wait/peer_wakeup.h). `by_wakeup`: one of them did.
 * Otherwise the wait was over when such a sleep ended by its time. */
void wtl_steps_ended(wtl_wait_length *length, bool by_wakeup);

/* The length of a sleep, in ticks, where rings end the waits of this site; 0 if they do not, or if the wait is
 * young. */
uint64_t wtl_steps_rung(const wtl_stages *s, const wtl_wait_length *length, uint64_t idle);

/* The shortest sleep, in ticks. */
uint64_t wtl_steps_least(const wtl_stages *s);

#endif
