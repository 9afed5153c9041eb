/* network.c - starts and ends the network between nodes, and connects it with the runtime. */
#include "job/network.h"

#include <stddef.h>

#include "am/am.h"
#include "base/error.h"
#include "fabric/agent.h"
#include "fabric/net.h"
#include "global/global.h"
#include "job/job.h"
#include "pgas/near.h"
#include "team/team_entry.h"

/* --- memory of this PE that other nodes may access ---------------------------------------------------------------- */

/* Returns the start of a contiguous segment of this PE and its length in *n. NULL: the PE has no such segment. */
static char *segment(const wtl_pe *self, uint32_t number, uint64_t *n)
{
  wtl_control *control = wtl_control_of(self, self->me);
  switch (number) {
  case WTL_SEGMENT_SLICE:
    *n = self->statics_bytes + self->heap_bytes;
    return self->slices + (size_t)self->slot * self->stride;
  case WTL_SEGMENT_BARRIER: *n = sizeof control->node_barrier; return (char *)control->node_barrier;
  case WTL_SEGMENT_CALL_STATE: *n = sizeof control->call_state; return (char *)&control->call_state;
  case WTL_SEGMENT_GLOBAL: return wtl_global_region(self, n);
  default: return NULL;
  }
}

static uint64_t open_bytes(void *owner, uint32_t number)
{
  uint64_t n = 0;
  segment(owner, number, &n);
  return n;
}

static void *find(void *owner, wtl_place at, uint64_t n)
{
  uint64_t length;
  if (at.segment == WTL_SEGMENT_TEAM_ENTRIES) return wtl_entry_at(owner, ((wtl_pe *)owner)->me, at.offset, n);
  char *start = segment(owner, at.segment, &length);
  if (!start || at.offset > length || n > length - at.offset) return NULL;
  return start + at.offset;
}

static void changed(void *owner, wtl_place at, uint64_t n)
{
  wtl_pe *self = owner;
  wtl_bell *bell = &wtl_control_of(self, self->me)->bell;
  if (!wtl_bell_has_sleeper(bell)) return;
  if (at.segment == WTL_SEGMENT_SLICE)
    wtl_bell_ring_at(bell, at.offset, n);
  else if (at.segment == WTL_SEGMENT_GLOBAL)
    wtl_bell_ring_at(bell, WTL_GLOBAL_WATCH + at.offset, n);
  else
    wtl_bell_ring_control(bell);
}

static void completed(void *owner)
{
  wtl_fence();
  wtl_touch_control(owner, ((wtl_pe *)owner)->me);
}

static bool sleeps(void *owner)
{
  return wtl_bell_awaits_stores(&wtl_control_of(owner, ((wtl_pe *)owner)->me)->bell);
}

/* Only MPI can be ended by the program. MPI_Finalize is a call of all processes of the job. */
static void closing(void *owner)
{
  (void)owner;
  wtl_job_stop_with("MPI_Finalize");
}

int wtl_network_start(wtl_pe *self, char *error, size_t size)
{
  wtl_net_callbacks callbacks = {
      self,   open_bytes, find, changed, completed, wtl_am_far_message, wtl_am_far_buffer, wtl_am_far_landed,
      sleeps, closing};
  static const char *const networks[] = {
      [WTL_NETWORK_AUTO] = "auto", [WTL_NETWORK_UCX] = "ucx", [WTL_NETWORK_OFI] = "ofi", [WTL_NETWORK_MPI] = "mpi"};
  int rc;
  if (self->n_local == self->n) return 0;
  if ((rc = wtl_net_open(&self->net, networks[self->settings.network.number], &self->settings, &self->boot, &callbacks,
                         error, size)) != 0)
    return rc;
  /* A PE whose waits sleep at once has an agent that sleeps at once. */
  bool lingers = self->settings.wait.number != WTL_WAIT_SLEEP && self->settings.transfers.number != WTL_TRANSFERS_AWARE;
  self->agent = wtl_agent_start(self->net, lingers, wtl_am_agents_turn, self->am, error, size);
  if (!self->agent) return WTL_EXIT_OSERR;
  self->door.driver = wtl_agent_driver(self->agent);
  return 0;
}

void wtl_network_stop(wtl_pe *self)
{
  if (!self->net) return;
  /* A PE that leaves breaks its connections. So all PEs first agree that no more messages are needed. */
  wtl_net_ending(self->net);
  self->boot.ops->fence(&self->boot);
  self->door.driver = (wtl_progress_driver){0};
  wtl_agent_stop(self->agent);
  wtl_net_close(self->net);
  self->net = NULL;
}
