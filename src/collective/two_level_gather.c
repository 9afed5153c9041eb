/*
 * Collectives of a team on several nodes that bring few bytes of all PEs together: fcollect, collect, scans; and
 * alltoall.
 *
 * A gather: each PE's bytes have a place of their own in a message that is zeros elsewhere, the leader of a node puts
 * its PEs' together, and the leaders put theirs together as they would a sum, by OR. One barrier's hops, whoever brings
 * how much.
 *
 * Alltoall: a leader tells each other leader what its PEs have for that node's, in one message, and hears from all of
 * them.
 */
#include "collective/two_level.h"
#include "collective/algorithms.h"

/* --- a gather ---------------------------------------------------------------------------------------------------- */

/* Before a PE's bytes in its stage: where they belong, and how many they are. */
typedef struct piece {
  size_t at, n;
} piece;

static void put_together(void *to, const void *from, size_t n)
{
  uint64_t *all = to;
  const uint64_t *theirs = from;
  for (size_t i = 0; i < n; i++) all[i] |= theirs[i];
}

/* The leader's turn, when all PEs of its node have arrived; what all bring is in its stage then. */
static void lead_gather(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, void *arg)
{
  const wtl_parts *p = arg;
  _Alignas(16) char all[WTL_FAR_BYTES] = {0};
  for (int i = 0; i < t->n_local; i++) {
    const char *stage = wtl_stage_of(self, t, t->local[i]);
    piece own;
    memcpy(&own, stage, sizeof own);
    memcpy(all + own.at, stage + sizeof own, own.n);
  }
  wtl_leaders_exchange(self, site, t, p, all);
  memcpy(wtl_stage_of(self, t, self->me), all, p->bytes);
}

const char *wtl_gather_two_level(wtl_pe *self, wtl_site *site, wtl_team *t, const void *source, size_t n, size_t at,
                               size_t total)
{
  size_t words = (total + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  wtl_parts p = {words, words * sizeof(uint64_t), put_together};
  piece own = {at, n};
  if (!wtl_is_two_level(self, t) || total == 0 || total > WTL_FAR_BYTES) return NULL;
  t->stage_epoch++;
  char *stage = wtl_stage_of(self, t, self->me);
  memcpy(stage, &own, sizeof own);
  if (n) memcpy(stage + sizeof own, source, n);
  wtl_team_barrier_led(self, site, t, lead_gather, &p);
  return wtl_stage_of(self, t, t->local[0]);
}

bool wtl_scan_two_level(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t n, size_t size,
                      wtl_combine_fn combine, bool exclusive)
{
  _Alignas(16) char sum[WTL_FAR_BYTES] = {0};
  size_t bytes = n * size;
  int end = exclusive ? t->me : t->me + 1;
  if (bytes > WTL_FAR_BYTES) return false; /* nor may the product overflow */
  const char *all = wtl_gather_two_level(self, site, t, source, bytes, (size_t)t->me * bytes, (size_t)t->n * bytes);
  if (!all) return false;
  if (end > 0) memcpy(sum, all, bytes);
  for (int i = 1; i < end; i++) combine(sum, all + (size_t)i * bytes, n);
  memcpy(dest, sum, bytes);
  return true;
}

/* --- alltoall ---------------------------------------------------------------------------------------------------- */

/* The nodes of the team's PEs, by number; asked of all, once. NULL: they are too many for that. */
static const int *places(wtl_pe *self, wtl_site *site, wtl_team *t)
{
  int32_t mine = t->node;
  if (t->node_of) return t->node_of;
  const char *all =
      wtl_gather_two_level(self, site, t, &mine, sizeof mine, (size_t)t->me * sizeof mine, (size_t)t->n * sizeof mine);
  if (!all) return NULL;
  wtl_team_keep_places(t, (const int32_t *)(const void *)all);
  return t->node_of;
}

/* Of each node, how many of the team's PEs it has; the most of any. */
static int count_places(const wtl_team *t, const int *node_of, int on[WTL_FAR_SLOTS])
{
  int most = 0;
  for (int k = 0; k < t->n_nodes; k++) on[k] = 0;
  for (int i = 0; i < t->n; i++)
    if (++on[node_of[i]] > most) most = on[node_of[i]];
  return most;
}

typedef struct blocks {
  const int *node_of;
  size_t bytes; /* of a block */
} blocks;

/* To each other node a message: for each of its PEs, what each of ours has for it. */
static void lead_alltoall(wtl_pe *self, wtl_site *site, wtl_team *t, uint32_t epoch, void *arg)
{
  const blocks *b = arg;
  char message[WTL_FAR_BYTES];
  for (int away = 1; away < t->n_nodes; away++) {
    int node = (t->node + away) % t->n_nodes;
    size_t n = 0;
    for (int i = 0; i < t->n; i++)
      for (int k = 0; b->node_of[i] == node && k < t->n_local; k++, n += b->bytes)
        memcpy(message + n, wtl_stage_of(self, t, t->local[k]) + (size_t)i * b->bytes, b->bytes);
    wtl_leader_send(self, t, node, t->node, message, n);
  }
  for (int away = 1; away < t->n_nodes; away++) wtl_leader_receive(self, site, t, (t->node + away) % t->n_nodes);
}

bool wtl_alltoall_two_level(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, size_t to_step, const void *source,
                          size_t from_step, size_t size, size_t n)
{
  int on[WTL_FAR_SLOTS], seen[WTL_FAR_SLOTS] = {0}, most;
  blocks b = {NULL, n * size};
  if (!wtl_is_two_level(self, t) || t->n_nodes > WTL_FAR_SLOTS || b.bytes == 0 || b.bytes > WTL_FAR_BYTES ||
      b.bytes * (size_t)t->n > WTL_STAGE_BYTES || !(b.node_of = places(self, site, t)))
    return false;
  most = count_places(t, b.node_of, on);
  if ((size_t)most * (size_t)most * b.bytes > WTL_FAR_BYTES) return false;
  t->stage_epoch++;
  wtl_copy_blocks(wtl_stage_of(self, t, self->me), size, source, from_step, size, n * (size_t)t->n);
  wtl_team_barrier_led(self, site, t, lead_alltoall, &b);
  for (int i = 0, local = 0; i < t->n; i++) {
    int node = b.node_of[i], k = node == t->node ? local++ : seen[node]++;
    const char *from = node == t->node
                           ? wtl_stage_of(self, t, t->local[k]) + (size_t)t->me * b.bytes
                           : wtl_leader_received(self, t, t->local[0], node) + (size_t)(t->local_me * on[node] + k) * b.bytes;
    wtl_copy_blocks((char *)dest + (size_t)i * n * to_step, to_step, from, size, size, n);
  }
  return true;
}
