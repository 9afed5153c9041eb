/*
 * steps.h - how long a sleep may last where nothing rings: the sleeper must look by itself.
 *
 * A sleep of length s costs a wake-up, and when what is waited for comes meanwhile, on average s/2 of lateness. With
 * the chance h, per tick, that it comes now, both together are least, per tick, at s = sqrt(2 price / h).
 *
 * Where a site's waits are alike, their mean and spread say when the next may end: around then h is one over that
 * time, and before it a wait is slept through, nearly. Where they are not, what the shortest of them took is. From then
 * on a wait that has lasted t is taken to last about as long again: h = 1/t.
 *
 * A sleep lasts no longer than a sixteenth of the time in which nothing has happened, so that a wait is made longer by
 * no more; a half, before the time from which the site's waits end. And no longer than a millisecond, before that time
 * five (Open MPI itself looks at its sockets each ten), because others may need the progress that this process makes
 * when it looks. Where they wake it when they do, and when what it waits for has come, ten.
 */
#ifndef WTL_GOVERN_STEPS_H
#define WTL_GOVERN_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "govern/stages.h"

/* How long to sleep next at a site with waits of this length, when nothing has happened for `idle`. Ticks. Zeroes: a
 * site without a past. */
uint64_t wtl_steps_next(const wtl_stages *s, const wtl_wait_length *length, uint64_t idle);

/* A wait took so many ticks, of which nothing happened. */
void wtl_steps_waited(wtl_wait_length *length, uint64_t ticks);

/* Where others may wake this process (wait/ring.h): a wait was ended by that, or was over when a sleep ended that they
 * could have ended. */
void wtl_steps_ended(wtl_wait_length *length, bool by_ring);

/* How long a sleep may last because rings end the waits of this site. Ticks; 0: they do not, or the wait is young. */
uint64_t wtl_steps_rung(const wtl_stages *s, const wtl_wait_length *length, uint64_t idle);

/* The shortest of them. Ticks. */
uint64_t wtl_steps_least(const wtl_stages *s);

#endif
