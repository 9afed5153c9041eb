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
  wtl_net *net = arg;
  return net->ops->progress(net);
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
  wtl_net_home home = {self, find, changed, completed};
  int rc;
  if (self->n_local == self->n) return 0;
  if ((rc = wtl_net_open(&self->net, "ucx", &self->boot, &home, error, size)) != 0) return rc;
  self->agent = wtl_agent_start(self->net, error, size);
  if (!self->agent) return WTL_EXIT_OSERR;
  self->door.pump = (wtl_pump){make_progress, self->net, stand_by, take_over, relieved, resume, self->agent};
  return 0;
}

void wtl_far_stop(wtl_pe *self)
{
  if (!self->net) return;
  self->door.pump = (wtl_pump){0};
  wtl_agent_stop(self->agent);
  self->net->ops->stop(self->net);
  self->net = NULL;
}

/* --- waiting for the network
 * --------------------------------------------------------------------------------------------------- */

static bool has_room(void *arg)
{
  return ((wtl_pe *)arg)->net->ops->has_room(((wtl_pe *)arg)->net);
}

static bool sent(void *arg)
{
  return ((wtl_pe *)arg)->net->ops->sent(((wtl_pe *)arg)->net);
}

static bool fetched(void *arg)
{
  return ((wtl_pe *)arg)->net->ops->fetched(((wtl_pe *)arg)->net);
}

static bool flushed(void *arg)
{
  return ((wtl_pe *)arg)->net->ops->flushed(((wtl_pe *)arg)->net);
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
  self->net->ops->put(self->net, pe, place_of(self, dest), source, n, nbi ? WTL_NET_HELD : WTL_NET_NOW);
  if (!nbi && n >= WTL_NET_LARGE) wait_for(self, site, sent);
}

void wtl_far_get(wtl_pe *self, wtl_site *site, void *dest, const void *source, size_t n, int pe, bool nbi)
{
  if (!n) return;
  wait_for(self, site, has_room);
  self->net->ops->get(self->net, pe, place_of(self, source), dest, n);
  if (!nbi) wait_for(self, site, fetched);
}

void wtl_far_amo(wtl_pe *self, wtl_site *site, void *dest, int pe, enum wtl_net_op op, size_t size, uint64_t operand,
                 uint64_t condition, void *result, bool nbi)
{
  wait_for(self, site, has_room);
  self->net->ops->amo(self->net, pe, place_of(self, dest), op, size, operand, condition, result);
  if (result && !nbi) wait_for(self, site, fetched);
}

void wtl_far_quiet(wtl_pe *self, wtl_site *site)
{
  self->net->ops->flush(self->net);
  wait_for(self, site, flushed);
  wait_for(self, site, fetched);
}

void wtl_far_order(wtl_pe *self, wtl_site *site)
{
  if (!self->net->ops->in_order(self->net)) wtl_far_quiet(self, site);
}

void wtl_far_signal(wtl_pe *self, int pe, int round, uint32_t epoch)
{
  wtl_place at = {offsetof(wtl_control, node_barrier) + (size_t)round * sizeof epoch, WTL_REGION_CONTROL};
  self->net->ops->put(self->net, pe, at, &epoch, sizeof epoch, WTL_NET_SIGNAL);
}
