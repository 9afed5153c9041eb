/* team.c - makes teams, points them to their entries, and ends them. */
#include "team/team.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "govern/vote.h"
#include "team/barrier.h"

static void need_memory(const void *p)
{
  if (!p) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for a team");
}

/* The governor compares PEs of equal teams. */
static void name_group(const wtl_pe *self, wtl_team *t)
{
  int pes[] = {t->start, t->stride, t->n, t->of_node};
  bool is_all = t->n == self->n && !t->of_node;
  t->group.key = is_all ? 0 : wtl_hash(WTL_HASH_NONE, pes, sizeof pes);
  if (t == self->world)
    t->group.far = &self->votes->far_waits;
  else if (t->entry >= 0)
    t->group.far = &wtl_entry_of(self, t->local[0], t->entry)->far_waits;
}

/* Points a team to its entry. */
static void point_to_entry(wtl_pe *self, wtl_team *t, int entry)
{
  char *of_slot_0 = self->entries + (size_t)entry * (size_t)self->n_local * sizeof(wtl_team_entry);
  wtl_team_entry *first = wtl_entry_of(self, t->local[0], entry);
  t->entry = entry;
  t->rounds = of_slot_0 + offsetof(wtl_team_entry, round);
  t->lines = of_slot_0 + offsetof(wtl_team_entry, small);
  t->rounds_stride = t->lines_stride = sizeof(wtl_team_entry);
  t->arrived = &first->arrived;
  t->released = &first->epoch;
}

/* The words of the world lie in the control data, closer together. */
static void start_world(wtl_pe *self)
{
  wtl_team *t = self->world = &self->teams[WTL_ENTRY_OF_WORLD];
  *t = (wtl_team){.me = self->me, .n = self->n, .stride = 1};
  t->n_local = self->n_local;
  t->local_me = self->slot;
  t->n_nodes = self->boot.n_nodes;
  t->node = self->boot.node;
  t->local = self->boot.local_pe;
  t->leader = self->boot.leader_pe;
  t->entry = WTL_ENTRY_OF_WORLD;
  t->rounds = self->controls + offsetof(wtl_control, barrier);
  t->lines = self->controls + offsetof(wtl_control, small);
  t->rounds_stride = t->lines_stride = sizeof(wtl_control);
  t->arrived = &self->shared->arrived;
  t->released = &self->shared->epoch;
  t->handle = 1;
  name_group(self, t);
}

static void start_node(wtl_pe *self)
{
  wtl_team *t = &self->teams[WTL_ENTRY_OF_NODE];
  *t = (wtl_team){.me = self->slot, .n = self->n_local, .stride = 1, .of_node = true};
  t->n_local = self->n_local;
  t->local_me = self->slot;
  t->n_nodes = 1;
  t->local = t->leader = self->boot.local_pe;
  t->handle = 2;
  point_to_entry(self, t, WTL_ENTRY_OF_NODE);
  name_group(self, t);
}

void wtl_teams_start(wtl_pe *self)
{
  need_memory(self->teams = calloc(WTL_MOST_TEAMS, sizeof *self->teams));
  self->entries_taken = (1 << WTL_FIRST_FREE_ENTRY) - 1;
  self->splits = 0;
  self->is_choosing = false;
  start_world(self);
  start_node(self);
}

void wtl_teams_stop(wtl_pe *self)
{
  for (int entry = 0; entry < WTL_MOST_TEAMS; entry++) {
    free(self->teams[entry].scratch);
    free(self->teams[entry].owned);
    free(self->teams[entry].node_of);
  }
  free(self->teams);
}

int wtl_team_number(const wtl_pe *self, const wtl_team *t, int pe)
{
  int at = t->of_node ? self->slot_of[pe] : pe, i = t->stride ? (at - t->start) / t->stride : 0;
  if (at < 0 || i < 0 || i >= t->n || t->start + i * t->stride != at) return -1;
  return i;
}

/* The handle of a team that was made: its entry, and the generation above it. */
enum { GENERATION_SHIFT = 8 };

wtl_team *wtl_team_find(const wtl_pe *self, uintptr_t handle)
{
  wtl_team *t = &self->teams[handle % WTL_MOST_TEAMS];
  if (handle == 2) return &self->teams[WTL_ENTRY_OF_NODE];
  return handle >> GENERATION_SHIFT && t->handle == handle ? t : NULL;
}

/* Finds the PEs of the team on this node, and the leader of the team on each node: its first PE there. */
static void find_places(wtl_pe *self, wtl_team *t, const wtl_split *s, const wtl_range *pes)
{
  int *local, *leader, *index;
  need_memory(t->owned = calloc((size_t)t->n * 3, sizeof *t->owned));
  t->local = local = t->owned;
  t->leader = leader = local + t->n;
  index = leader + t->n; /* for each leader the number of its node in the job */
  for (int i = 0; i < t->n; i++) {
    int pe = wtl_team_pe(self, t, i), node = s->node_of[pes->start + i * pes->stride], k = 0;
    if (self->slot_of[pe] >= 0) {
      if (pe == self->me) t->local_me = t->n_local;
      local[t->n_local++] = pe;
    }
    while (k < t->n_nodes && index[k] != node) k++;
    if (node == self->boot.node) t->node = k;
    if (k < t->n_nodes) continue;
    index[k] = node;
    leader[t->n_nodes++] = pe;
  }
}

wtl_team *wtl_team_make(wtl_pe *self, const wtl_split *s, const wtl_range *pes, int entry)
{
  wtl_team *t = &self->teams[entry];
  const wtl_team *parent = s->parent;
  uint32_t generation = t->generation + 1;
  *t = (wtl_team){.n = pes->n, .of_node = parent->of_node, .generation = generation};
  t->start = parent->start + pes->start * parent->stride;
  t->stride = pes->stride * parent->stride;
  t->me = wtl_team_number(self, t, self->me);
  find_places(self, t, s, pes);
  point_to_entry(self, t, entry);
  name_group(self, t);
  memset(wtl_entry_of(self, self->me, entry), 0, offsetof(wtl_team_entry, stage));
  t->handle = (uintptr_t)generation << GENERATION_SHIFT | (uintptr_t)entry;
  return t;
}

void wtl_teams_made(wtl_pe *self, wtl_site *site, wtl_team *parent)
{
  wtl_team_barrier(self, site, parent);
}

void wtl_team_free(wtl_pe *self, wtl_site *site, wtl_team *t)
{
  wtl_team_part(self, site, t);
  t->handle = 0;
  free(t->owned);
  free(t->scratch);
  free(t->node_of);
  t->owned = t->node_of = NULL;
  t->scratch = NULL;
  atomic_fetch_and(&self->entries_taken, ~(1ull << t->entry));
}

void wtl_team_keep_places(wtl_team *t, const int *node_of)
{
  need_memory(t->node_of = malloc((size_t)t->n * sizeof *node_of));
  memcpy(t->node_of, node_of, (size_t)t->n * sizeof *node_of);
}

void wtl_active_set(wtl_pe *self, wtl_team *t, int start, int stride, int n, long *sync)
{
  *t = (wtl_team){.n = n, .start = start, .stride = stride, .entry = -1, .sync = sync};
  t->me = wtl_team_number(self, t, self->me);
  name_group(self, t);
}
