/*
 * arguments.c - what the PEs of a team are about to do together: each tells it in its entry, and all compare it before
 * they do it. An active set, which has no entry, uses the world's: no PE is in a call of both at once.
 */
#include <stddef.h>
#include <string.h>

#include "check/deadlock.h"
#include "pgas/near.h"
#include "team/team.h"
#include "team/barrier.h"

static void read_told(wtl_pe *self, wtl_site *site, const wtl_team *t, int entry, int i, uint64_t words[])
{
  const size_t bytes = WTL_TOLD_WORDS * sizeof *words;
  int pe = wtl_team_pe(self, t, i);
  if (self->slot_of[pe] >= 0)
    memcpy(words, wtl_entry_of(self, pe, entry)->told, bytes);
  else
    wtl_far_entry_get(self, site, words, bytes, pe, wtl_entry_offset(entry) + offsetof(wtl_team_entry, told));
}

/* Differs from call to call of a team; an active set lasts for one. */
static uint64_t serial_of(wtl_team *t)
{
  return t->sync ? (uint64_t)t->start << 32 | (uint64_t)t->n << 16 | (uint64_t)t->stride : ++t->tellings;
}

int wtl_team_compare(wtl_pe *self, wtl_site *site, wtl_team *t, uint64_t words[WTL_TOLD_WORDS],
                     uint64_t theirs[WTL_TOLD_WORDS])
{
  uint64_t first[WTL_TOLD_WORDS], other[WTL_TOLD_WORDS];
  const size_t compared = (WTL_TOLD_WORDS - 1) * sizeof *words;
  int entry = t->entry < 0 ? (int)WTL_ENTRY_OF_WORLD : t->entry, found = -1;
  words[WTL_TOLD_SERIAL] = serial_of(t);
  uint64_t *told = wtl_entry_of(self, self->me, entry)->told;
  memcpy(told + 1, words + 1, compared);
  __atomic_store_n(&told[WTL_TOLD_SERIAL], words[WTL_TOLD_SERIAL], __ATOMIC_RELEASE);
  t->call = (uint32_t)words[WTL_TOLD_WORDS - 1];
  wtl_deadlock_arrive(self, site, t);
  t->wait_for_arrival = wtl_deadlock_wait;
  wtl_team_barrier(self, site, t);
  t->wait_for_arrival = NULL;
  wtl_deadlock_all_arrived(self);
  read_told(self, site, t, entry, 0, first);
  for (int i = 1; found < 0 && i < t->n; i++) {
    read_told(self, site, t, entry, i, other);
    if (memcmp(first, other, compared) != 0) found = i;
  }
  if (found >= 0) {
    bool first_is_elsewhere = first[WTL_TOLD_SERIAL] != words[WTL_TOLD_SERIAL];
    bool other_is_elsewhere = other[WTL_TOLD_SERIAL] != words[WTL_TOLD_SERIAL];
    bool names_first = first_is_elsewhere || (found == t->me && !other_is_elsewhere);
    memcpy(theirs, names_first ? first : other, sizeof first);
    if (names_first || other_is_elsewhere) return wtl_team_pe(self, t, names_first ? 0 : found);
  }
  wtl_team_barrier(self, site,
                   t); /* the words may be written again; or the PE that differs says so, and ends the job */
  return -1;
}
