/*
 * A broadcast of few bytes to several nodes, one way: the root tells some nodes' leaders, they tell others (a binomial
 * tree, log2(nodes) hops), and the PEs of a node read what its leader was told, those of the root's what the root says.
 * Nobody waits for those that are late.
 *
 * Each has several slots for what it is told and all use them by turns, as the lines of flat.c: when all have been
 * used since the last barrier, a barrier.
 */
#include <stddef.h>

#include "collective/two_level.h"

/* In front of the bytes: whose node is the first. */
typedef struct head {
  int64_t root_node;
} head;

/* From a PE that has heard, or says it, to the leaders that it has to tell. */
static void pass_on(wtl_pe *self, wtl_team *t, uint32_t epoch, const char *what, size_t n)
{
  head h;
  memcpy(&h, what, sizeof h);
  size_t slot = epoch % WTL_SMALL_LINES, room = wtl_room_offset(t->room);
  int nodes = t->n_nodes, i = (t->node - (int)h.root_node + nodes) % nodes, bit = 1;
  while (bit < nodes && !(i & bit)) bit <<= 1;
  for (bit >>= 1; bit; bit >>= 1)
    if (i + bit < nodes)
      wtl_far_room_tell(self, t->leader[(t->node + bit) % nodes],
                        room + offsetof(wtl_room, passed) + slot * WTL_FAR_BYTES, what, n,
                        room + offsetof(wtl_room, passed_said) + slot * sizeof epoch, epoch);
}

bool wtl_broadcast_binomial(wtl_pe *self, wtl_site *site, wtl_team *t, void *dest, const void *source, size_t bytes,
                          int root, bool to_root)
{
  if (!wtl_is_two_level(self, t) || bytes > WTL_FAR_BYTES - sizeof(head)) return false;
  uint32_t epoch = wtl_flat_begin(self, site, t);
  int from = wtl_team_pe(self, t, root), keeper = self->slot_of[from] >= 0 ? from : t->local[0];
  wtl_room *room = wtl_room_of(self, keeper, t->room);
  _Atomic uint32_t *said = &room->passed_said[epoch % WTL_SMALL_LINES];
  char *what = room->passed[epoch % WTL_SMALL_LINES];
  if (t->me == root) {
    memcpy(what, &(head){t->node}, sizeof(head));
    if (bytes) memcpy(what + sizeof(head), source, bytes);
    atomic_store_explicit(said, epoch, memory_order_seq_cst);
  } else {
    wtl_wait_word(self, site, said, epoch);
  }
  if (self->me == keeper) {
    pass_on(self, t, epoch, what, sizeof(head) + bytes);
    wtl_flat_wake(self, t);
  }
  if (bytes && (t->me != root || to_root)) memmove(dest, what + sizeof(head), bytes);
  return true;
}
