/*
 * steps.h - how long a sleep may last where nothing rings: the sleeper must look by itself.
 *
 * A sleep of length s costs a wake-up, and when what is waited for comes meanwhile, on average s/2 of lateness. With
 * the chance h, per tick, that it comes now, both together are least, per tick, at s = sqrt(2 price / h). What h is,
 * the site's history tells (history.h).
 *
 * A sleep lasts no longer than a sixteenth of the time in which nothing has happened, so that a wait is made longer by
 * no more; a quarter, while all the site's waits so far have lasted at least twice as long. And no longer than one
 * millisecond, then two, because others may need the progress that this process makes when it looks.
 */
#ifndef WTL_GOVERN_STEPS_H
#define WTL_GOVERN_STEPS_H

#include <stdint.h>

#include "govern/stages.h"

/* How long to sleep next at a site with this history, when nothing has happened for `idle`. Ticks. */
uint64_t wtl_steps_next(const wtl_stages *s, const wtl_wait_history *history, uint64_t idle);

/* The shortest of them. Ticks. */
uint64_t wtl_steps_least(const wtl_stages *s);

#endif
