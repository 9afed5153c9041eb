/*
 * Reductions of a team on several nodes: what the PEs of a node have is put together in the node's
 * memory, and only the nodes' leaders use the network.
 *
 * A few bytes travel with a barrier: each PE arrives with its part in its stage, the leader puts them together, and
 * where the leaders of a barrier would tell each other that all have come, they tell the sum so far too (recursive
 * doubling: log2(nodes) hops).
 *
 * More: each PE puts a part of the node's sum together in the leader's destination, each leader fetches its own part of
 * it from the others and gives them the whole of that, and each PE copies the result: each byte crosses to a node and
 * from it once.
 */
#include "collective/two_level.h"

#include <stddef.h>

#include "collective/algorithms.h"

/* Rounds of the exchange: the nodes beyond the largest power of two bring what they have first and get the result
 * last. */
enum { FIRST_ROUND, DOUBLING, LAST_ROUND = WTL_FAR_SLOTS - 1 };

/* --- few bytes --------------------------------------------------------------------------------------------------- */

/* The same on both sides of an exchange, to the bit: the lower node's part comes first. */
static void take_in(const wtl_parts *p, char *mine, const char *theirs, bool mine_first)
{
  _Alignas(16) char sum[WTL_FAR_BYTES];
  memcpy(sum, mine_first ? mine : theirs, p->bytes);
  p->combine(sum, mine_first ? theirs : mine, p->n);
  memcpy(mine, sum, p->bytes);
}

void wtl_leader_send(wtl_pe *self, wtl_team *t, int node, int slot, const void *what, size_t bytes)
{
  size_t room = wtl_room_offset(t->room), turn = t->stage_epoch & 1;
  size_t at = turn * WTL_FAR_SLOTS + (size_t)slot;
  wtl_far_room_tell(self, t->leader[node], room + offsetof(wtl_room, far_bytes) + at * WTL_FAR_BYTES, what, bytes,
                    room + offsetof(wtl_room, far_said) + at * sizeof(uint32_t), t->stage_epoch);
}

const char *wtl_leader_receive(wtl_pe *self, wtl_site *site, wtl_team *t, int slot)
{
  wtl_room *room = wtl_room_of(self, self->me, t->room);
  wtl_wait_word(self, site, &room->far_said[t->stage_epoch & 1][slot], t->stage_epoch);
  return wtl_leader_received(self, t, self->me, slot);
}

void wtl_leaders_exchange(wtl_pe *self, wtl_site *site, wtl_team *t, const wtl_parts *p, char *mine)
{
  int power = 1, rounds = 0, extra;
  while (power * 2 <= t->n_nodes) power *= 2, rounds++;
  extra = t->n_nodes - power;
  if (t->node >= power) {
    wtl_leader_send(self, t, t->node - power, FIRST_ROUND, mine, p->bytes);
    memcpy(mine, wtl_leader_receive(self, site, t, LAST_ROUND), p->bytes);
    return;
  }
  if (t->node < extra) take_in(p, mine, wtl_leader_receive(self, site, t, FIRST_ROUND), true);
  for (int k = 0; k < rounds; k++) {
    int other = t->node ^ 1 << k;
    wtl_leader_send(self, t, other, DOUBLING + k, mine, p->bytes);
    take_in(p, mine, wtl_leader_receive(self, site, t, DOUBLING + k), t->node < other);
  }
  if (t->node < extra) wtl_leader_send(self, t, t->node + power, LAST_ROUND, mine, p->bytes);
}

/* The leader's turn, when all PEs of its node have arrived; the result is in its stage. */
static void lead_reduction(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, void *arg)
{
  const wtl_parts *p = arg;
  char *sum = wtl_stage_of(self, t, self->me);
  for (int i = 1; i < t->n_local; i++) p->combine(sum, wtl_stage_of(self, t, t->local[i]), p->n);
  wtl_leaders_exchange(self, site, t, p, sum);
}

