/*
 * arguments.c - compares the arguments of a collective among the PEs of a team. Each PE publishes its call and
 * arguments in its team entry, and all PEs compare them before the call begins.
 *
 * An active set has no entry and uses that of the world. No PE is in calls of both at the same time.
 */
#include <stddef.h>
#include <string.h>

#include "check/deadlock.h"
#include "pgas/near.h"
#include "team/team.h"
#include "team/barrier.h"

static void read_words(wtl_pe *self, wtl_site *site, const wtl_team *t, int entry, int i, uint64_t words[])
{
  const size_t bytes = WTL_PUBLISHED_WORDS * sizeof *words;
  int pe = wtl_team_pe(self, t, i);
  if (self->slot_of[pe] >= 0)
    memcpy(words, wtl_entry_of(self, pe, entry)->published, bytes);
  else
    wtl_far_entry_get(self, site, words, bytes, pe, wtl_entry_offset(entry) + offsetof(wtl_team_entry, published));
}

/* A number that differs from call to call of a team. An active set exists for one call only. */
static uint64_t serial_of(wtl_team *t)
{
  return t->sync ? (uint64_t)t->start << 32 | (uint64_t)t->n << 16 | (uint64_t)t->stride : ++t->comparisons;
}

int wtl_team_compare(wtl_pe *self, wtl_site *site, wtl_team *t, uint64_t words[WTL_PUBLISHED_WORDS],
                     uint64_t theirs[WTL_PUBLISHED_WORDS])
{
  uint64_t first[WTL_PUBLISHED_WORDS], other[WTL_PUBLISHED_WORDS];
  const size_t compared = (WTL_PUBLISHED_WORDS - 1) * sizeof *words;
  int entry = t->entry < 0 ? (int)WTL_ENTRY_OF_WORLD : t->entry, found = -1;
  words[WTL_PUBLISHED_SERIAL] = serial_of(t);
  uint64_t *published = wtl_entry_of(self, self->me, entry)->published;
  memcpy(published + 1, words + 1, compared);
  __atomic_store_n(&published[WTL_PUBLISHED_SERIAL], words[WTL_PUBLISHED_SERIAL], __ATOMIC_RELEASE);
  t->call = (uint32_t)words[WTL_PUBLISHED_WORDS - 1];
  wtl_deadlock_arrive(self, site, t);
  t->wait_for_arrival = wtl_deadlock_wait;
  wtl_team_barrier(self, site, t);
  t->wait_for_arrival = NULL;
  wtl_deadlock_all_arrived(self);
  read_words(self, site, t, entry, 0, first);
  for (int i = 1; found < 0 && i < t->n; i++) {
    read_words(self, site, t, entry, i, other);
    if (memcmp(first, other, compared) != 0) found = i;
  }
  if (found >= 0) {
    bool first_is_elsewhere = first[WTL_PUBLISHED_SERIAL] != words[WTL_PUBLISHED_SERIAL];
    bool other_is_elsewhere = other[WTL_PUBLISHED_SERIAL] != words[WTL_PUBLISHED_SERIAL];
    bool names_first = first_is_elsewhere || (found == t->me && !other_is_elsewhere);
    memcpy(theirs, names_first ? first : other, sizeof first);
    if (names_first || other_is_elsewhere) return wtl_team_pe(self, t, names_first ? 0 : found);
  }
  /* After this barrier the words may be written again. If one PE differs, it ends the job with an error instead. */
  wtl_team_barrier(self, site, t);
  return -1;
}
