#include "pgas/far.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "pgas/near.h"

/* --- waiting for the network ------------------------------------------------------------------------------------- */

static bool has_room(void *net)
{
  return wtl_net_has_room(net);
}

static bool is_zero(void *left)
{
  return atomic_load_explicit((_Atomic uint32_t *)left, memory_order_acquire) == 0;
}

typedef struct flush {
  const wtl_net *net;
  uint64_t number;
} flush;

static bool is_over(void *arg)
{
  const flush *f = arg;
  return wtl_net_flushed(f->net, f->number);
}

static void wait_for(wtl_pe *self, wtl_site *site, bool (*ready)(void *), void *arg)
{
  if (!ready(arg)) wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, ready, arg);
}

/* --- operations -------------------------------------------------------------------------------------------------- */

wtl_place wtl_far_place(const wtl_pe *self, const void *addr)
{
  size_t at = (size_t)((const char *)addr - self->heap);
  if (at < self->heap_bytes) return (wtl_place){self->statics_bytes + at, WTL_REGION_SLICE};
  at = (size_t)((const char *)addr - self->statics);
  if (at >= self->statics_bytes && wtl_is_constant(self, addr))
    return (wtl_place){(uintptr_t)addr, WTL_REGION_CONSTANTS};
  return (wtl_place){at, WTL_REGION_SLICE};
}

static size_t step_of(size_t n)
{
  return n < WTL_NET_MOST ? n : WTL_NET_MOST;
}

void wtl_far_wait(wtl_pe *self, wtl_site *site, _Atomic uint32_t *left)
{
  wait_for(self, site, is_zero, left);
}

static void put_piece(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe, wtl_place at, const void *from,
                      size_t n, enum wtl_net_manner manner, _Atomic uint32_t *left)
{
  wait_for(self, site, has_room, self->net);
  if (wtl_net_put(self->net, flow, pe, at, from, n, manner, left)) wtl_agent_attend(self->agent);
}

void wtl_far_put_at(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe, wtl_place at, const void *source,
                    size_t n, enum wtl_net_manner manner, _Atomic uint32_t *left)
{
  const char *from = source;
  for (size_t step; n > 0; n -= step, from += step, at.offset += step) {
    step = step_of(n);
    put_piece(self, flow, site, pe, at, from, step, step < n && manner <= WTL_NET_HELD ? WTL_NET_MORE : manner, left);
  }
}

void wtl_far_get_at(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe, wtl_place at, void *dest, size_t n,
                    _Atomic uint32_t *left)
{
  char *to = dest;
  if (WTL_UNLIKELY(at.region == WTL_REGION_CONSTANTS)) {
    memcpy(dest, (const void *)(uintptr_t)at.offset, n);
    return;
  }
  for (size_t step; n > 0; n -= step, to += step, at.offset += step) {
    step = step_of(n);
    wait_for(self, site, has_room, self->net);
    wtl_net_get(self->net, flow, pe, at, to, step, left);
  }
}

void wtl_far_amo_at(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe, wtl_place at, enum wtl_net_op op,
                    size_t size, uint64_t operand, uint64_t condition, void *result, _Atomic uint32_t *left)
{
  wait_for(self, site, has_room, self->net);
  if (result)
    wtl_net_fetching_amo(self->net, flow, pe, at, op, size, operand, condition, result, left);
  else if (wtl_net_amo(self->net, flow, pe, at, op, size, operand, left ? WTL_NET_NOW : WTL_NET_HELD))
    wtl_agent_attend(self->agent);
}

void wtl_far_put(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, const void *source, size_t n, int pe,
                 bool nbi)
{
  _Atomic uint32_t left = 0;
  wtl_far_put_at(self, flow, site, pe, wtl_far_place(self, dest), source, n, nbi ? WTL_NET_HELD : WTL_NET_NOW,
                 nbi ? NULL : &left);
  wait_for(self, site, is_zero, &left);
}

void wtl_far_get(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, const void *source, size_t n, int pe,
                 bool nbi)
{
  _Atomic uint32_t left = 0;
  wtl_far_get_at(self, flow, site, pe, wtl_far_place(self, source), dest, n, nbi ? NULL : &left);
  wait_for(self, site, is_zero, &left);
}

void wtl_far_amo(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, int pe, enum wtl_net_op op, size_t size,
                 uint64_t operand, uint64_t condition, void *result, bool nbi)
{
  _Atomic uint32_t left = 0;
  wtl_far_amo_at(self, flow, site, pe, wtl_far_place(self, dest), op, size, operand, condition, result,
                 nbi ? NULL : &left);
  wait_for(self, site, is_zero, &left);
}

