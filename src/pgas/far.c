#include "pgas/far.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/error.h"
#include "pgas/rma.h"

/* --- what other nodes reach of this PE
 * ----------------------------------------------------------------------------------------- */

static void *find(void *owner, wtl_place at, uint64_t n)
{
  wtl_pe *self = owner;
  char *start = at.region == WTL_REGION_SLICE ? self->slices + (size_t)self->slot * self->stride
                                              : (char *)wtl_control_of(self, self->me);
  uint64_t length = at.region == WTL_REGION_SLICE ? self->statics_bytes + self->heap_bytes : sizeof(wtl_control);
  if (at.region > WTL_REGION_CONTROL || at.offset > length || n > length - at.offset) return NULL;
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
    wtl_bell_ring(bell);
}

static void completed(void *owner)
{
  wtl_fence();
  wtl_touch_control(owner, ((wtl_pe *)owner)->me);
}

static bool make_progress(void *arg)
{
  return wtl_net_progress(arg);
}

static bool is_silent(void *net)
{
  return wtl_net_is_silent(net);
}

static void stand_by(void *agent)
{
  wtl_agent_stand_by(agent);
}

static void take_over(void *agent)
{
  wtl_agent_take_over(agent);
}

static void relieved(void *agent)
{
  wtl_agent_relieved(agent);
}

static void resume(void *agent)
{
  wtl_agent_resume(agent);
}

int wtl_far_start(wtl_pe *self, char *error, size_t size)
{
  wtl_net_home home = {self, self->statics_bytes + self->heap_bytes, find, changed, completed};
  int rc;
  if (self->n_local == self->n) return 0;
  if ((rc = wtl_net_open(&self->net, "ucx", &self->settings, &self->boot, &home, error, size)) != 0) return rc;
  self->agent = wtl_agent_start(self->net, error, size);
  if (!self->agent) return WTL_EXIT_OSERR;
  self->door.pump = (wtl_pump){make_progress, is_silent, self->net, stand_by, take_over, relieved, resume, self->agent};
  return 0;
}

void wtl_far_stop(wtl_pe *self)
{
  if (!self->net) return;
  self->door.pump = (wtl_pump){0};
  wtl_agent_stop(self->agent);
  wtl_net_close(self->net);
  self->net = NULL;
}

/* --- waiting for the network
 * --------------------------------------------------------------------------------------------------- */

static bool has_room(void *arg)
{
  return wtl_net_has_room(((wtl_pe *)arg)->net);
}

static bool sent(void *arg)
{
  return wtl_net_sent(((wtl_pe *)arg)->net);
}

static bool fetched(void *arg)
{
  return wtl_net_fetched(((wtl_pe *)arg)->net);
}

static bool flushed(void *arg)
{
  return wtl_net_flushed(((wtl_pe *)arg)->net);
}

static void wait_for(wtl_pe *self, wtl_site *site, bool (*ready)(void *))
{
  if (!ready(self)) wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, ready, self);
}

/* --- operations
 * ---------------------------------------------------------------------------------------------------------------- */

static wtl_place place_of(const wtl_pe *self, const void *addr)
{
  size_t at = (size_t)((const char *)addr - self->heap);
  if (at < self->heap_bytes) return (wtl_place){self->statics_bytes + at, WTL_REGION_SLICE};
  return (wtl_place){(uint64_t)((const char *)addr - self->statics), WTL_REGION_SLICE};
}

void wtl_far_put(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, int pe, bool nbi)
{
  if (!n) return;
  wait_for(self, site, has_room);
  bool needed = wtl_net_put(self->net, pe, place_of(self, dest), source, n, nbi ? WTL_NET_HELD : WTL_NET_NOW);
  if (needed && !nbi) wait_for(self, site, sent);
}

void wtl_far_get(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, int pe, bool nbi)
{
  if (!n) return;
  wait_for(self, site, has_room);
  wtl_net_get(self->net, pe, place_of(self, source), dest, n);
  if (!nbi) wait_for(self, site, fetched);
}

void wtl_far_amo(wtl_pe *self, wtl_site *site, void *dest, int pe, enum wtl_net_op op, size_t size, uint64_t operand,
                 uint64_t condition, void *result, bool nbi)
{
  wait_for(self, site, has_room);
  wtl_net_amo(self->net, pe, place_of(self, dest), op, size, operand, condition, result);
  if (result && !nbi) wait_for(self, site, fetched);
}

void wtl_far_quiet(wtl_pe *self, wtl_site *site)
{
  wtl_net_flush(self->net);
  wait_for(self, site, flushed);
  wait_for(self, site, fetched);
}

void wtl_far_order(wtl_pe *self, wtl_site *site)
{
  if (!wtl_net_in_order(self->net)) wtl_far_quiet(self, site);
}

void wtl_far_signal(wtl_pe *self, int pe, int round, uint32_t epoch)
{
  wtl_place at = {offsetof(wtl_control, node_barrier) + (size_t)round * sizeof epoch, WTL_REGION_CONTROL};
  wtl_net_put(self->net, pe, at, &epoch, sizeof epoch, WTL_NET_SIGNAL);
}
