/*
 * Collectives that bring blocks of all PEs together, straight from memory to memory: fcollect, collect, alltoall. A block of
 * another node's PE is fetched by one PE of this node, in turn, for all of them.
 */
#include "pgas/active.h"
#include "pgas/sync.h"
#include "pgas/team.h"

/* The block of the team's PE `i` to `dest` + `at` here (and, from another node, of all of this node). */
static void fetch_block(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const void *source, size_t bytes, int i)
{
  int pe = wtl_team_pe(self, t, i);
  const void *there = wtl_remote(self, source, pe);
  if (there) {
    memmove(dest, there, bytes);
    return;
  }
  if (t->n_local && i % t->n_local != t->local_me) return; /* another one's turn */
  wtl_far_get(self, NULL, site, dest, source, bytes, pe, false);
  for (int k = 0; k < t->n_local; k++)
    if (k != t->local_me) memcpy(wtl_remote(self, dest, t->local[k]), dest, bytes);
}

/* PEs begin with their own block and go round, so that not all are at the same memory. */
static int in_turn(const wtl_team *t, int k)
{
  return (t->me + k) % t->n;
}

void wtl_fcollect(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes)
{
  if (wtl_fcollect_small(self, site, t, dest, source, bytes) || wtl_fcollect_staged(self, site, t, dest, source, bytes))
    return;
  wtl_team_barrier(self, site, t);
  for (int k = 0; bytes && k < t->n; k++) {
    int i = in_turn(t, k);
    fetch_block(self, site, t, (char *)dest + (size_t)i * bytes, source, bytes, i);
  }
  wtl_fence();
  wtl_team_barrier(self, site, t);
}

/* --- collect: first the sizes ------------------------------------------------------------------------------------ */

/* Where each PE says how much it brings. */
static uint64_t *size_of(wtl_pe *self, wtl_team *t)
{
  return t->sync ? (uint64_t *)&t->sync[WTL_ACTIVE_SAID] : &wtl_rooms_of(self, self->me)->room[t->room].said[3];
}

static uint64_t size_there(wtl_pe *self, wtl_site *site, wtl_team *t, int i)
{
  int pe = wtl_team_pe(self, t, i);
  uint64_t size = 0;
  if (t->sync) {
    const void *there = wtl_remote(self, &t->sync[WTL_ACTIVE_SAID], pe);
    if (there)
      wtl_get(&size, there, sizeof size);
    else
      wtl_far_get(self, NULL, site, &size, &t->sync[WTL_ACTIVE_SAID], sizeof size, pe, false);
  } else if (self->slot_of[pe] >= 0) {
    size = wtl_rooms_of(self, pe)->room[t->room].said[3];
  } else {
    size_t offset = (size_t)t->room * sizeof(wtl_room) + offsetof(wtl_room, said) + 3 * sizeof size;
    wtl_far_room_get(self, site, &size, sizeof size, pe, offset);
  }
  return size;
}

size_t wtl_collect_size(wtl_pe *self, wtl_site *site, wtl_team *t, size_t bytes)
{
  size_t all = 0;
  *size_of(self, t) = bytes;
  wtl_team_barrier(self, site, t); /* all have said it, and all sources are ready */
  for (int i = 0; i < t->n; i++) all += size_there(self, site, t, i);
  return all;
}

void wtl_collect(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes)
{
  size_t at = 0;
  for (int i = 0; i < t->n; i++) {
    size_t n = i == t->me ? bytes : size_there(self, site, t, i);
    if (n) fetch_block(self, site, t, (char *)dest + at, source, n, i);
    at += n;
  }
  wtl_fence();
  wtl_team_barrier(self, site, t);
  *size_of(self, t) = 0;
}

/* --- alltoall ---------------------------------------------------------------------------------------------------- */

void wtl_alltoall(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                  size_t from_step, size_t size, size_t n)
{
  bool dense = to_step == size && from_step == size;
  size_t block = dense ? n * size : size, blocks = dense ? 1 : n; /* dense: a block is one piece */
  if (wtl_alltoall_staged(self, site, t, dest, to_step, source, from_step, size, n)) return;
  wtl_team_barrier(self, site, t);
  for (int k = 0; n && k < t->n; k++) {
    int i = in_turn(t, k), pe = wtl_team_pe(self, t, i);
    const char *from = (const char *)source + (size_t)t->me * n * from_step, *there = wtl_remote(self, from, pe);
    char *to = (char *)dest + (size_t)i * n * to_step;
    if (there)
      wtl_copy_blocks(to, to_step, there, from_step, block, blocks);
    else
      wtl_far_get_blocks(self, NULL, site, to, to_step, from, from_step, block, blocks, pe);
  }
  wtl_fence();
  wtl_team_barrier(self, site, t);
}
