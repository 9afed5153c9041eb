/*
 * Collectives of many bytes among nodes that have one PE each: a PE tells the others that its destination may be
 * written, and who has heard so sends his bytes straight there, and then that they were all. Fetched (direct_gather.c,
 * direct_reduce.c), they would take a barrier, a request, the answer, and another barrier.
 *
 * The bytes go in messages that nothing overtakes (below WTL_NET_LARGE): what is told after them arrives after them.
 * Turns and slots are those of two_level.h: who leaves has heard, from all or from a root that has, that all have come.
 */
#include <stddef.h>

#include "collective/two_level.h"

/* What one PE sends another. Longer ones cross as fast by requests, in messages that need no room at their target. */
enum { MOST_PUSHED = 256 * 1024, LONGEST = WTL_NET_LARGE - WTL_CACHE_LINE };

/* Slots of a node's PE at the others. */
enum { READY, SENT, SLOTS_EACH };

static bool fits(const wtl_pe *self, const wtl_team *t, size_t bytes)
{
  return bytes <= MOST_PUSHED && t->n == t->n_nodes && t->n * SLOTS_EACH <= WTL_FAR_SLOTS && wtl_is_two_level(self, t);
}

static void tell(wtl_pe *self, wtl_team *t, int node, int what)
{
  size_t turn = t->stage_epoch & 1, slot = turn * WTL_FAR_SLOTS + (size_t)(t->node * SLOTS_EACH + what);
  size_t said = wtl_room_offset(t->room) + offsetof(wtl_room, far_said);
  wtl_far_room_signal(self, t->leader[node], said + slot * sizeof(uint32_t), t->stage_epoch);
}

static void hear(wtl_pe *self, wtl_site *site, wtl_team *t, int node, int what)
{
  wtl_leader_receive(self, site, t, node * SLOTS_EACH + what);
}

/* The nodes after this one, and then those before it, so that not all send to the same. */
static int other(const wtl_team *t, int away)
{
  return (t->node + away) % t->n_nodes;
}

/* From here on the others may write to this PE's destination. */
static void begin(wtl_pe *self, wtl_team *t)
{
  t->stage_epoch++;
  for (int away = 1; away < t->n_nodes; away++) tell(self, t, other(t, away), READY);
}

/* `left` counts while the source is still needed. The end of the bytes goes with what is told. */
static void send(wtl_pe *self, wtl_site *site, wtl_team *t, int node, int what, const void *dest, const void *source,
                 size_t bytes, _Atomic uint32_t *left)
{
  wtl_place at = wtl_far_place(self, dest);
  const char *from = source;
  for (size_t step; bytes > 0; bytes -= step, from += step, at.offset += step) {
    step = bytes < LONGEST ? bytes : LONGEST;
    wtl_far_put_at(self, NULL, site, t->leader[node], at, from, step,
                   step <= WTL_NET_MERGED ? WTL_NET_AHEAD : WTL_NET_SIGNAL, left);
  }
  tell(self, t, node, what);
}

/* `n` bytes to the same place of each PE, this one too: from `source`, `step` further for each number in the team. */
static void exchange(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const char *source, size_t step, size_t n)
{
  _Atomic uint32_t left = 0;
  begin(self, t);
  if (n) memmove(dest, source + (size_t)t->me * step, n);
  for (int away = 1; away < t->n_nodes; away++) {
    int node = other(t, away), i = wtl_team_number(self, t, t->leader[node]);
    hear(self, site, t, node, READY);
    send(self, site, t, node, SENT, dest, source + (size_t)i * step, n, &left);
  }
  for (int away = 1; away < t->n_nodes; away++) hear(self, site, t, other(t, away), SENT);
  wtl_far_wait(self, site, &left);
}

bool wtl_gather_push(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const void *source, size_t at, size_t n,
                       size_t most)
{
  if (!fits(self, t, most)) return false;
  exchange(self, site, t, dest + at, source, 0, n);
  return true;
}

bool wtl_alltoall_push(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const char *source, size_t block)
{
  if (!fits(self, t, block)) return false;
  exchange(self, site, t, dest + (size_t)t->me * block, source, block, block);
  return true;
}

/* The root sends when all are ready: who has its bytes knows that all have come. */
bool wtl_broadcast_push(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                          int root, bool to_root)
{
  _Atomic uint32_t left = 0;
  if (!fits(self, t, bytes)) return false;
  t->stage_epoch++;
  if (t->me != root) {
    int node = 0;
    while (t->leader[node] != wtl_team_pe(self, t, root)) node++;
    tell(self, t, node, READY);
    hear(self, site, t, node, SENT);
    return true;
  }
  for (int away = 1; away < t->n_nodes; away++) hear(self, site, t, other(t, away), READY);
  for (int away = 1; away < t->n_nodes; away++) send(self, site, t, other(t, away), SENT, dest, source, bytes, &left);
  if (to_root && dest != source) memmove(dest, source, bytes);
  wtl_far_wait(self, site, &left);
  return true;
}

/* a op b, in that order, to `to`, which is one of them. */
static void sum_in_order(wtl_team *t, char *to, const char *a, const char *b, size_t n, size_t size,
                         wtl_combine_fn combine)
{
  char *sum = wtl_collective_scratch(t);
  size_t block = WTL_SCRATCH_BYTES / size;
  if (to == a) {
    combine(to, b, n);
    return;
  }
  for (size_t at = 0, count; at < n; at += count) {
    count = n - at < block ? n - at : block;
    memcpy(sum, a + at * size, count * size);
    combine(sum, b + at * size, count);
    memcpy(to + at * size, sum, count * size);
  }
}

/* Two PEs: each gets what the other has in its own destination, and sums it there. Parts would cross twice. */
bool wtl_reduce_push(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, const char *source, size_t n, size_t size,
                       wtl_combine_fn combine)
{
  _Atomic uint32_t left = 0;
  if (t->n != 2 || dest == source || !fits(self, t, n * size)) return false;
  int node = other(t, 1);
  begin(self, t);
  hear(self, site, t, node, READY);
  send(self, site, t, node, SENT, dest, source, n * size, &left);
  hear(self, site, t, node, SENT);
  sum_in_order(t, dest, t->me ? dest : source, t->me ? source : dest, n, size, combine);
  wtl_far_wait(self, site, &left);
  return true;
}