void wtl_far_put_signal(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, const void *source, size_t n,
                        uint64_t *sig, uint64_t signal, bool adds, int pe, bool nbi)
{
  _Atomic uint32_t left = 0;
  bool together = n <= WTL_NET_MERGED;
  if (n)
    wtl_far_put_at(self, flow, site, pe, wtl_far_place(self, dest), source, n, together ? WTL_NET_AHEAD : WTL_NET_MORE,
                   nbi ? NULL : &left);
  if (!together) wtl_far_order(self, flow, site); /* waits only where the signal could overtake the data */
  wtl_far_amo(self, flow, site, sig, pe, adds ? WTL_NET_ADD : WTL_NET_SET, sizeof *sig, signal, 0, NULL, nbi && n);
  wait_for(self, site, is_zero, &left);
}

/* All blocks are on their way before the first one is waited for. */
void wtl_far_put_blocks(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, size_t to_step,
                        const void *source, size_t from_step, size_t block, size_t blocks, int pe)
{
  _Atomic uint32_t left = 0;
  wtl_place first = wtl_far_place(self, dest);
  for (size_t i = 0; i < blocks; i++)
    for (size_t done = 0, step; done < block; done += step) {
      wtl_place at = {first.offset + i * to_step + done, first.region};
      step = step_of(block - done);
      put_piece(self, flow, site, pe, at, (const char *)source + i * from_step + done, step, WTL_NET_HELD, &left);
    }
  wait_for(self, site, is_zero, &left);
}

void wtl_far_get_blocks_at(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe, wtl_place at, void *dest,
                           size_t to_step, size_t from_step, size_t block, size_t blocks, _Atomic uint32_t *left)
{
  for (size_t i = 0; i < blocks; i++)
    wtl_far_get_at(self, flow, site, pe, (wtl_place){at.offset + i * from_step, at.region}, (char *)dest + i * to_step,
                   block, left);
}

void wtl_far_get_blocks(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, void *dest, size_t to_step,
                        const void *source, size_t from_step, size_t block, size_t blocks, int pe)
{
  _Atomic uint32_t left = 0;
  wtl_far_get_blocks_at(self, flow, site, pe, wtl_far_place(self, source), dest, to_step, from_step, block, blocks,
                        &left);
  wait_for(self, site, is_zero, &left);
}

static void flush_all(wtl_pe *self, wtl_site *site)
{
  flush f = {self->net, wtl_net_flush(self->net)};
  wait_for(self, site, is_over, &f);
}

/* A bin, which opens again when turn `until` is over. */
typedef struct bin {
  const wtl_net_bins *of;
  uint64_t number, until;
} bin;

static bool was_empty(void *arg)
{
  const bin *b = arg;
  return b->of->left[b->number] == 0 || b->of->turn > b->until;
}

void wtl_far_pe_quiet(wtl_pe *self, wtl_net_flow *flow, wtl_site *site, int pe)
{
  if (!flow && pe < 0) {
    flush_all(self, site);
    return;
  }
  wtl_net_bins *bins = wtl_net_bins_of(self->net, flow, pe);
  wtl_net_covered all = wtl_net_flow_flush(self->net, flow, pe);
  wait_for(self, site, was_empty, &(bin){bins, (all.turn + 1) & 1, all.turn});
  wtl_net_flow_turn(self->net, bins, all.turn);
  wait_for(self, site, was_empty, &(bin){bins, all.turn & 1, all.turn + 1});
  if (all.by_hardware > bins->flushed) flush_all(self, site);
  wtl_net_flow_flushed(self->net, flow, bins, all);
}

void wtl_far_quiet(wtl_pe *self, wtl_net_flow *flow, wtl_site *site)
{
  wtl_far_pe_quiet(self, flow, site, -1);
}

void wtl_far_order(wtl_pe *self, wtl_net_flow *flow, wtl_site *site)
{
  if (!wtl_net_in_order(self->net, flow)) wtl_far_quiet(self, flow, site);
}

void wtl_far_signal(wtl_pe *self, int pe, int round, uint32_t epoch)
{
  wtl_place at = {(size_t)round * sizeof epoch, WTL_REGION_BARRIER};
  wtl_net_put(self->net, NULL, pe, at, &epoch, sizeof epoch, WTL_NET_SIGNAL, NULL);
}

void wtl_far_room_signal(wtl_pe *self, int pe, size_t offset, uint32_t epoch)
{
  wtl_net_put(self->net, NULL, pe, (wtl_place){offset, WTL_REGION_ROOMS}, &epoch, sizeof epoch, WTL_NET_SIGNAL, NULL);
}

void wtl_far_room_tell(wtl_pe *self, int pe, size_t at, const void *from, size_t n, size_t offset, uint32_t epoch)
{
  wtl_net_put(self->net, NULL, pe, (wtl_place){at, WTL_REGION_ROOMS}, from, n, WTL_NET_AHEAD, NULL);
  wtl_far_room_signal(self, pe, offset, epoch);
}

void wtl_far_room_get(wtl_pe *self, wtl_site *site, void *to, size_t n, int pe, size_t offset)
{
  _Atomic uint32_t left = 0;
  wait_for(self, site, has_room, self->net);
  wtl_net_get(self->net, NULL, pe, (wtl_place){offset, WTL_REGION_ROOMS}, to, n, &left);
  wait_for(self, site, is_zero, &left);
}
