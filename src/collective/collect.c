/*
 * collect.c - a gather of different numbers of bytes. The PEs exchange their sizes, and each computes where the bytes
 * of the others begin. Then it is a gather like that of fcollect.
 */
#include <stddef.h>

#include "collective/algorithms.h"
#include "team/active_set.h"

/* The word in which a PE publishes the size of its contribution. */
static uint64_t *size_word_of(const wtl_collective *c, int pe)
{
  const wtl_team *t = c->team;
  return t->sync ? (uint64_t *)(void *)wtl_remote(c->self, &t->sync[WTL_ACTIVE_EXCHANGE], pe)
                 : &wtl_entry_of(c->self, pe, t->entry)->exchange[3];
}

static wtl_place size_word_place(const wtl_collective *c)
{
  const wtl_team *t = c->team;
  size_t offset = wtl_entry_offset(t->entry) + offsetof(wtl_team_entry, exchange) + 3 * sizeof(uint64_t);
  return t->sync ? wtl_far_place(c->self, &t->sync[WTL_ACTIVE_EXCHANGE])
                 : (wtl_place){offset, WTL_SEGMENT_TEAM_ENTRIES};
}

/* Gets a word of each PE, in the order of the team, and returns when all PEs have arrived. */
static void exchange_words(const wtl_collective *c, uint64_t mine, uint64_t *words)
{
  wtl_pe *self = c->self;
  wtl_team *t = c->team;
  _Atomic uint32_t left = 0;
  const wtl_collective few = {self, c->site, t, words, &mine, .n = 1, .size = sizeof mine};
  if (wtl_gather_flat(&few) || wtl_gather_staged(&few) || wtl_gather_words(&few)) return;
  *size_word_of(c, self->me) = mine;
  wtl_collective_barrier(c);
  for (int i = 0; i < t->n; i++) {
    int pe = wtl_team_pe(self, t, i);
    if (self->slot_of[pe] >= 0)
      words[i] = *size_word_of(c, pe);
    else
      wtl_far_get_at(&(wtl_op){.self = self, .site = c->site, .pe = pe, .left = &left}, size_word_place(c), &words[i],
                     sizeof *words);
  }
  if (self->net) wtl_far_wait(self, c->site, &left);
}

/* The sums of the sizes stay in scratch until wtl_collect. */
size_t wtl_collect_size(const wtl_collective *c)
{
  int n = c->team->n;
  uint64_t *starts = (uint64_t *)(void *)wtl_collective_scratch(c->team);
  bool entered = wtl_team_enter(c->self, c->team);
  exchange_words(c, wtl_collective_bytes(c), starts + 1);
  wtl_team_leave(c->self, c->site, entered);
  starts[0] = 0;
  for (int i = 0; i < n; i++) starts[i + 1] += starts[i];
  return starts[n];
}

/*
 * The symmetric source. A PE that contributes nothing may pass NULL; then all PEs use the address that the first PE
 * with bytes passes. All PEs know which contribute nothing, so all or none exchange addresses.
 */
static const void *source_of_all(const wtl_collective *c)
{
  wtl_pe *self = c->self;
  int n = c->team->n, first = n, none = 0;
  uint64_t *words = (uint64_t *)(void *)wtl_collective_scratch(c->team) + n + 1;
  for (int i = n - 1; i >= 0; i--) {
    bool contributes = c->starts[i + 1] > c->starts[i];
    if (contributes) first = i;
    none += !contributes;
  }
  if (none == 0 || first == n) return c->source;
  wtl_place mine = wtl_far_place(self, c->source);
  wtl_collective_barrier(c); /* all have read the words of the last exchange */
  exchange_words(c, mine.offset * 2 + (mine.segment == WTL_SEGMENT_CONSTANTS), words);
  uint64_t offset = words[first] / 2;
  if (words[first] % 2) return (const void *)(uintptr_t)offset;
  return offset < self->statics_bytes ? self->statics + offset : self->heap + (offset - self->statics_bytes);
}

void wtl_collect(const wtl_collective *call)
{
  wtl_collective c = *call;
  c.starts = (const uint64_t *)(const void *)wtl_collective_scratch(c.team);
  bool entered = wtl_team_enter(c.self, c.team);
  if (!wtl_gather_two_level(&c) && !wtl_gather_push(&c) && !wtl_gather_doubling(&c)) {
    c.source = source_of_all(&c);
    wtl_gather_direct(&c);
  }
  wtl_team_leave(c.self, c.site, entered);
  if (c.team->sync) *size_word_of(&c, c.self->me) = 0; /* the words of an active set are 0 between calls */
  wtl_scratch_back(c.team);
}
