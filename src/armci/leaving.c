/*
 * A process that ends without ARMCI_Finalize, by exit(0) or a return of main. Where all end so, or have come to
 * ARMCI_Finalize, the job ends in good order. Where another still waits, for a mutex, a message or a collective, it may
 * wait for this process: so a wait that lasts longer than WATTLE_PATIENCE, while it is known that one has left, ends the
 * job. MPI's launchers end such a job at once.
 *
 * The end has a meeting of its own. By a barrier the process that leaves would be taken for one that comes to a barrier.
 */
#include "armci/armci_front.h"
#include "pgas/far.h"

/* Of the node's first PE, where all of the node look. */
static _Atomic uint64_t *left_on_node(const wtl_pe *self)
{
  return &wtl_control_of(self, self->boot.local_pe[0])->whereabouts.left;
}

#ifdef WTL_SIM /* which knows who waits for ever */

static void watch_waits(wtl_pe *self, armci_state *s)
{
  (void)self, (void)s;
}

#else

static void look_for_leaver(void *of, const wtl_site *site)
{
  wtl_pe *self = of;
  armci_state *s = armci_of(self);
  uint64_t left = atomic_load(left_on_node(self));
  if (!left || !s || !atomic_exchange(&s->knows_of_leaver, true)) return; /* it may have left just now */
  const char *call = site->addr ? wtl_record_call(&self->record, site->call)->name : "a wait of no call";
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: process %llu has ended without ARMCI_Finalize, and this process still waits, perhaps for it; all "
              "processes must call ARMCI_Finalize",
              wtl_here(call), (unsigned long long)left - 1);
}

static void watch_waits(wtl_pe *self, armci_state *s)
{
  s->overdue = (wtl_overdue){self->settings.patience.seconds, look_for_leaver, self};
  self->door.overdue = &s->overdue;
}

#endif

void armci_leaving_start(wtl_pe *self, armci_state *s)
{
  s->ending = wtl_group_make(self, s->world->pe, s->world->n);
  if (!s->ending) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Init: no memory");
  s->ending->is_world = false; /* so that it meets by messages of its own */
  watch_waits(self, s);
}

void armci_leaving_tell(wtl_pe *self, wtl_site *site)
{
  _Atomic uint32_t under_way = 0;
  uint64_t old[1];
  atomic_store(left_on_node(self), (uint64_t)self->me + 1);
  for (int node = 0; node < self->boot.n_nodes; node++) {
    if (node == self->boot.node) continue;
    const wtl_place place = {offsetof(wtl_whereabouts, left), WTL_REGION_WHEREABOUTS};
    wtl_far_amo_at(self, NULL, site, self->boot.leader_pe[node], place, WTL_NET_SWAP, sizeof *old,
                   (uint64_t)self->me + 1, 0, old, &under_way);
    wtl_far_wait(self, site, &under_way);
  }
}

void armci_leaving_meet(wtl_pe *self, wtl_site *site)
{
  self->door.overdue = NULL; /* others may take their time */
  wtl_group_barrier(self, site, armci_of(self)->ending);
}
