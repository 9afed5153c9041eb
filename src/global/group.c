/*
 * group.c - collectives of a group, by trees of messages. Member i receives from i + 1, i + 2, i + 4 ... up to its
 * lowest bit, and sends to i without that bit. The way back is the same.
 *
 * In every sum the contribution of the lower member comes first. So the result does not depend on the order of arrival.
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

/* --- making a group ----------------------------------------------------------------------------------------------- */

/* All members compute the same number, and other sets of PEs get other numbers. */
static uint64_t context_of(const int *pes, int n)
{
  return wtl_hash(WTL_HASH_NONE, pes, (size_t)n * sizeof *pes) | 1; /* 0 stands for the program's own messages */
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

typedef struct group_call {
  wtl_pe *self;
  wtl_site *site;
  const wtl_group *group;
  int64_t call;
} group_call;

static group_call begin_call(wtl_pe *self, wtl_site *site, wtl_group *g)
{
  return (group_call){self, site, g, g->calls++};
}

static void send_to(const group_call *m, int member, const void *data, size_t n)
{
  wtl_tagged_send(m->self, m->site, m->group->pe[member], m->group->context, m->call, data, n);
}

static void receive_from(const group_call *m, int member, void *data, size_t n)
{
  size_t received = wtl_tagged_receive(m->self, m->site, "a group's call",
                                       (wtl_envelope){m->group->pe[member], m->group->context, m->call}, data, n, NULL);
  if (received != n)
    wtl_pe_fail(WTL_EXIT_USAGE,
                "a group's collective: PE %d contributes %zu bytes and this PE expects %zu; all members must make the "
                "same calls "
                "in the same order",
                m->group->pe[member], received, n);
}

/* The group's number of member i of a tree whose root is member 0. */
static int from_root(const group_call *m, int i, int root)
{
  return (i + root) % m->group->n;
}

static void send_down(const group_call *m, void *data, size_t bytes, int root)
{
  int n = m->group->n, i = (m->group->me - root + n) % n, bit = 1;
  for (; bit < n && !(i & bit); bit <<= 1) continue;
  if (i) receive_from(m, from_root(m, i & ~bit, root), data, bytes);
  for (bit >>= 1; bit; bit >>= 1)
    if (i + bit < n) send_to(m, from_root(m, i + bit, root), data, bytes);
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

void wtl_group_barrier(wtl_pe *self, wtl_site *site, wtl_group *g)
{
  if (g->is_world) {
    wtl_barrier(self, site);
    return;
  }
  group_call m = begin_call(self, site, g);
  for (int k = 1; k < g->n; k <<= 1) {
    send_to(&m, (g->me + k) % g->n, NULL, 0);
    receive_from(&m, (g->me + g->n - k) % g->n, NULL, 0);
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
  group_call m = begin_call(self, site, g);
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
  group_call m = begin_call(self, site, g);
  char *theirs = malloc(bytes);
  need_memory(theirs, bytes);
  int bit = 1;
  for (; bit < g->n && !(g->me & bit); bit <<= 1)
    if (g->me + bit < g->n) {
      receive_from(&m, g->me + bit, theirs, bytes);
      combine(x, theirs, n);
    }
  free(theirs);
  if (g->me) send_to(&m, g->me & ~bit, x, bytes);
  m.call = g->calls++; /* the number of another call, because the way back uses the same pairs */
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
  group_call m = begin_call(self, site, g);
  if (g->me)
    send_to(&m, 0, mine, bytes);
  else
    for (int i = 1; i < g->n; i++) receive_from(&m, i, (char *)all + (size_t)i * bytes, bytes);
  m.call = g->calls++;
  send_down(&m, all, whole, 0);
}
