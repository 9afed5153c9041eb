/*
 * slack.h - predicts the next wait of a call site or region from its last four.
 *
 * The shortest of the four counts, because a change of clock pays only if the wait is long enough. So one short wait
 * stops the changes, and a program that enters a phase with less slack is followed at its first instance. Without four
 * waits nothing is predicted.
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

/* Makes the last value longer. */
static inline void wtl_slack_extend(wtl_slack *s, uint64_t ticks)
{
  s->recent[(s->seen - 1) % WTL_SLACK_RECENT] += ticks;
}

/* The least length of the next wait in ticks; 0 without a prediction. */
static inline uint64_t wtl_slack_least(const wtl_slack *s)
{
  uint64_t least = UINT64_MAX;
  if (s->seen < WTL_SLACK_RECENT) return 0;
  for (int i = 0; i < WTL_SLACK_RECENT; i++) least = s->recent[i] < least ? s->recent[i] : least;
  return least;
}

/* The greatest length of the next wait in ticks; UINT64_MAX without a prediction. */
static inline uint64_t wtl_slack_most(const wtl_slack *s)
{
  uint64_t most = 0;
  if (s->seen < WTL_SLACK_RECENT) return UINT64_MAX;
  for (int i = 0; i < WTL_SLACK_RECENT; i++) most = s->recent[i] > most ? s->recent[i] : most;
  return most;
}

#endif
