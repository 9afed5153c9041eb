/*
 * early_exit.c - handles a process that ends without ARMCI_Finalize, by exit(0) or a return from main.
 *
 * If all processes end in this way or have reached ARMCI_Finalize, the job ends normally. If another process still
 * waits, for a mutex, a message or a collective, it may wait for this process. So a wait that lasts longer than
 * WATTLE_PATIENCE ends the job if the process for which it waits has ended. If that process is not known, as for a
 * message from any, one process that has ended is enough. MPI's launchers end such a job at once.
 *
 * The end has a barrier of its own. In the world's barrier a process that ends would count as one that calls a barrier.
 */
#include <stdlib.h>

#include "armci/armci_front.h"
#include "os/os.h"
#include "pgas/rma.h"
#include "record/record.h"

/* The words of the node's first process, which all PEs of the node read. */
static _Atomic uint64_t *left_on_node(const wtl_pe *self)
{
  return (_Atomic uint64_t *)(void *)wtl_remote(self, armci_of(self)->left, self->boot.local_pe[0]);
}

/* Whether an earlier check has already found that the process has ended. If it has ended since then, its messages may
 * still be on their way. */
static bool has_long_left(const wtl_pe *self, int proc)
{
  return atomic_load(&left_on_node(self)[proc]) && atomic_exchange(&armci_of(self)->left_seen[proc], true);
}

static void find_ended_process(void *of, const wtl_site *site, int awaited)
{
  wtl_pe *self = of;
  if (!armci_of(self)) return;
  int proc = awaited < 0 ? 0 : awaited, end = awaited < 0 ? self->n : awaited + 1;
  while (proc < end && !has_long_left(self, proc)) proc++;
  if (proc == end) return;
  const char *call = site->addr ? wtl_record_call(self->record, site->call)->name : "a wait of no call";
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: process %d has ended without ARMCI_Finalize, and this process still waits, %sfor it; all "
              "processes must call ARMCI_Finalize",
              wtl_error_place(call), proc, awaited < 0 ? "perhaps " : "");
}

/* Not in simulation, where the simulator itself finds waits that never end. */
static void watch_waits(wtl_pe *self, armci_state *s)
{
  if (WTL_OS_IS_SIMULATED) return;
  s->overdue = (wtl_overdue){self->settings.patience.seconds, find_ended_process, self};
  self->door.overdue = &s->overdue;
}

void armci_exit_start(wtl_pe *self, armci_state *s)
{
  s->ending = wtl_group_make(self, s->world->pe, s->world->n);
  if (!s->ending) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Init: no memory");
  s->ending->is_world = false; /* so that its barrier uses messages of its own */
  const size_t n = (size_t)self->n;
  s->left = wtl_heap_alloc(&self->mem, n * sizeof *s->left, sizeof *s->left);
  if (!s->left) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Init: no space (raise SHMEM_SYMMETRIC_SIZE)");
  s->left_seen = calloc(n, sizeof *s->left_seen);
  if (!s->left_seen) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Init: no memory");
  for (size_t i = 0; i < n; i++) atomic_init(&s->left[i], 0);
  watch_waits(self, s);
}

void armci_exit_announce(wtl_pe *self, wtl_site *site)
{
  _Atomic uint64_t *mine = &armci_of(self)->left[self->me];
  atomic_store(&left_on_node(self)[self->me], 1);
  for (int node = 0; node < self->boot.n_nodes; node++) {
    if (node == self->boot.node) continue;
    uint64_t old;
    wtl_op op = {.self = self, .site = site, .pe = self->boot.leader_pe[node]};
    wtl_amo(op, (void *)mine, (wtl_atomic){WTL_AMO_SWAP, sizeof old, 1, 0}, &old);
  }
}

void armci_exit_synchronize(wtl_pe *self, wtl_site *site)
{
  self->door.overdue = NULL; /* other processes may need more time */
  wtl_group_barrier(self, site, armci_of(self)->ending);
}
