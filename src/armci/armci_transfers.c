/* armci_transfers.c - waits for transfers to other nodes, and informs the governor of transfers about them. */
#include "armci/armci_front.h"

static void note(armci_load *load, enum wtl_transfer_kind kind, uint64_t bytes)
{
  if (bytes >= load->bytes) load->kind = kind;
  load->bytes += bytes;
}

static void request_transfer(armci_op *op, armci_load *load)
{
  wtl_transfers *t = op->global.self->transfers;
  enum wtl_transfer_kind kind = op->transfer_kind;
  bool fenced_later = op->global.kind != WTL_GLOBAL_GET; /* the call may return before the other side has all bytes */
  if (!op->global.blocking) {
    note(load, kind, op->bytes);
    if (fenced_later) wtl_transfer_left(t, kind, op->bytes);
    return;
  }
  bool at_once =
      (kind == WTL_PUTS || kind == WTL_GETS) && op->bytes >= WTL_NET_LARGE; /* otherwise it is copied or packed */
  wtl_transfer_request(t, &op->transfer, kind, op->bytes, at_once, fenced_later);
  op->is_transfer = true;
  op->global.site->history.way = (uint8_t)op->transfer.way;
}

void armci_op_begin(wtl_global_op *global)
{
  armci_op *op = (armci_op *)(void *)global;
  armci_load *load = NULL;
  op->own = (wtl_request){0};
  global->request = global->blocking ? &op->own : armci_request_of(global->self, op->hdl, &load);
  if (WTL_UNLIKELY(global->self->transfers != NULL)) request_transfer(op, load);
}

void armci_op_wait(armci_op *op)
{
  wtl_transfers *t = op->global.self->transfers;
  if (WTL_UNLIKELY(op->is_transfer)) wtl_transfer_posted(t, &op->transfer);
  wtl_global_request_wait(op->global.self, op->global.site, op->global.request);
  if (WTL_LIKELY(!op->is_transfer)) return;
  wtl_transfer_done(t, &op->transfer);
  op->global.site->history.way = WTL_WAY_USUAL;
}

void armci_transfer_awaited(wtl_pe *self, wtl_site *site, armci_load *load, wtl_request *r)
{
  wtl_transfers *t = self->transfers;
  wtl_transfer x;
  if (WTL_LIKELY(!t) || load->bytes == 0 || wtl_global_request_is_done(r)) {
    wtl_global_request_wait(self, site, r);
    return;
  }
  wtl_transfer_await(t, &x, load->kind, load->bytes);
  site->history.way = (uint8_t)x.way;
  wtl_global_request_wait(self, site, r);
  wtl_transfer_done(t, &x);
  site->history.way = WTL_WAY_USUAL;
  *load = (armci_load){0};
}

void armci_fence(wtl_pe *self, wtl_site *site, int proc)
{
  wtl_transfers *t = self->transfers;
  wtl_transfer x;
  bool waits = WTL_UNLIKELY(t != NULL) && (proc < 0 || !wtl_global_is_near(self, proc)) && wtl_transfer_fence(t, &x);
  if (waits) site->history.way = (uint8_t)x.way;
  wtl_global_fence(self, site, proc);
  if (!waits) return;
  wtl_transfer_fenced(t, &x);
  site->history.way = WTL_WAY_USUAL;
}
