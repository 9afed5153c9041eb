/* ofi_rma.c - puts and gets by libfabric. */
#include "fabric/ofi/ofi_rma.h"

#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

int wtl_ofi_rma_offer(wtl_ofi_rma *r, void *start, size_t n, void *key, size_t *length)
{
  wtl_ofi_region *l = wtl_ofi_region_new(r->memory);
  uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE;
  if (!l || *length < sizeof l->key) return -1;
  if (wtl_ofi_memory_register(r->memory, start, n, access, &l->mr) != 0) return -1;
  l->start = start;
  l->n = n;
  l->key = fi_mr_key(l->mr);
  if (l->key == FI_KEY_NOTAVAIL) return -1;
  memcpy(key, &l->key, *length = sizeof l->key);
  return 0;
}

void *wtl_ofi_rma_accept(wtl_ofi_rma *r, const void *key)
{
  wtl_ofi_region *l = wtl_ofi_region_new(r->memory);
  if (l) memcpy(&l->key, key, sizeof l->key);
  return l;
}

/* Makes a copy of memory that is not registered. False: no buffer is free yet. */
static bool make_copy(wtl_ofi_rma *r, wtl_ofi_operation *o)
{
  if (!(o->copy = wtl_ofi_copy_take(r->memory, o->n))) return false;
  if (o->is_put) memcpy(o->copy->bytes, o->here, o->n);
  return true;
}

/* False: it cannot start yet. Another failure ends the job as a lost connection does: it is never done. */
static bool start(wtl_ofi_rma *r, wtl_ofi_operation *o)
{
  wtl_ofi_memory *m = r->memory;
  const wtl_ofi_region *registered = m->is_needed && !o->copy ? wtl_ofi_region_find(m, o->here, o->n) : NULL;
  if (m->is_needed && !registered && !o->copy && !make_copy(r, o)) return false;
  struct fid_mr *mr = o->copy ? m->copies_mr : registered ? registered->mr : NULL;
  void *description = mr ? fi_mr_desc(mr) : NULL;
  struct iovec here = {o->copy ? o->copy->bytes : o->here, o->n};
  struct fi_rma_iov there = {o->address, o->n, o->key};
  struct fi_msg_rma what = {.msg_iov = &here,
                            .desc = mr ? &description : NULL,
                            .iov_count = 1,
                            .addr = o->to,
                            .rma_iov = &there,
                            .rma_iov_count = 1,
                            .context = &o->context};
  ssize_t rc = o->is_put ? fi_writemsg(m->ep, &what, FI_COMPLETION | FI_DELIVERY_COMPLETE)
                         : fi_readmsg(m->ep, &what, FI_COMPLETION);
  return rc != -FI_EAGAIN;
}

void wtl_ofi_rma_begin(wtl_ofi_rma *r, int pe, fi_addr_t to, const wtl_transport_rma *what, bool is_put)
{
  const wtl_ofi_region *region = what->key->handle;
  uint64_t base = (r->memory->mr_mode & FI_MR_VIRT_ADDR) ? what->key->address : 0; /* else keys count from 0 */
  wtl_ofi_operation *o = malloc(sizeof *o);
  if (!o) abort();
  *o = (wtl_ofi_operation){.kind = WTL_OFI_RMA,
                           .is_put = is_put,
                           .epoch = r->epoch,
                           .pe = pe,
                           .to = to,
                           .address = base + what->offset,
                           .key = region->key,
                           .here = what->here,
                           .n = what->n,
                           .done = what->done,
                           .arg = what->arg};
  if (is_put) r->puts[r->epoch]++;
  if (!r->queue && start(r, o)) return;
  if (!r->queue) r->queue_end = &r->queue;
  *r->queue_end = o;
  r->queue_end = &o->next;
}

void wtl_ofi_rma_continue(wtl_ofi_rma *r)
{
  for (wtl_ofi_operation *o; (o = r->queue) != NULL;) {
    wtl_ofi_operation *next = o->next; /* a completion may free it */
    if (!start(r, o)) return;
    r->queue = next;
  }
}

static void end_flush(wtl_ofi_rma *r)
{
  wtl_done_fn flushed = r->flushed;
  if (!flushed || r->puts[!r->epoch]) return;
  r->flushed = NULL;
  flushed(r->flushed_arg);
}

/* The puts so far are those of one epoch: the flush before has waited for the others. */
void wtl_ofi_rma_flush(wtl_ofi_rma *r, wtl_done_fn done, void *arg)
{
  r->epoch = !r->epoch;
  r->flushed = done;
  r->flushed_arg = arg;
  end_flush(r);
}

void wtl_ofi_rma_ended(wtl_ofi_rma *r, wtl_ofi_operation *o)
{
  wtl_ofi_operation ended = *o;
  if (o->copy && !o->is_put) memcpy(o->here, o->copy->bytes, o->n);
  if (o->copy) wtl_ofi_copy_return(r->memory, o->copy);
  free(o);
  if (ended.is_put) r->puts[ended.epoch]--;
  ended.done(ended.arg);
  end_flush(r);
}
