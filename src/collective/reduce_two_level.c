/*
 * reduce_two_level.c - reductions of a team on several nodes. The PEs of a node reduce in its memory. Only one
 * leader a node uses the network (hierarchical, as Open MPI's han and MVAPICH2's two-level collectives).
 *
 * Up to WTL_FAR_BYTES: recursive doubling among the leaders, log2(nodes) rounds of all the bytes. They travel with a
 * barrier: each PE arrives with its contribution in its stage, and the leader combines those of its node. The messages
 * of the leaders carry the sum so far and also show that all have arrived.
 *
 * More bytes: reduce-scatter and allgather (Rabenseifner). Each PE combines a part of the node's sum in the leader's
 * dest. Each leader fetches its own part of it from the others, and sends them the sum of that part. Each PE copies the
 * result. Each byte crosses to a node and from it once, with 2 barriers of each node and 2 of all PEs.
 */
#include <stddef.h>

#include "collective/algorithms.h"
#include "collective/two_level.h"

/* Slots of the rounds: the nodes beyond the largest power of two contribute first and receive the result last. */
enum { FIRST_ROUND, DOUBLING, LAST_ROUND = WTL_FAR_SLOTS - 1 };

/* --- few bytes --------------------------------------------------------------------------------------------------- */

/* Gives the same bits on both sides of an exchange: the contribution of the lower node comes first. */
static void combine_received(const wtl_collective *c, char *mine, const char *theirs, bool mine_first)
{
  _Alignas(16) char sum[WTL_FAR_BYTES];
  size_t bytes = wtl_collective_bytes(c);
  memcpy(sum, mine_first ? mine : theirs, bytes);
  c->combine(sum, mine_first ? theirs : mine, c->n);
  memcpy(mine, sum, bytes);
}

void wtl_leader_send(const wtl_collective *c, int node, int slot, const void *data, size_t bytes)
{
  const wtl_team *t = c->team;
  size_t entry = wtl_entry_offset(t->entry), turn = t->stage_epoch & 1;
  size_t at = turn * WTL_FAR_SLOTS + (size_t)slot;
  wtl_far_entry_put_signal(c->self, t->leader[node], entry + offsetof(wtl_team_entry, far_bytes) + at * WTL_FAR_BYTES,
                           data, bytes, entry + offsetof(wtl_team_entry, far_epochs) + at * sizeof(uint32_t),
                           wtl_team_word(t, t->stage_epoch));
}

enum { LONGEST = WTL_NET_LARGE - WTL_CACHE_LINE }; /* bytes of a message that no other overtakes */

void wtl_leader_push(const wtl_collective *c, int node, char *dest, const char *source, size_t bytes,
                     _Atomic uint32_t *left)
{
  wtl_op op = wtl_collective_op(c, c->team->leader[node], left);
  for (size_t done = 0, step; done < bytes; done += step) {
    step = bytes - done < LONGEST ? bytes - done : LONGEST;
    wtl_far_put_ahead(&op, dest + done, source + done, step, step <= WTL_NET_MERGED ? WTL_NET_AHEAD : WTL_NET_SIGNAL);
  }
}

void wtl_leader_notify(const wtl_collective *c, int node, int slot)
{
  const wtl_team *t = c->team;
  size_t at = (t->stage_epoch & 1) * WTL_FAR_SLOTS + (size_t)slot;
  size_t epochs = wtl_entry_offset(t->entry) + offsetof(wtl_team_entry, far_epochs);
  wtl_far_entry_signal(c->self, t->leader[node], epochs + at * sizeof(uint32_t), wtl_team_word(t, t->stage_epoch));
}

const char *wtl_leader_receive(const wtl_collective *c, int slot)
{
  wtl_pe *self = c->self;
  wtl_team *t = c->team;
  _Atomic uint32_t *word = &wtl_entry_of(self, self->me, t->entry)->far_epochs[t->stage_epoch & 1][slot];
  wtl_team_wait_for_leader(self, c->site, t, word, t->stage_epoch);
  return wtl_leader_received(c, self->me, slot);
}

void wtl_leaders_exchange(const wtl_collective *c, char *mine)
{
  const wtl_team *t = c->team;
  size_t bytes = wtl_collective_bytes(c);
  int power = 1, rounds = 0, extra;
  while (power * 2 <= t->n_nodes) power *= 2, rounds++;
  extra = t->n_nodes - power;
  if (t->node >= power) {
    wtl_leader_send(c, t->node - power, FIRST_ROUND, mine, bytes);
    memcpy(mine, wtl_leader_receive(c, LAST_ROUND), bytes);
    return;
  }
  if (t->node < extra) combine_received(c, mine, wtl_leader_receive(c, FIRST_ROUND), true);
  for (int k = 0; k < rounds; k++) {
    int other = t->node ^ 1 << k;
    wtl_leader_send(c, other, DOUBLING + k, mine, bytes);
    combine_received(c, mine, wtl_leader_receive(c, DOUBLING + k), t->node < other);
  }
  if (t->node < extra) wtl_leader_send(c, t->node + power, LAST_ROUND, mine, bytes);
}

