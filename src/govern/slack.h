/*
 * slack.h - how long the next wait will be, by the last few of its kind.
 *
 * The shortest of the last four: a change of clock is worth its price only if the wait is long enough, so one short
 * wait is reason enough to doubt, and a program that enters another phase is followed at its first instance. Nothing is
 * foretold of what has not been seen four times.
 */
#ifndef WTL_GOVERN_SLACK_H
#define WTL_GOVERN_SLACK_H

#include <stdint.h>

enum { WTL_SLACK_RECENT = 4 };

typedef struct wtl_slack {
  uint64_t recent[WTL_SLACK_RECENT]; /* ticks */
  uint32_t seen;
} wtl_slack;

static inline void wtl_slack_add(wtl_slack *s, uint64_t ticks)
{
  s->recent[s->seen++ % WTL_SLACK_RECENT] = ticks;
}

/* At least this long; 0 where nothing can be foretold. */
static inline uint64_t wtl_slack_least(const wtl_slack *s)
{
  uint64_t least = UINT64_MAX;
  if (s->seen < WTL_SLACK_RECENT) return 0;
  for (int i = 0; i < WTL_SLACK_RECENT; i++) least = s->recent[i] < least ? s->recent[i] : least;
  return least;
}

/* At most this long; UINT64_MAX where nothing can be foretold. */
static inline uint64_t wtl_slack_most(const wtl_slack *s)
{
  uint64_t most = 0;
  if (s->seen < WTL_SLACK_RECENT) return UINT64_MAX;
  for (int i = 0; i < WTL_SLACK_RECENT; i++) most = s->recent[i] > most ? s->recent[i] : most;
  return most;
}

#endif
