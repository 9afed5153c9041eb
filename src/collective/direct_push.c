/*
 * direct_push.c - collectives of up to 256 KiB among nodes that have one PE each, by direct push. A PE notifies the
 * others that its dest may be written (ready). A notified PE stores its bytes straight there, and then notifies the
 * owner that they are complete (sent). Cost: two small messages and the bytes for each pair of PEs, no barrier. A fetch
 * (gather_direct.c, reduce_direct.c) would take a barrier, a request, the answer, and another barrier.
 *
 * The bytes go in messages that no other message overtakes (below WTL_NET_LARGE), so the notification arrives after
 * them. The slots are those of two_level.h. A PE leaves only after each PE has arrived: it has a message from each, or
 * from a root that has one from each.
 */
#include "collective/two_level.h"

/* The largest number of bytes from one PE to another. Longer blocks are as fast by fetches. */
enum { MOST_PUSHED = 256 * 1024 };

/* The slots of one node's PE at the others. */
enum { READY, SENT, SLOTS_EACH };

static bool fits(const wtl_collective *c, size_t bytes)
{
  const wtl_team *t = c->team;
  return bytes <= MOST_PUSHED && t->n == t->n_nodes && t->n * SLOTS_EACH <= WTL_FAR_SLOTS && wtl_two_level_applies(c);
}

static void notify(const wtl_collective *c, int node, int what)
{
  wtl_leader_notify(c, node, c->team->node * SLOTS_EACH + what);
}

static void await(const wtl_collective *c, int node, int what)
{
  wtl_leader_receive(c, node * SLOTS_EACH + what);
}

/* The nodes after this one, and then those before it, so that not all send to the same node. */
static int other(const wtl_team *t, int away)
{
  return (t->node + away) % t->n_nodes;
}

/* Notifies the others that they may write to this PE's dest. */
static void begin(const wtl_collective *c)
{
  c->team->stage_epoch++;
  for (int away = 1; away < c->team->n_nodes; away++) notify(c, other(c->team, away), READY);
}

static void send(const wtl_collective *c, int node, char *dest, const char *source, size_t bytes,
                 _Atomic uint32_t *left)
{
  wtl_leader_push(c, node, dest, source, bytes, left);
  notify(c, node, SENT);
}

/* Sends this PE's bytes to `dest` of each PE, this one included. Their place in the source is `step` bytes further
 * for each number in the team. */
static bool exchange(const wtl_collective *c, char *dest, size_t step)
{
  const wtl_team *t = c->team;
  const char *source = c->source;
  size_t n = wtl_collective_bytes(c);
  _Atomic uint32_t left = 0;
  begin(c);
  if (n) memmove(dest, source + (size_t)t->me * step, n);
  for (int away = 1; away < t->n_nodes; away++) {
    int node = other(t, away), i = wtl_team_number(c->self, t, t->leader[node]);
    await(c, node, READY);
    send(c, node, dest, source + (size_t)i * step, n, &left);
  }
  for (int away = 1; away < t->n_nodes; away++) await(c, other(t, away), SENT);
  wtl_far_wait(c->self, c->site, &left);
  return true;
}

/* For a collect, the sum of all contributions counts as the largest one, because each PE knows only its own
 * contribution and the sum. */
bool wtl_gather_push(const wtl_collective *c)
{
  size_t most = c->starts ? c->starts[c->team->n] : wtl_collective_bytes(c);
  return fits(c, most) && exchange(c, (char *)c->dest + wtl_collective_block_begin(c, c->team->me), 0);
}

bool wtl_alltoall_push(const wtl_collective *c)
{
  size_t block = wtl_collective_bytes(c);
  bool dense = c->dest_stride == c->size && c->source_stride == c->size;
  return dense && fits(c, block) && exchange(c, (char *)c->dest + (size_t)c->team->me * block, block);
}

/* The root sends when all are ready. So a PE that has received its bytes knows that all have arrived. */
bool wtl_broadcast_push(const wtl_collective *c)
{
  const wtl_team *t = c->team;
  size_t bytes = wtl_collective_bytes(c);
  _Atomic uint32_t left = 0;
  if (!fits(c, bytes)) return false;
  c->team->stage_epoch++;
  if (t->me != c->root) {
    int node = 0;
    while (t->leader[node] != wtl_team_pe(c->self, t, c->root)) node++;
    notify(c, node, READY);
    await(c, node, SENT);
    return true;
  }
  for (int away = 1; away < t->n_nodes; away++) await(c, other(t, away), READY);
  for (int away = 1; away < t->n_nodes; away++) send(c, other(t, away), c->dest, c->source, bytes, &left);
  if (c->to_root && c->dest != c->source) memmove(c->dest, c->source, bytes);
  wtl_far_wait(c->self, c->site, &left);
  return true;
}

/* Stores a op b, in that order, to dest, which is one of them. */
static void sum_in_order(const wtl_collective *c, const char *a, const char *b)
{
  char *sum = wtl_collective_scratch(c->team), *to = c->dest;
  size_t block = WTL_SCRATCH_BYTES / c->size;
  if (to == a) {
    c->combine(to, b, c->n);
    return;
  }
  for (size_t at = 0, count; at < c->n; at += count) {
    count = c->n - at < block ? c->n - at : block;
    memcpy(sum, a + at * c->size, count * c->size);
    c->combine(sum, b + at * c->size, count);
    memcpy(to + at * c->size, sum, count * c->size);
  }
}

/* With two PEs, each receives the other's contribution in its own dest and combines it there. Parts of the result
 * would cross the network twice. */
bool wtl_reduce_push(const wtl_collective *c)
{
  const wtl_team *t = c->team;
  size_t bytes = wtl_collective_bytes(c);
  _Atomic uint32_t left = 0;
  if (t->n != 2 || c->dest == c->source || !fits(c, bytes)) return false;
  int node = other(t, 1);
  begin(c);
  await(c, node, READY);
  send(c, node, c->dest, c->source, bytes, &left);
  await(c, node, SENT);
  sum_in_order(c, t->me ? c->dest : c->source, t->me ? c->source : c->dest);
  wtl_far_wait(c->self, c->site, &left);
  return true;
}