/* Runs on the leader when all PEs of its node have arrived. The result is in its stage. */
static void lead_reduction(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, const void *arg)
{
  const wtl_collective *c = arg;
  char *sum = wtl_stage_of(c, self->me);
  for (int i = 1; i < t->n_local; i++) c->combine(sum, wtl_stage_of(c, t->local[i]), c->n);
  wtl_leaders_exchange(c, sum);
}

bool wtl_reduce_few_two_level(const wtl_collective *c)
{
  size_t bytes = wtl_collective_bytes(c);
  if (bytes > WTL_FAR_BYTES || bytes == 0) return false;
  c->team->stage_epoch++;
  memcpy(wtl_stage_of(c, c->self->me), c->source, bytes);
  wtl_team_barrier_led(c->self, c->site, c->team, lead_reduction, c);
  memcpy(c->dest, wtl_stage_of(c, c->team->local[0]), bytes);
  return true;
}

/* --- more bytes -------------------------------------------------------------------------------------------------- */

/* The `i`-th of `among` parts of `n` elements. */
typedef struct share {
  size_t begin, end;
} share;

static share share_of(size_t n, int i, int among)
{
  size_t part = (n + (size_t)among - 1) / (size_t)among, begin = part * (size_t)i, end = begin + part;
  return (share){begin < n ? begin : n, end < n ? end : n};
}

/* Writes this PE's share of its node's sum to the leader's dest. That may be the leader's source, but no other PE
 * needs that share of it. */
static void sum_node(const wtl_collective *c)
{
  wtl_pe *self = c->self;
  const wtl_team *t = c->team;
  char *sum = wtl_collective_scratch(c->team), *there = wtl_remote(self, c->dest, t->local[0]);
  share s = share_of(c->n, t->local_me, t->n_local);
  for (size_t at = s.begin, count, block = WTL_SCRATCH_BYTES / c->size; at < s.end; at += count) {
    const char *source = (const char *)c->source + at * c->size;
    count = s.end - at < block ? s.end - at : block;
    wtl_os_near_access((size_t)t->n_local * count * c->size);
    memcpy(sum, wtl_remote_source(self, source, t->local[0]), count * c->size);
    for (int i = 1; i < t->n_local; i++) c->combine(sum, wtl_remote_source(self, source, t->local[i]), count);
    memcpy(there + at * c->size, sum, count * c->size);
  }
}

/* Combines `count` elements of this leader's share, from all leaders' dest, and stores the sum to all of them. */
static void sum_leaders(const wtl_collective *c, char *here, size_t count)
{
  wtl_pe *self = c->self;
  const wtl_team *t = c->team;
  char *sum = wtl_collective_scratch(c->team), *theirs = sum;
  size_t bytes = count * c->size;
  _Atomic uint32_t left = 0;
  for (int k = 0; k < t->n_nodes; k++)
    if (k != t->node) wtl_get(wtl_collective_op(c, t->leader[k], &left), theirs += bytes, here, bytes);
  wtl_far_wait(self, c->site, &left);
  theirs = sum;
  for (int k = 0; k < t->n_nodes; k++) {
    const char *part = k == t->node ? here : (theirs += bytes);
    if (k == 0)
      memcpy(sum, part, bytes);
    else
      c->combine(sum, part, count);
  }
  memcpy(here, sum, bytes);
  for (int k = 0; k < t->n_nodes; k++)
    if (k != t->node)
      wtl_put((wtl_op){.self = self, .site = c->site, .pe = t->leader[k], .nbi = true}, here, sum, bytes);
  wtl_quiet(self, c->site); /* the sum may be overwritten */
}

static void sum_nodes(const wtl_collective *c)
{
  const wtl_team *t = c->team;
  size_t block = wtl_scratch_bytes(t) / ((size_t)t->n_nodes + 1) / c->size;
  share s = share_of(c->n, t->node, t->n_nodes);
  for (size_t at = s.begin, count; at < s.end; at += count) {
    count = s.end - at < block ? s.end - at : block;
    sum_leaders(c, (char *)c->dest + at * c->size, count);
  }
}

bool wtl_reduce_two_level(const wtl_collective *c)
{
  wtl_team *t = c->team;
  if (!wtl_two_level_applies(c)) return false;
  if (wtl_reduce_few_two_level(c)) return true;
  if (t->n == t->n_nodes) return false; /* there is nothing to combine on a node */
  wtl_team_barrier_led(c->self, c->site, t, NULL, NULL);
  sum_node(c);
  wtl_fence();
  wtl_collective_barrier(c); /* the sums of the nodes are complete */
  if (t->local_me == 0) sum_nodes(c);
  wtl_collective_barrier(c); /* the leaders have the result */
  if (t->local_me != 0) {
    wtl_os_near_access(wtl_collective_bytes(c));
    memcpy(c->dest, wtl_remote(c->self, c->dest, t->local[0]), wtl_collective_bytes(c));
  }
  wtl_team_barrier_led(c->self, c->site, t, NULL, NULL); /* the leaders may change it again */
  return true;
}
