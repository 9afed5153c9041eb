/*
 * Trees of messages: member i hears from i + 1, i + 2, i + 4 ... up to its lowest bit, and tells i without that bit;
 * the way back is the same. The lower member's part comes first in every sum, so the result does not depend on who was
 * early.
 */
#include "global/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "global/global.h"
#include "global/tagged.h"
#include "pgas/near.h"
#include "team/barrier.h"
#include "collective/collective.h"

static void need_memory(const void *p, size_t bytes)
{
  if (!p) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for a collective of %zu bytes", bytes);
}

/* --- making ------------------------------------------------------------------------------------------------------- */

/* All members compute the same, and other sets other numbers. */
static uint64_t context_of(const int *pes, int n)
{
  return wtl_hash(WTL_HASH_NONE, pes, (size_t)n * sizeof *pes) | 1; /* 0 is the program's own messages */
}

wtl_group *wtl_group_make(wtl_pe *self, const int *pes, int n)
{
  wtl_group *g = calloc(1, sizeof *g + (size_t)n * sizeof *pes);
  if (!g) return NULL;
  g->n = n;
  g->pe = (int *)(void *)(g + 1);
  memcpy(g->pe, pes, (size_t)n * sizeof *pes);
  g->me = wtl_group_number(g, self->me);
  g->context = context_of(pes, n);
  g->is_world = n == self->n;
  for (int i = 0; i < n; i++) g->is_world &= pes[i] == i;
  return g;
}

void wtl_group_free(wtl_group *g)
{
  free(g);
}

int wtl_group_number(const wtl_group *g, int pe)
{
  for (int i = 0; i < g->n; i++)
    if (g->pe[i] == pe) return i;
  return -1;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

typedef struct meeting {
  wtl_pe *self;
  wtl_site *site;
  const wtl_group *group;
  int64_t call;
} meeting;

static meeting meet(wtl_pe *self, wtl_site *site, wtl_group *g)
{
  return (meeting){self, site, g, g->calls++};
}

static void tell(const meeting *m, int member, const void *data, size_t n)
{
  wtl_tagged_send(m->self, m->site, m->group->pe[member], m->group->context, m->call, data, n);
}

static void hear(const meeting *m, int member, void *data, size_t n)
{
  size_t came = wtl_tagged_receive(m->self, m->site, "a group's call",
                                   (wtl_envelope){m->group->pe[member], m->group->context, m->call}, data, n, NULL);
  if (came != n)
    wtl_pe_fail(WTL_EXIT_USAGE,
                "a group's call: PE %d brings %zu bytes and this PE expects %zu; all members must make the same calls "
                "in the same order",
                m->group->pe[member], came, n);
}

/* Member i of the tree whose root is number 0. */
static int from_root(const meeting *m, int i, int root)
{
  return (i + root) % m->group->n;
}

static void send_down(const meeting *m, void *data, size_t bytes, int root)
{
  int n = m->group->n, i = (m->group->me - root + n) % n, bit = 1;
  for (; bit < n && !(i & bit); bit <<= 1) continue;
  if (i) hear(m, from_root(m, i & ~bit, root), data, bytes);
  for (bit >>= 1; bit; bit >>= 1)
    if (i + bit < n) tell(m, from_root(m, i + bit, root), data, bytes);
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

void wtl_group_barrier(wtl_pe *self, wtl_site *site, wtl_group *g)
{
  if (g->is_world) {
    wtl_barrier(self, site);
    return;
  }
  meeting m = meet(self, site, g);
  for (int k = 1; k < g->n; k <<= 1) {
    tell(&m, (g->me + k) % g->n, NULL, 0);
    hear(&m, (g->me + g->n - k) % g->n, NULL, 0);
  }
}

/* A collective of all PEs from one bounce buffer to the other. */
static wtl_collective of_world(wtl_pe *self, wtl_site *site, size_t n, size_t size)
{
  char *const *bounce = self->global->bounce;
  return (wtl_collective){self, site, self->world, bounce[1], bounce[0], .n = n, .size = size};
}

static void broadcast_world(wtl_pe *self, wtl_site *site, char *data, size_t bytes, int root)
{
  char *const *bounce = self->global->bounce;
  for (size_t step; bytes > 0; bytes -= step, data += step) {
    step = bytes < WTL_BOUNCE_BYTES ? bytes : WTL_BOUNCE_BYTES;
    if (self->me == root) memcpy(bounce[0], data, step);
    wtl_collective c = of_world(self, site, step, 1);
    c.root = root;
    wtl_broadcast(&c);
    if (self->me != root) memcpy(data, bounce[1], step);
  }
}

void wtl_group_broadcast(wtl_pe *self, wtl_site *site, wtl_group *g, void *data, size_t bytes, int root)
{
  if (g->n == 1) return;
  if (g->is_world) {
    broadcast_world(self, site, data, bytes, root);
    return;
  }
  meeting m = meet(self, site, g);
  send_down(&m, data, bytes, root);
}

static void reduce_world(wtl_pe *self, wtl_site *site, char *x, size_t n, size_t size, wtl_combine_fn combine)
{
  char *const *bounce = self->global->bounce;
  for (size_t step; n > 0; n -= step, x += step * size) {
    step = n < WTL_BOUNCE_BYTES / size ? n : WTL_BOUNCE_BYTES / size;
    memcpy(bounce[0], x, step * size);
    wtl_collective c = of_world(self, site, step, size);
    c.combine = combine;
    wtl_reduce(&c);
    memcpy(x, bounce[1], step * size);
  }
}

void wtl_group_reduce(wtl_pe *self, wtl_site *site, wtl_group *g, void *x, size_t n, size_t size,
                      wtl_combine_fn combine)
{
  size_t bytes = n * size;
  if (g->n == 1 || bytes == 0) return;
  if (g->is_world && size <= WTL_BOUNCE_BYTES) {
    reduce_world(self, site, x, n, size, combine);
    return;
  }
  meeting m = meet(self, site, g);
  char *theirs = malloc(bytes);
  need_memory(theirs, bytes);
  int bit = 1;
  for (; bit < g->n && !(g->me & bit); bit <<= 1)
    if (g->me + bit < g->n) {
      hear(&m, g->me + bit, theirs, bytes);
      combine(x, theirs, n);
    }
  free(theirs);
  if (g->me) tell(&m, g->me & ~bit, x, bytes);
  m.call = g->calls++; /* another call's messages: the way back crosses the same pairs */
  send_down(&m, x, bytes, 0);
}

void wtl_group_gather(wtl_pe *self, wtl_site *site, wtl_group *g, const void *mine, void *all, size_t bytes)
{
  size_t whole = (size_t)g->n * bytes;
  memmove((char *)all + (size_t)g->me * bytes, mine, bytes);
  if (g->n == 1) return;
  if (g->is_world && whole <= WTL_BOUNCE_BYTES) {
    char *const *bounce = self->global->bounce;
    memcpy(bounce[0], mine, bytes);
    const wtl_collective c = of_world(self, site, bytes, 1);
    wtl_fcollect(&c);
    memcpy(all, bounce[1], whole);
    return;
  }
  meeting m = meet(self, site, g);
  if (g->me)
    tell(&m, 0, mine, bytes);
  else
    for (int i = 1; i < g->n; i++) hear(&m, i, (char *)all + (size_t)i * bytes, bytes);
  m.call = g->calls++;
  send_down(&m, all, whole, 0);
}
