/*
 * gather_two_level.c - gathers, scans and alltoall of few bytes of a team on several nodes, through one leader a node.
 *
 * A gather is a reduction by OR. The bytes of each PE have their own place in a message of up to WTL_FAR_BYTES, which
 * is zero elsewhere. The leader of a node combines those of its PEs, and the leaders exchange by recursive doubling.
 * Cost: one barrier, log2(nodes) rounds of the whole message. In a scan the PEs gather, and each combines what it
 * needs.
 *
 * In an alltoall a leader sends one message to each other leader. It holds the blocks of all PEs of the sending node
 * for all PEs of the receiving one. Cost: one barrier, a message for each pair of nodes.
 */
#include "collective/algorithms.h"
#include "collective/two_level.h"

/* --- gathers ----------------------------------------------------------------------------------------------------- */

/* The header of a PE's bytes in its stage: their place and their number. */
typedef struct piece {
  size_t at, n;
} piece;

static void combine_by_or(void *to, const void *from, size_t n)
{
  uint64_t *all = to;
  const uint64_t *theirs = from;
  for (size_t i = 0; i < n; i++) all[i] |= theirs[i];
}

/* Runs on the leader when all PEs of its node have arrived. It leaves all contributions in its stage. */
static void lead_gather(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, const void *arg)
{
  const wtl_collective *words = arg;
  _Alignas(16) char all[WTL_FAR_BYTES] = {0};
  for (int i = 0; i < t->n_local; i++) {
    const char *stage = wtl_stage_of(words, t->local[i]);
    piece own;
    memcpy(&own, stage, sizeof own);
    memcpy(all + own.at, stage + sizeof own, own.n);
  }
  wtl_leaders_exchange(words, all);
  memcpy(wtl_stage_of(words, self->me), all, wtl_collective_bytes(words));
}

/*
 * Gathers this PE's bytes at `at` of `total`. Returns all contributions, aligned to 16 bytes. They stay until this PE
 * begins the collective after the next. Returns NULL, on all PEs alike, if there are too many bytes or the algorithm
 * does not apply.
 */
