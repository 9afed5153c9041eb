/* How transfers to other nodes are waited for: what is known of them here, told to the governor of transfers. */
#include "armci/armci_front.h"

static void note(armci_load *load, enum wtl_transfer_kind kind, uint64_t bytes)
{
  if (bytes >= load->bytes) load->kind = kind;
  load->bytes += bytes;
}

void armci_transfer_requested(const wtl_frame *f, armci_waiter *w, enum wtl_transfer_kind kind, size_t bytes,
                              bool fenced_later)
{
  wtl_transfers *t = f->self->transfers;
  if (!w->blocking) {
    note(w->load, kind, bytes);
    if (fenced_later) wtl_transfer_left(t, kind, bytes);
    return;
  }
  bool at_once = (kind == WTL_PUTS || kind == WTL_GETS) && bytes >= WTL_NET_LARGE; /* else it is copied, or packed */
  wtl_transfer_request(t, &w->transfer, kind, bytes, at_once, fenced_later);
  w->is_transfer = true;
  f->site->history.way = (uint8_t)w->transfer.way;
}

void armci_transfer_ended(const wtl_frame *f, armci_waiter *w)
{
  wtl_transfers *t = f->self->transfers;
  wtl_transfer_posted(t, &w->transfer);
  wtl_request_wait(f->self, f->site, w->request);
  wtl_transfer_done(t, &w->transfer);
  f->site->history.way = WTL_WAY_USUAL;
}

void armci_transfer_awaited(wtl_pe *self, wtl_site *site, armci_load *load, wtl_request *r)
{
  wtl_transfers *t = self->transfers;
  wtl_transfer x;
  if (WTL_LIKELY(!t) || load->bytes == 0 || wtl_request_is_done(r)) {
    wtl_request_wait(self, site, r);
    return;
  }
  wtl_transfer_await(t, &x, load->kind, load->bytes);
  site->history.way = (uint8_t)x.way;
  wtl_request_wait(self, site, r);
  wtl_transfer_done(t, &x);
  site->history.way = WTL_WAY_USUAL;
  *load = (armci_load){0};
}

void armci_fence(wtl_pe *self, wtl_site *site, int proc)
{
  wtl_transfers *t = self->transfers;
  wtl_transfer x;
  bool waits = WTL_UNLIKELY(t != NULL) && (proc < 0 || !wtl_is_near(self, proc)) && wtl_transfer_fence(t, &x);
  if (waits) site->history.way = (uint8_t)x.way;
  wtl_global_fence(self, site, proc);
  if (!waits) return;
  wtl_transfer_fenced(t, &x);
  site->history.way = WTL_WAY_USUAL;
}
