/* far.c - turns operations on PEs of other nodes into messages, and waits for their completion. */
#include "pgas/far.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "fabric/agent.h"
#include "pgas/near.h"

_Static_assert((int)WTL_SEGMENT_SLICE == (int)WTL_NET_AWAITED_SEGMENT &&
                   (int)WTL_SEGMENT_GLOBAL < (int)WTL_NET_OPEN_SEGMENTS,
               "hardware reaches slices and global memory");

/* --- waiting for the network ------------------------------------------------------------------------------------- */

static bool has_space(void *net)
{
  return wtl_net_has_space(net);
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
  if (at < self->heap_bytes) return (wtl_place){self->statics_bytes + at, WTL_SEGMENT_SLICE};
  at = (size_t)((const char *)addr - self->statics);
  if (at >= self->statics_bytes && wtl_pe_is_constant(self, addr))
    return (wtl_place){(uintptr_t)addr, WTL_SEGMENT_CONSTANTS};
  return (wtl_place){at, WTL_SEGMENT_SLICE};
}

static wtl_place place_of(const wtl_op *op, const void *addr)
{
  if (op->memory == WTL_SYMMETRIC) return wtl_far_place(op->self, addr);
  return (wtl_place){(uint64_t)((const char *)addr - op->self->global_map.start[op->pe]), WTL_SEGMENT_GLOBAL};
}

/* An operation that is being sent. `own` counts its messages if the operation blocks; the end waits for 0. */
typedef struct sending {
  const wtl_op *op;
  wtl_net_op to;
  _Atomic uint32_t own;
} sending;

static void begin(sending *s, const wtl_op *op, wtl_place at)
{
  *s = (sending){.op = op,
                 .to = {.flow = op->flow, .pe = op->pe, .at = at, .left = op->left, .mark = wtl_site_mark(op->site)}};
  s->to.mode = op->nbi ? WTL_NET_HELD : WTL_NET_NOW;
  if (!op->nbi && !op->left) s->to.left = &s->own;
}

static void end(sending *s)
{
  wait_for(s->op->self, s->op->site, is_zero, &s->own);
}

static void wait_for_space(const wtl_op *op)
{
  wait_for(op->self, op->site, has_space, op->self->net);
}

/* Leaves no short rest, which would be a message behind pieces that hardware puts. */
static size_t step_of(size_t n)
{
  if (n <= WTL_NET_MOST) return n;
  return n - WTL_NET_MOST > WTL_NET_MERGED ? WTL_NET_MOST : n / 128 * 64;
}

void wtl_far_wait(wtl_pe *self, wtl_site *site, _Atomic uint32_t *left)
{
  wait_for(self, site, is_zero, left);
}

/* Sends a put in pieces. `last` is the mode of the last piece. */
static void send_put(sending *s, const char *from, size_t n, enum wtl_net_send_mode last)
{
  wtl_pe *self = s->op->self;
  for (size_t step; n > 0; n -= step, from += step, s->to.at.offset += step) {
    step = step_of(n);
    s->to.mode = step < n && last <= WTL_NET_HELD ? WTL_NET_MORE : last;
    wait_for_space(s->op);
    if (WTL_UNLIKELY(wtl_net_overtakes(self->net, &s->to, step))) wtl_far_quiet(self, NULL, s->op->site);
    if (wtl_net_put(self->net, &s->to, from, step)) wtl_agent_attend(self->agent);
  }
}

void wtl_far_put(const wtl_op *op, void *dest, const void *source, size_t n)
{
  sending s;
  begin(&s, op, place_of(op, dest));
  send_put(&s, source, n, s.to.mode);
  end(&s);
}

void wtl_far_put_ahead(const wtl_op *op, void *dest, const void *source, size_t n, enum wtl_net_send_mode mode)
{
  sending s;
  begin(&s, op, place_of(op, dest));
  send_put(&s, source, n, mode);
  end(&s);
}

static void send_get(sending *s, char *to, size_t n)
{
  if (WTL_UNLIKELY(s->to.at.segment == WTL_SEGMENT_CONSTANTS)) {
    memcpy(to, (const void *)(uintptr_t)s->to.at.offset, n);
    return;
  }
  for (size_t step; n > 0; n -= step, to += step, s->to.at.offset += step) {
    step = step_of(n);
    wait_for_space(s->op);
    if (s->to.at.segment == WTL_SEGMENT_GLOBAL && wtl_net_overtakes(s->op->self->net, &s->to, step))
      wtl_far_quiet(s->op->self, NULL, s->op->site);
    wtl_net_get(s->op->self->net, &s->to, to, step);
  }
}

void wtl_far_get_at(const wtl_op *op, wtl_place at, void *dest, size_t n)
{
  sending s;
  begin(&s, op, at);
  send_get(&s, dest, n);
  end(&s);
}