static const char *gather(const wtl_collective *c, size_t at, size_t total)
{
  wtl_team *t = c->team;
  piece own = {at, wtl_collective_bytes(c)};
  const size_t n = (total + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  const wtl_collective words = {c->self, c->site, t, .n = n, .size = sizeof(uint64_t), .combine = combine_by_or};
  if (!wtl_two_level_applies(c) || total == 0 || total > WTL_FAR_BYTES) return NULL;
  t->stage_epoch++;
  char *stage = wtl_stage_of(c, c->self->me);
  memcpy(stage, &own, sizeof own);
  if (own.n) memcpy(stage + sizeof own, c->source, own.n);
  wtl_team_barrier_led(c->self, c->site, t, lead_gather, &words);
  return wtl_stage_of(c, t->local[0]);
}

/* Gathers the bytes of every PE in the order of the team. */
static const char *gather_all(const wtl_collective *c)
{
  if (wtl_collective_bytes(c) > WTL_FAR_BYTES) return NULL; /* the product must not overflow */
  return gather(c, wtl_collective_block_begin(c, c->team->me), wtl_collective_block_begin(c, c->team->n));
}

bool wtl_gather_two_level(const wtl_collective *c)
{
  const char *all = gather_all(c);
  if (all) memcpy(c->dest, all, wtl_collective_block_begin(c, c->team->n));
  return all != NULL;
}

bool wtl_gather_words(const wtl_collective *c)
{
  enum { AT_ONCE = WTL_FAR_BYTES / sizeof(uint64_t) };
  wtl_team *t = c->team;
  if (!wtl_two_level_applies(c)) return false;
  for (int first = 0, count; first < t->n; first += count) {
    count = t->n - first < AT_ONCE ? t->n - first : AT_ONCE;
    bool mine = t->me >= first && t->me < first + count;
    const wtl_collective part = {c->self, c->site, t, .source = c->source, .n = mine, .size = sizeof(uint64_t)};
    size_t at = mine ? (size_t)(t->me - first) * sizeof(uint64_t) : 0;
    const char *all = gather(&part, at, (size_t)count * sizeof(uint64_t));
    memcpy((uint64_t *)c->dest + first, all, (size_t)count * sizeof(uint64_t));
  }
  return true;
}

bool wtl_scan_two_level(const wtl_collective *c)
{
  _Alignas(16) char sum[WTL_FAR_BYTES] = {0};
  size_t bytes = wtl_collective_bytes(c);
  int end = wtl_scan_end(c);
  const char *all = gather_all(c);
  if (!all) return false;
  if (end > 0) memcpy(sum, all, bytes);
  for (int i = 1; i < end; i++) c->combine(sum, all + (size_t)i * bytes, c->n);
  memcpy(c->dest, sum, bytes);
  return true;
}

/* --- alltoall ---------------------------------------------------------------------------------------------------- */

/* Returns the nodes of the team's PEs, by number in the team. They are gathered once. NULL: there are too many PEs
 * for a gather. */
static const int *nodes_of_all(const wtl_collective *c)
{
  wtl_team *t = c->team;
  int32_t mine = t->node;
  const wtl_collective nodes = {c->self, c->site, t, .source = &mine, .n = 1, .size = sizeof mine};
  if (t->node_of) return t->node_of;
  const char *all = gather_all(&nodes);
  if (!all) return NULL;
  wtl_team_keep_places(t, (const int32_t *)(const void *)all);
  return t->node_of;
}

/* Counts the PEs of the team on each node. Returns the largest number. */
static int count_places(const wtl_team *t, int on[WTL_FAR_SLOTS])
{
  int most = 0;
  for (int k = 0; k < t->n_nodes; k++) on[k] = 0;
  for (int i = 0; i < t->n; i++)
    if (++on[t->node_of[i]] > most) most = on[t->node_of[i]];
  return most;
}

/* Runs on the leader. Sends a message to each other node: for each PE of that node, the blocks of all PEs of this
 * node. */
static void lead_alltoall(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, const void *arg)
{
  const wtl_collective *c = arg;
  size_t block = wtl_collective_bytes(c);
  char message[WTL_FAR_BYTES];
  for (int away = 1; away < t->n_nodes; away++) {
    int node = (t->node + away) % t->n_nodes;
    size_t n = 0;
    for (int i = 0; i < t->n; i++)
      for (int k = 0; t->node_of[i] == node && k < t->n_local; k++, n += block)
        memcpy(message + n, wtl_stage_of(c, t->local[k]) + (size_t)i * block, block);
    wtl_leader_send(c, node, t->node, message, n);
  }
  for (int away = 1; away < t->n_nodes; away++) wtl_leader_receive(c, (t->node + away) % t->n_nodes);
}

bool wtl_alltoall_two_level(const wtl_collective *c)
{
  wtl_team *t = c->team;
  int on[WTL_FAR_SLOTS], seen[WTL_FAR_SLOTS] = {0};
  size_t block = wtl_collective_bytes(c);
  if (!wtl_two_level_applies(c) || t->n_nodes > WTL_FAR_SLOTS || block == 0 || block > WTL_FAR_BYTES ||
      block * (size_t)t->n > WTL_STAGE_BYTES || !nodes_of_all(c))
    return false;
  size_t most = (size_t)count_places(t, on);
  if (most * most * block > WTL_FAR_BYTES) return false;
  t->stage_epoch++;
  wtl_copy_blocks(wtl_stage_of(c, c->self->me), c->size, c->source, c->source_stride, c->size, c->n * (size_t)t->n);
  wtl_team_barrier_led(c->self, c->site, t, lead_alltoall, c);
  for (int i = 0, local = 0; i < t->n; i++) {
    int node = t->node_of[i], k = node == t->node ? local++ : seen[node]++;
    const char *from = node == t->node
                           ? wtl_stage_of(c, t->local[k]) + (size_t)t->me * block
                           : wtl_leader_received(c, t->local[0], node) + (size_t)(t->local_me * on[node] + k) * block;
    wtl_copy_blocks((char *)c->dest + (size_t)i * c->n * c->dest_stride, c->dest_stride, from, c->size, c->size, c->n);
  }
  return true;
}
