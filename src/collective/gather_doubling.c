/*
 * gather_doubling.c - fcollect and collect among many nodes, by messages of the leaders that double in length.
 *
 * The PEs of a node store their bytes to the dest of their leader. In round k each leader sends the bytes of 2^k nodes,
 * from its own node on, to the leader 2^k nodes before it. They go straight into that leader's dest, at their final
 * places. The others of a node copy the result from their leader (Bruck et al. 1997). Cost: log2(nodes) messages of
 * each leader, each byte once to each node, and one barrier. Fetches (gather_direct.c) take two messages for each pair
 * of PEs, and a connection for each pair.
 *
 * The bytes of a node must be contiguous in dest. So each node's PEs follow each other in the team, which the PEs find
 * out once for a team.
 *
 * A leader's dest may be written, because all PEs have arrived before. The notification arrives after the bytes, as in
 * direct_push.c. A leader returns when its own messages have left, so its dest may be changed.
 */
#include "collective/two_level.h"

enum { FEWEST_NODES = 4, MOST_BYTES_EACH = 256 * 1024 };

static int number_of(const wtl_collective *c, int pe)
{
  return wtl_team_number(c->self, c->team, pe);
}

/* The number in the team of the first PE of a node. For the node after the last one: the number of PEs. */
static int first_of(const wtl_collective *c, int node)
{
  return node < c->team->n_nodes ? number_of(c, c->team->leader[node]) : c->team->n;
}

static bool node_is_in_order(const wtl_collective *c)
{
  const wtl_team *t = c->team;
  int first = first_of(c, t->node);
  for (int i = 0; i < t->n_local; i++)
    if (number_of(c, t->local[i]) != first + i) return false;
  return first_of(c, t->node + 1) == first + t->n_local;
}

static void combine_by_and(void *to, const void *from, size_t n)
{
  *(uint64_t *)to &= *(const uint64_t *)from;
}

/* Do the PEs of each node follow each other in the team? All PEs get the same answer. */
static bool all_are_in_order(const wtl_collective *c)
{
  wtl_team *t = c->team;
  if (t->order == WTL_ORDER_UNKNOWN) {
    uint64_t mine = node_is_in_order(c), all = 0;
    const wtl_collective ask = {
        c->self, c->site, t, &all, &mine, .n = 1, .size = sizeof all, .combine = combine_by_and};
    if (!wtl_reduce_few_two_level(&ask)) return false;
    t->order = all ? WTL_ORDER_BY_NODE : WTL_ORDER_MIXED;
  }
  return t->order == WTL_ORDER_BY_NODE;
}

/* Sends what this leader has of the nodes from `first` up to `end` to the same places at another leader. */
static void push_nodes(const wtl_collective *c, int to, int first, int end, _Atomic uint32_t *left)
{
  size_t begin = wtl_collective_block_begin(c, first_of(c, first));
  size_t bytes = wtl_collective_block_begin(c, first_of(c, end)) - begin;
  char *place = (char *)c->dest + begin;
  wtl_leader_push(c, to, place, place, bytes, left);
}

/* Runs on the leader when all PEs of its node have stored their bytes to its dest. */
static void lead(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, const void *arg)
{
  const wtl_collective *c = arg;
  const int n = t->n_nodes;
  _Atomic uint32_t left = 0;
  for (int k = 0, have = 1; have < n; k++, have *= 2) {
    int to = (t->node - have + n) % n, count = have < n - have ? have : n - have, end = t->node + count;
    push_nodes(c, to, t->node, end < n ? end : n, &left);
    if (end > n) push_nodes(c, to, 0, end - n, &left);
    wtl_leader_notify(c, to, k);
    wtl_leader_receive(c, k);
  }
  wtl_far_wait(self, site, &left);
}

/* Stores this PE's bytes to the dest of its leader. */
static void store_own(const wtl_collective *c)
{
  char *place = (char *)c->dest + wtl_collective_block_begin(c, c->team->me);
  size_t n = wtl_collective_bytes(c);
  if (n) {
    wtl_os_near_access(n);
    memmove(wtl_remote(c->self, place, c->team->local[0]), c->source, n);
  }
  wtl_fence();
}

bool wtl_gather_doubling(const wtl_collective *c)
{
  wtl_pe *self = c->self;
  wtl_team *t = c->team;
  size_t all = wtl_collective_block_begin(c, t->n);
  if (!wtl_two_level_applies(c) || t->n_nodes < FEWEST_NODES || all / (size_t)t->n > MOST_BYTES_EACH ||
      !all_are_in_order(c))
    return false;
  if (!c->starts) wtl_collective_barrier(c); /* else all have arrived with their sizes */
  t->stage_epoch++;
  store_own(c);
  wtl_team_barrier_led(self, c->site, t, lead, c);
  if (t->local_me != 0) {
    wtl_os_near_access(all);
    memcpy(c->dest, wtl_remote(self, c->dest, t->local[0]), all);
  }
  wtl_team_barrier_led(self, c->site, t, NULL, NULL); /* the leader may change its dest; all nodes count it */
  return true;
}
