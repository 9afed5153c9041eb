/* mutexes.c - ARMCI's mutexes: queue locks (team/lock.h) in global memory. A set of them belongs to a group.
 * ARMCI_Create_mutexes makes a set of all processes. */
#include <stdlib.h>
#include <string.h>

#include "armci/armci_front.h"
#include "global/global_memory.h"
#include "armci/mutexes.h"
#include "global/global_lock.h"

struct armci_mutexes {
  wtl_group *group; /* a copy, because the program may free its own */
  int *count;       /* by member */
  int most;         /* largest number of one member */
  long **words;     /* by process of the job; NULL for processes that are not members */
};

armci_mutexes *armci_mutexes_make(const wtl_frame *f, wtl_group *g, int count)
{
  wtl_pe *self = f->self;
  armci_mutexes *m = calloc(1, sizeof *m);
  int *counts = calloc((size_t)g->n, sizeof *counts);
  long **words = calloc((size_t)self->n, sizeof *words), **members = calloc((size_t)g->n, sizeof *members);
  wtl_group *own = wtl_group_make(self, g->pe, g->n);
  if (!m || !counts || !words || !members || !own)
    wtl_pe_fail(WTL_EXIT_OSERR, "%s: no memory", wtl_error_place(f->name));
  armci_check_that(f, count >= 0, "num", count, "0 and more");
  armci_synchronize(f, g, 0, 0);
  *m = (armci_mutexes){.group = own, .count = counts, .words = words};
  wtl_group_gather(self, f->site, g, &count, counts, sizeof count);
  for (int i = 0; i < g->n; i++)
    if (counts[i] > m->most) m->most = counts[i];
  size_t bytes = (size_t)m->most * (size_t)g->n * sizeof(long);
  long *mine = bytes ? wtl_global_alloc(self, bytes) : NULL;
  if (bytes && !mine)
    wtl_pe_fail(WTL_EXIT_OSERR, "%s: no space for %d mutexes of each process (raise WATTLE_GLOBAL_SIZE)",
                wtl_error_place(f->name), m->most);
  if (bytes) memset(mine, 0, bytes);
  wtl_group_gather(self, f->site, g, &mine, members, sizeof mine);
  for (int i = 0; i < g->n; i++) words[g->pe[i]] = members[i];
  free(members);
  wtl_group_barrier(self, f->site, g);
  return m;
}

void armci_mutexes_free(armci_mutexes *m)
{
  if (!m) return;
  wtl_group_free(m->group);
  free(m->count);
  free(m->words);
  free(m);
}

void armci_mutexes_destroy(const wtl_frame *f, armci_mutexes *m)
{
  armci_synchronize(f, m->group, 0, 0);
  wtl_group_barrier(f->self, f->site, m->group); /* after this no process uses them */
  if (m->most) wtl_global_free(f->self, m->words[f->self->me]);
  armci_mutexes_free(m);
}

wtl_lock_at armci_mutex_at(const wtl_frame *f, const armci_mutexes *m, int mutex, int proc)
{
  if (WTL_UNLIKELY(!m))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: there are no mutexes (ARMCI_Create_mutexes)", wtl_error_place(f->name));
  int member = m->group->is_world ? proc : wtl_group_number(m->group, proc);
  armci_check_that(f, (unsigned)member < (unsigned)m->group->n, "proc", proc, "processes that have mutexes");
  armci_check_that(f, (unsigned)mutex < (unsigned)m->count[member], "mutex", mutex,
                   "less than the number that the process asked for");
  return (wtl_lock_at){m->words, (size_t)mutex * (size_t)m->group->n + (size_t)member, proc, mutex};
}

int PARMCI_Create_mutexes(int count)
{
  ARMCI_ENTER(ARMCI_Create_mutexes, 0);
  armci_state *s = armci_of(f.self);
  if (s->mutexes)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: there are mutexes already (ARMCI_Destroy_mutexes)", wtl_error_place(f.name));
  s->mutexes = armci_mutexes_make(&f, s->world, count);
  return 0;
}
ARMCI_TWIN(int, Create_mutexes, int count)

int PARMCI_Destroy_mutexes(void)
{
  ARMCI_ENTER(ARMCI_Destroy_mutexes, 0);
  armci_state *s = armci_of(f.self);
  if (!s->mutexes) wtl_pe_fail(WTL_EXIT_USAGE, "%s: there are none", wtl_error_place(f.name));
  armci_mutexes_destroy(&f, s->mutexes);
  s->mutexes = NULL;
  return 0;
}
ARMCI_TWIN(int, Destroy_mutexes, void)

void PARMCI_Lock(int mutex, int proc)
{
  ARMCI_ENTER(ARMCI_Lock, 0);
  wtl_lock_at at = armci_mutex_at(&f, armci_of(f.self)->mutexes, mutex, proc);
  wtl_global_lock_set(f.self, f.site, &at, "ARMCI_Lock");
}
ARMCI_TWIN(void, Lock, int mutex, int proc)

void PARMCI_Unlock(int mutex, int proc)
{
  ARMCI_ENTER(ARMCI_Unlock, 0);
  wtl_lock_at at = armci_mutex_at(&f, armci_of(f.self)->mutexes, mutex, proc);
  wtl_global_lock_clear(f.self, f.site, &at, "ARMCI_Unlock");
}
ARMCI_TWIN(void, Unlock, int mutex, int proc)