void wtl_far_get(const wtl_op *op, void *dest, const void *source, size_t n)
{
  wtl_far_get_at(op, place_of(op, source), dest, n);
}

void wtl_far_amo_at(const wtl_op *op, wtl_place at, const wtl_atomic *a, void *result)
{
  sending s;
  begin(&s, op, at);
  wait_for_space(op);
  if (wtl_net_amo(op->self->net, &s.to, a, result)) wtl_agent_attend(op->self->agent);
  end(&s);
}

void wtl_far_amo(const wtl_op *op, void *dest, const wtl_atomic *a, void *result)
{
  wtl_far_amo_at(op, place_of(op, dest), a, result);
}

/* A short put travels in the message of its signal. */
void wtl_far_put_signal(const wtl_op *op, void *dest, const void *source, size_t n, const wtl_signal *signal)
{
  sending s;
  bool together = n <= WTL_NET_MERGED;
  wtl_atomic a = {signal->adds ? WTL_AMO_ADD : WTL_AMO_SET, sizeof signal->value, signal->value, 0};
  wtl_op last = *op;
  last.nbi = op->nbi && n;
  begin(&s, op, place_of(op, dest));
  if (n) send_put(&s, source, n, together ? WTL_NET_AHEAD : WTL_NET_MORE);
  if (!together) wtl_far_order(op->self, op->flow, op->site); /* waits only if the signal could overtake the data */
  wtl_far_amo(&last, signal->word, &a, NULL);
  end(&s);
}

/* Each block is at least one message of its own, and may be batched with others. */
void wtl_far_put_blocks(const wtl_op *op, void *dest, const void *source, const wtl_blocks *b)
{
  sending s;
  wtl_place first = place_of(op, dest);
  begin(&s, op, first);
  for (size_t i = 0; i < b->n; i++)
    for (size_t done = 0, step; done < b->bytes; done += step) {
      step = step_of(b->bytes - done);
      s.to.at.offset = first.offset + i * b->to_step + done;
      send_put(&s, (const char *)source + i * b->from_step + done, step, WTL_NET_HELD);
    }
  end(&s);
}

void wtl_far_get_blocks(const wtl_op *op, void *dest, const void *source, const wtl_blocks *b)
{
  sending s;
  wtl_place first = place_of(op, source);
  begin(&s, op, first);
  for (size_t i = 0; i < b->n; i++) {
    s.to.at.offset = first.offset + i * b->from_step;
    send_get(&s, (char *)dest + i * b->to_step, b->bytes);
  }
  end(&s);
}

/* --- order and completion ----------------------------------------------------------------------------------------- */

static void flush_all(wtl_pe *self, wtl_site *site)
{
  flush f = {self->net, wtl_net_flush(self->net)};
  wait_for(self, site, is_over, &f);
}

/* One of the two bins of operations, and the turn after which the network may count new operations in it. */
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
  if (wtl_net_in_order(self->net, flow))
    wtl_net_note_fence(self->net);
  else
    wtl_far_quiet(self, flow, site);
}

/* --- control data ------------------------------------------------------------------------------------------------- */

static void send_control(wtl_pe *self, int pe, wtl_place at, const void *from, size_t n, enum wtl_net_send_mode mode)
{
  wtl_net_put(self->net, &(wtl_net_op){.pe = pe, .at = at, .mode = mode}, from, n);
}

void wtl_far_signal(wtl_pe *self, int pe, int round, uint32_t epoch)
{
  wtl_place at = {(size_t)round * sizeof epoch, WTL_SEGMENT_BARRIER};
  send_control(self, pe, at, &epoch, sizeof epoch, WTL_NET_SIGNAL);
}

void wtl_far_entry_signal(wtl_pe *self, int pe, size_t offset, uint32_t epoch)
{
  send_control(self, pe, (wtl_place){offset, WTL_SEGMENT_TEAM_ENTRIES}, &epoch, sizeof epoch, WTL_NET_SIGNAL);
}

void wtl_far_entry_put_signal(wtl_pe *self, int pe, size_t at, const void *from, size_t n, size_t offset,
                              uint32_t epoch)
{
  send_control(self, pe, (wtl_place){at, WTL_SEGMENT_TEAM_ENTRIES}, from, n, WTL_NET_AHEAD);
  wtl_far_entry_signal(self, pe, offset, epoch);
}

void wtl_far_entry_get(wtl_pe *self, wtl_site *site, void *to, size_t n, int pe, size_t offset)
{
  wtl_op op = {.self = self, .site = site, .pe = pe};
  wtl_far_get_at(&op, (wtl_place){offset, WTL_SEGMENT_TEAM_ENTRIES}, to, n);
}
