/*
 * Collectives that bring blocks of all PEs together, straight from memory to memory: fcollect, collect, alltoall. All
 * that a PE fetches from other nodes is on its way before it waits for the first. A block of another node's PE is
 * fetched by one PE of this node, in turn, for all of them.
 */
#include <stddef.h>

#include "collective/algorithms.h"
#include "collective/two_level.h"
#include "team/active_set.h"

/* PEs begin with their own block and go round, so that not all are at the same memory. */
static int in_turn(const wtl_team *t, int k)
{
  return (t->me + k) % t->n;
}

/* An active set does not know who is on its node: there each PE fetches for itself. */
static bool fetches(const wtl_pe *self, const wtl_team *t, int i)
{
  return self->slot_of[wtl_team_pe(self, t, i)] < 0 && (!t->n_local || i % t->n_local == t->local_me);
}

/* Where the blocks lie in dest: all `bytes` long, or (collect) each from starts[i] to starts[i + 1]. */
typedef struct layout {
  size_t bytes;
  const uint64_t *starts;
} layout;

static size_t begin_of(const layout *l, int i)
{
  return l->starts ? l->starts[i] : (size_t)i * l->bytes;
}

static size_t bytes_of(const layout *l, int i)
{
  return l->starts ? l->starts[i + 1] - l->starts[i] : l->bytes;
}

static void fetch_blocks(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const void *source, const layout *l,
                         _Atomic uint32_t *left)
{
  for (int k = 0; k < t->n; k++) {
    int i = in_turn(t, k);
    if (fetches(self, t, i))
      wtl_far_get_at(self, NULL, site, wtl_team_pe(self, t, i), wtl_far_place(self, source), dest + begin_of(l, i),
                     bytes_of(l, i), left);
  }
}

static void copy_blocks(wtl_pe *self, const wtl_team *t, char *dest, const void *source, const layout *l)
{
  for (int k = 0; k < t->n; k++) {
    int i = in_turn(t, k);
    const void *there = wtl_remote_source(self, source, wtl_team_pe(self, t, i));
    if (there && bytes_of(l, i)) memmove(dest + begin_of(l, i), there, bytes_of(l, i));
  }
}

/* What was fetched, to the others of this node. */
static void share_blocks(wtl_pe *self, const wtl_team *t, char *dest, const layout *l)
{
  for (int i = 0; i < t->n; i++) {
    char *block = dest + begin_of(l, i);
    size_t n = bytes_of(l, i);
    for (int k = 0; n && fetches(self, t, i) && k < t->n_local; k++)
      if (k != t->local_me) memcpy(wtl_remote(self, block, t->local[k]), block, n);
  }
}

/* All sources are ready, and nobody needs what is in dest. */
static void gather(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const void *source, const layout *l)
{
  _Atomic uint32_t left = 0;
  if (self->net) fetch_blocks(self, site, t, dest, source, l, &left);
  copy_blocks(self, t, dest, source, l);
  if (self->net) {
    wtl_far_wait(self, site, &left);
    share_blocks(self, t, dest, l);
  }
  wtl_fence();
  wtl_team_barrier(self, site, t);
}

void wtl_fcollect_direct(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes)
{
  wtl_team_barrier(self, site, t);
  gather(self, site, t, dest, source, &(layout){bytes, NULL});
}

/* --- collect: first the sizes ------------------------------------------------------------------------------------ */

/* Where each PE of many says how much it brings. */
static uint64_t *said_of(wtl_pe *self, wtl_team *t, int pe)
{
  return t->sync ? (uint64_t *)(void *)wtl_remote(self, &t->sync[WTL_ACTIVE_SAID], pe)
                 : &wtl_room_of(self, pe, t->room)->said[3];
}

static wtl_place said_at(wtl_pe *self, const wtl_team *t)
{
  size_t offset = wtl_room_offset(t->room) + offsetof(wtl_room, said) + 3 * sizeof(uint64_t);
  return t->sync ? wtl_far_place(self, &t->sync[WTL_ACTIVE_SAID]) : (wtl_place){offset, WTL_REGION_ROOMS};
}

