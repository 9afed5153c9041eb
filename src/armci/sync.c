/* sync.c - fences, the barrier and notifications of ARMCI. */
#include "armci/armci_front.h"
#include "pgas/rma.h"
#include "team/barrier.h"

void PARMCI_Fence(int proc)
{
  ARMCI_ENTER(ARMCI_Fence, 0);
  armci_check_proc(&f, proc);
  armci_fence(f.self, f.site, proc);
}
ARMCI_TWIN(void, Fence, int proc)

void PARMCI_AllFence(void)
{
  ARMCI_ENTER(ARMCI_AllFence, 0);
  armci_fence(f.self, f.site, -1);
}
ARMCI_TWIN(void, AllFence, void)

void PARMCI_GroupFence(ARMCI_Group *group)
{
  ARMCI_ENTER(ARMCI_GroupFence, 0);
  const wtl_group *g = armci_group_of(&f, group);
  for (int i = 0; i < g->n; i++) armci_fence(f.self, f.site, g->pe[i]);
}
ARMCI_TWIN(void, GroupFence, ARMCI_Group *group)

void PARMCI_Barrier(void)
{
  ARMCI_ENTER(ARMCI_Barrier, 0);
  armci_wait_all(f.self, f.site);
  armci_fence(f.self, f.site, -1);
  armci_synchronize_at_barrier(&f, armci_of(f.self)->world);
  wtl_barrier(f.self, f.site);
}
ARMCI_TWIN(void, Barrier, void)

/* --- notifications ------------------------------------------------------------------------------------------------ */

int parmci_notify(int proc)
{
  ARMCI_ENTER(armci_notify, 0);
  wtl_pe *self = f.self;
  armci_check_proc(&f, proc);
  armci_state *s = armci_of(self);
  long *there = &s->notify[proc][self->me], count = ++s->notifications_sent[proc];
  armci_fence(self, f.site, proc);
  wtl_op op = wtl_op_to(&f, proc, false);
  op.memory = WTL_GLOBAL;
  wtl_amo(op, there, (wtl_atomic){WTL_AMO_SET, sizeof *there, (uint64_t)count, 0}, NULL);
  return (int)count;
}

__attribute__((visibility("default"), weak, alias("parmci_notify"))) int armci_notify(int proc);

typedef struct notification_wait {
  const long *word;
  long wanted;
} notification_wait;

static bool is_notified(void *arg)
{
  const notification_wait *h = arg;
  return __atomic_load_n(h->word, __ATOMIC_ACQUIRE) >= h->wanted;
}

int parmci_notify_wait(int proc, int *times)
{
  ARMCI_ENTER(armci_notify_wait, 0);
  armci_check_proc(&f, proc);
  armci_state *s = armci_of(f.self);
  notification_wait h = {&s->notified[proc], s->notifications_seen[proc] + 1};
  wtl_door_wait_for(&f.self->door, f.site, wtl_global_watch(f.self, h.word), is_notified, &h, proc);
  s->notifications_seen[proc]++;
  if (times) *times = (int)h.wanted;
  return (int)h.wanted;
}

__attribute__((visibility("default"), weak, alias("parmci_notify_wait"))) int armci_notify_wait(int proc, int *times);
