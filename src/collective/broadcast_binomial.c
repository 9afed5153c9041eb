/*
 * broadcast_binomial.c - a broadcast of up to WTL_FAR_BYTES to several nodes, by a binomial tree of the nodes' leaders.
 * The tree is described in Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
 * MPICH", 2005. Cost: log2(nodes) hops, one message a node, no barrier.
 *
 * The PEs of a node read what its leader received; those of the root's node read what the root wrote. No PE waits for a
 * later one. Each PE has several slots, and all use them in rotation, as the lines of flat_tree.c. When all slots have
 * been used since the last barrier, there is a barrier.
 */
#include <stddef.h>

#include "collective/two_level.h"

/* The header in front of the bytes. The tree begins at the root's node. */
typedef struct head {
  int64_t root_node;
} head;

/* Sends from the root, or from a leader that has received, to the leaders below it in the tree. */
static void send_down(const wtl_collective *c, uint32_t epoch, const char *data, size_t n)
{
  const wtl_team *t = c->team;
  head h;
  memcpy(&h, data, sizeof h);
  size_t slot = epoch % WTL_SMALL_LINES, entry = wtl_entry_offset(t->entry);
  int nodes = t->n_nodes, i = (t->node - (int)h.root_node + nodes) % nodes, bit = 1;
  while (bit < nodes && !(i & bit)) bit <<= 1;
  for (bit >>= 1; bit; bit >>= 1)
    if (i + bit < nodes)
      wtl_far_entry_put_signal(c->self, t->leader[(t->node + bit) % nodes],
                               entry + offsetof(wtl_team_entry, forwarded) + slot * WTL_FAR_BYTES, data, n,
                               entry + offsetof(wtl_team_entry, forwarded_epochs) + slot * sizeof epoch, epoch);
}

bool wtl_broadcast_binomial(const wtl_collective *c)
{
  wtl_pe *self = c->self;
  wtl_team *t = c->team;
  size_t bytes = wtl_collective_bytes(c);
  if (!wtl_two_level_applies(c) || bytes > WTL_FAR_BYTES - sizeof(head)) return false;
  uint32_t epoch = wtl_flat_begin(c);
  int from = wtl_team_pe(self, t, c->root), keeper = self->slot_of[from] >= 0 ? from : t->local[0];
  wtl_team_entry *entry = wtl_entry_of(self, keeper, t->entry);
  _Atomic uint32_t *arrived = &entry->forwarded_epochs[epoch % WTL_SMALL_LINES];
  char *data = entry->forwarded[epoch % WTL_SMALL_LINES];
  if (t->me == c->root) {
    memcpy(data, &(head){t->node}, sizeof(head));
    if (bytes) memcpy(data + sizeof(head), c->source, bytes);
    atomic_store_explicit(arrived, epoch, memory_order_seq_cst);
  } else {
    wtl_wait_word(self, c->site, arrived, epoch);
  }
  if (self->me == keeper) {
    send_down(c, epoch, data, sizeof(head) + bytes);
    wtl_flat_wake(c);
  }
  if (bytes && (t->me != c->root || c->to_root)) memmove(c->dest, data + sizeof(head), bytes);
  return true;
}