/* A word of each PE, in the team's order. */
static void exchange_words(wtl_pe *self, wtl_site *site, wtl_team *t, uint64_t mine, uint64_t *words)
{
  _Atomic uint32_t left = 0;
  if (wtl_fcollect_few(self, site, t, words, &mine, sizeof mine)) return;
  *said_of(self, t, self->me) = mine;
  wtl_team_barrier(self, site, t); /* all have said it, and all sources are ready */
  for (int i = 0; i < t->n; i++) {
    int pe = wtl_team_pe(self, t, i);
    if (self->slot_of[pe] >= 0)
      words[i] = *said_of(self, t, pe);
    else
      wtl_far_get_at(self, NULL, site, pe, said_at(self, t), &words[i], sizeof *words, &left);
  }
  if (self->net) wtl_far_wait(self, site, &left);
}

/* Scratch has where each PE's block begins, and where the last one ends, from here to wtl_collect. */
size_t wtl_collect_size(wtl_pe *self, wtl_site *site, wtl_team *t, size_t bytes)
{
  uint64_t *starts = (uint64_t *)(void *)wtl_collective_scratch(t);
  exchange_words(self, site, t, bytes, starts + 1);
  starts[0] = 0;
  for (int i = 0; i < t->n; i++) starts[i + 1] += starts[i];
  return starts[t->n];
}

/* Who brings nothing may pass NULL for its source: all take the place of the first that brings something. Which PEs
 * bring nothing all know, so all or none ask. */
static const void *source_of_all(wtl_pe *self, wtl_site *site, wtl_team *t, const void *source, const uint64_t *starts)
{
  uint64_t *words = (uint64_t *)(void *)(wtl_collective_scratch(t) + ((size_t)t->n + 1) * sizeof *starts);
  int first = t->n, none = 0;
  for (int i = t->n - 1; i >= 0; i--) {
    bool brings = starts[i + 1] > starts[i];
    if (brings) first = i;
    none += !brings;
  }
  if (none == 0 || first == t->n) return source;
  wtl_place mine = wtl_far_place(self, source);
  wtl_team_barrier(self, site, t); /* all have read what was said last */
  exchange_words(self, site, t, mine.offset * 2 + (mine.region == WTL_REGION_CONSTANTS), words);
  uint64_t offset = words[first] / 2;
  if (words[first] % 2) return (const void *)(uintptr_t)offset;
  return offset < self->statics_bytes ? self->statics + offset : self->heap + (offset - self->statics_bytes);
}

void wtl_collect(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes)
{
  const uint64_t *starts = (const uint64_t *)(const void *)wtl_collective_scratch(t);
  const char *all = wtl_gather_two_level(self, site, t, source, bytes, starts[t->me], starts[t->n]);
  if (all)
    memcpy(dest, all, starts[t->n]);
  else if (!wtl_gather_push(self, site, t, dest, source, starts[t->me], bytes, starts[t->n]))
    gather(self, site, t, dest, source_of_all(self, site, t, source, starts), &(layout){0, starts});
  if (t->sync) *said_of(self, t, self->me) = 0;
  wtl_scratch_back(t);
}

/* --- alltoall ---------------------------------------------------------------------------------------------------- */

void wtl_alltoall_direct(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                  size_t from_step, size_t size, size_t n)
{
  bool dense = to_step == size && from_step == size;
  size_t block = dense ? n * size : size, blocks = dense ? 1 : n; /* dense: a block is one piece */
  const char *mine = (const char *)source + (size_t)t->me * n * from_step;
  _Atomic uint32_t left = 0;
  wtl_team_barrier(self, site, t);
  for (int k = 0; self->net && n && k < t->n; k++) {
    int i = in_turn(t, k), pe = wtl_team_pe(self, t, i);
    if (self->slot_of[pe] < 0)
      wtl_far_get_blocks_at(self, NULL, site, pe, wtl_far_place(self, mine), (char *)dest + (size_t)i * n * to_step,
                            to_step, from_step, block, blocks, &left);
  }
  /* Stored to the others, not loaded from them: a tenth faster, as what is read is this core's own. */
  for (int k = 0; n && k < t->n; k++) {
    int i = in_turn(t, k);
    char *there = wtl_remote(self, (char *)dest + (size_t)t->me * n * to_step, wtl_team_pe(self, t, i));
    if (there)
      wtl_copy_blocks(there, to_step, (const char *)source + (size_t)i * n * from_step, from_step, block, blocks);
  }
  if (self->net) wtl_far_wait(self, site, &left);
  wtl_fence();
  wtl_team_barrier(self, site, t);
}
