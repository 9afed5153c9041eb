/* epochs.c - counts the operations of the open epochs and closes epochs. */
#include "fabric/epochs.h"

/* Invariant: `drained` is `now` (no epoch drains) or `now` - 1. */
static bool advance(wtl_epochs *e)
{
  uint64_t before = e->drained;
  for (;;) {
    if (e->drained < e->now) {
      if (e->left[e->drained & 1]) break;
      e->drained++;
    } else {
      if (e->wanted <= e->now) break;
      e->now++;
    }
  }
  return e->drained != before;
}

unsigned wtl_epoch_begin(wtl_epochs *e)
{
  unsigned in = (unsigned)(e->now & 1);
  e->left[in]++;
  return in;
}

bool wtl_epoch_end(wtl_epochs *e, unsigned begun_in)
{
  return --e->left[begun_in] == 0 && advance(e);
}

uint64_t wtl_epoch_wait(wtl_epochs *e)
{
  uint64_t ticket = e->now;
  e->wanted = ticket + 1;
  advance(e);
  return ticket;
}

bool wtl_epoch_is_over(const wtl_epochs *e, uint64_t ticket)
{
  return e->drained > ticket;
}