bool wtl_reduce_few_two_level(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n,
                            size_t size, wtl_combine_fn combine)
{
  wtl_parts p = {n, n * size, combine};
  if (p.bytes > WTL_FAR_BYTES || p.bytes == 0) return false;
  t->stage_epoch++;
  memcpy(wtl_stage_of(self, t, self->me), source, p.bytes);
  wtl_team_barrier_led(self, site, t, lead_reduction, &p);
  memcpy(dest, wtl_stage_of(self, t, t->local[0]), p.bytes);
  return true;
}

/* --- more -------------------------------------------------------------------------------------------------------- */

/* The part of `n` elements that is the `i`-th of `among`. */
typedef struct share {
  size_t begin, end;
} share;

static share share_of(size_t n, int i, int among)
{
  size_t part = (n + (size_t)among - 1) / (size_t)among, begin = part * (size_t)i, end = begin + part;
  return (share){begin < n ? begin : n, end < n ? end : n};
}

/* This PE's share of its node's sum, to the leader's destination, which may be its source: nobody else needs that share
 * of it. */
static void sum_node(wtl_pe *self, wtl_team *t, char *dest, const char *source, size_t n, size_t size,
                     wtl_combine_fn combine)
{
  char *sum = wtl_collective_scratch(t), *there = wtl_remote(self, dest, t->local[0]);
  share s = share_of(n, t->local_me, t->n_local);
  for (size_t at = s.begin, count, block = WTL_SCRATCH_BYTES / size; at < s.end; at += count) {
    count = s.end - at < block ? s.end - at : block;
    memcpy(sum, wtl_remote_source(self, source + at * size, t->local[0]), count * size);
    for (int i = 1; i < t->n_local; i++) combine(sum, wtl_remote_source(self, source + at * size, t->local[i]), count);
    memcpy(there + at * size, sum, count * size);
  }
}

/* The leader's share of the whole sum, from all leaders' destinations to all of them. */
static void sum_nodes(wtl_pe *self, wtl_site *site, wtl_team *t, char *dest, size_t n, size_t size,
                      wtl_combine_fn combine)
{
  char *sum = wtl_collective_scratch(t);
  size_t block = wtl_scratch_bytes(t) / ((size_t)t->n_nodes + 1) / size;
  share s = share_of(n, t->node, t->n_nodes);
  for (size_t at = s.begin, count; at < s.end; at += count) {
    char *here = dest + at * size, *theirs = sum;
    _Atomic uint32_t left = 0;
    count = s.end - at < block ? s.end - at : block;
    for (int k = 0; k < t->n_nodes; k++)
      if (k != t->node)
        wtl_far_get_at(self, NULL, site, t->leader[k], wtl_far_place(self, here), theirs += count * size, count * size,
                       &left);
    wtl_far_wait(self, site, &left);
    theirs = sum;
    for (int k = 0; k < t->n_nodes; k++) {
      const char *part = k == t->node ? here : (theirs += count * size);
      if (k == 0)
        memcpy(sum, part, count * size);
      else
        combine(sum, part, count);
    }
    memcpy(here, sum, count * size);
    for (int k = 0; k < t->n_nodes; k++)
      if (k != t->node) wtl_far_put(self, NULL, site, here, sum, count * size, t->leader[k], true);
    wtl_quiet(self, site); /* the sum may be overwritten */
  }
}

bool wtl_reduce_two_level(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n,
                        size_t size, wtl_combine_fn combine)
{
  if (!wtl_is_two_level(self, t)) return false;
  if (wtl_reduce_few_two_level(self, site, t, dest, source, n, size, combine)) return true;
  if (t->n == t->n_nodes) return false; /* there is nothing to put together on a node */
  wtl_team_barrier_led(self, site, t, NULL, NULL);
  sum_node(self, t, dest, source, n, size, combine);
  wtl_fence();
  wtl_team_barrier(self, site, t); /* the nodes' sums are there */
  if (t->local_me == 0) sum_nodes(self, site, t, dest, n, size, combine);
  wtl_team_barrier(self, site, t); /* the leaders have the result */
  if (t->local_me != 0) memcpy(dest, wtl_remote(self, dest, t->local[0]), n * size);
  wtl_team_barrier_led(self, site, t, NULL, NULL); /* they may change it again */
  return true;
}
