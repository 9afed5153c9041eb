#include "pgas/far.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/error.h"
#include "pgas/am_far.h"
#include "pgas/rma.h"

/* --- what other nodes reach of this PE --------------------------------------------------------------------------- */

static void *find(void *owner, wtl_place at, uint64_t n)
{
  wtl_pe *self = owner;
  wtl_control *control = wtl_control_of(self, self->me);
  bool in_slice = at.region == WTL_REGION_SLICE;
  char *start = in_slice ? self->slices + (size_t)self->slot * self->stride : (char *)control->node_barrier;
  uint64_t length = in_slice ? self->statics_bytes + self->heap_bytes : sizeof control->node_barrier;
  if (at.region > WTL_REGION_BARRIER || at.offset > length || n > length - at.offset) return NULL;
  return start + at.offset;
}

static void changed(void *owner, wtl_place at, uint64_t n)
{
  wtl_pe *self = owner;
  wtl_bell *bell = &wtl_control_of(self, self->me)->bell;
  if (!wtl_bell_has_sleeper(bell)) return;
  if (at.region == WTL_REGION_SLICE)
    wtl_bell_ring_at(bell, at.offset, n);
  else
    wtl_bell_ring_control(bell);
}

static void completed(void *owner)
{
  wtl_fence();
  wtl_touch_control(owner, ((wtl_pe *)owner)->me);
}

int wtl_far_start(wtl_pe *self, char *error, size_t size)
{
  wtl_net_home home = {self,
                       self->statics_bytes + self->heap_bytes,
                       find,
                       changed,
                       completed,
                       wtl_am_far_message,
                       wtl_am_far_room,
                       wtl_am_far_landed};
  int rc;
  if (self->n_local == self->n) return 0;
  if ((rc = wtl_net_open(&self->net, "ucx", &self->settings, &self->boot, &home, error, size)) != 0) return rc;
  self->agent = wtl_agent_start(self->net, self->settings.wait.number != WTL_WAIT_SLEEP, wtl_am_agents_turn, self->am,
                                error, size);
  if (!self->agent) return WTL_EXIT_OSERR;
  self->door.pump = wtl_agent_pump(self->agent);
  return 0;
}

void wtl_far_stop(wtl_pe *self)
{
  if (!self->net) return;
  /* Who leaves first breaks his connections: only when nobody has anything more to hear. */
  wtl_net_ending(self->net);
  self->boot.ops->fence(&self->boot);
  self->door.pump = (wtl_pump){0};
  wtl_agent_stop(self->agent);
  wtl_net_close(self->net);
  self->net = NULL;
}

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
  return (wtl_place){(uint64_t)((const char *)addr - self->statics), WTL_REGION_SLICE};
}

static size_t step_of(size_t n)
{
  return n < WTL_NET_MOST ? n : WTL_NET_MOST;
}

void wtl_far_put(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, int pe, bool nbi)
{
  _Atomic uint32_t left = 0;
  const char *from = source;
  wtl_place at = wtl_far_place(self, dest);
  for (size_t step; n > 0; n -= step, from += step, at.offset += step) {
    step = step_of(n);
    wait_for(self, site, has_room, self->net);
    wtl_net_put(self->net, pe, at, from, step, nbi ? WTL_NET_HELD : WTL_NET_NOW, nbi ? NULL : &left);
  }
  wait_for(self, site, is_zero, &left);
}

void wtl_far_get(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, int pe, bool nbi)
{
  _Atomic uint32_t left = 0;
  char *to = dest;
  wtl_place at = wtl_far_place(self, source);
  for (size_t step; n > 0; n -= step, to += step, at.offset += step) {
    step = step_of(n);
    wait_for(self, site, has_room, self->net);
    wtl_net_get(self->net, pe, at, to, step, nbi ? NULL : &left);
  }
  wait_for(self, site, is_zero, &left);
}

void wtl_far_amo(wtl_pe *self, wtl_site *site, void *dest, int pe, enum wtl_net_op op, size_t size, uint64_t operand,
                 uint64_t condition, void *result, bool nbi)
{
  _Atomic uint32_t left = 0;
  wait_for(self, site, has_room, self->net);
  wtl_net_amo(self->net, pe, wtl_far_place(self, dest), op, size, operand, condition, result, nbi ? NULL : &left);
  wait_for(self, site, is_zero, &left);
}

void wtl_far_quiet(wtl_pe *self, wtl_site *site)
{
  flush f = {self->net, wtl_net_flush(self->net)};
  wait_for(self, site, is_over, &f);
}

void wtl_far_order(wtl_pe *self, wtl_site *site)
{
  if (!wtl_net_in_order(self->net)) wtl_far_quiet(self, site);
}

void wtl_far_signal(wtl_pe *self, int pe, int round, uint32_t epoch)
{
  wtl_place at = {(size_t)round * sizeof epoch, WTL_REGION_BARRIER};
  wtl_net_put(self->net, pe, at, &epoch, sizeof epoch, WTL_NET_SIGNAL, NULL);
}
