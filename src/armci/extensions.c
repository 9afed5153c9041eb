/* extensions.c - the routines that ARMCI-MPI has beyond ARMCI (armcix.h). */
#include <stdlib.h>

#pragma GCC visibility push(default)
#define WTL_ARMCI_WITHOUT_MPI
#include "armcix.h"
#pragma GCC visibility pop

#include "armci/armci_front.h"
#include "armci/mutexes.h"
#include "global/global_lock.h"

typedef struct choice {
  int color, key, member;
} choice;

static int by_key(const void *a, const void *b)
{
  const choice *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->member - y->member;
}

static int split(wtl_frame *f, ARMCI_Group *parent, int color, int key, ARMCI_Group *group)
{
  wtl_group *g = armci_member_group_of(f, parent);
  choice mine = {color, key, g->me}, *all = calloc((size_t)g->n, sizeof *all);
  int *members = calloc((size_t)g->n, sizeof *members), n = 0;
  if (!all || !members) wtl_pe_fail(WTL_EXIT_OSERR, "%s: no memory", f->name);
  armci_synchronize(f, g, 0, 0);
  wtl_group_gather(f->self, f->site, g, &mine, all, sizeof mine);
  qsort(all, (size_t)g->n, sizeof *all, by_key);
  for (int i = 0; i < g->n; i++)
    if (color >= 0 && all[i].color == color) members[n++] = all[i].member;
  ARMCI_Group_create_child(n, members, group, parent);
  free(all);
  free(members);
  return 0;
}

int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *group)
{
  ARMCI_ENTER(ARMCIX_Group_split, 0);
  return split(&f, parent, color, key, group);
}

int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *group)
{
  ARMCI_ENTER_AS(ARMCIX_Group_dup, ARMCIX_Group_split, 0);
  return split(&f, parent, 0, 0, group);
}

/* --- mutexes ------------------------------------------------------------------------------------------------------ */

static armci_mutexes *set_of(armcix_mutex_hdl_t hdl)
{
  return (armci_mutexes *)(void *)hdl;
}

armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *group)
{
  ARMCI_ENTER_AS(ARMCIX_Create_mutexes_hdl, ARMCI_Create_mutexes, 0);
  armci_mutexes *m = armci_mutexes_make(&f, armci_member_group_of(&f, group), count);
  return (armcix_mutex_hdl_t)(void *)m;
}

int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl)
{
  ARMCI_ENTER_AS(ARMCIX_Destroy_mutexes_hdl, ARMCI_Destroy_mutexes, 0);
  armci_mutexes_destroy(&f, set_of(hdl));
  return 0;
}

void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
  ARMCI_ENTER_AS(ARMCIX_Lock_hdl, ARMCI_Lock, 0);
  wtl_lock_at at = armci_mutex_at(&f, set_of(hdl), mutex, proc);
  wtl_global_lock_set(f.self, f.site, &at, "ARMCIX_Lock_hdl");
}

int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
  ARMCI_ENTER(ARMCIX_Trylock_hdl, 0);
  wtl_lock_at at = armci_mutex_at(&f, set_of(hdl), mutex, proc);
  bool got = wtl_global_lock_test(f.self, f.site, &at);
  if (!got) wtl_door_missed(&f.self->door);
  return !got;
}

void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc)
{
  ARMCI_ENTER_AS(ARMCIX_Unlock_hdl, ARMCI_Unlock, 0);
  wtl_lock_at at = armci_mutex_at(&f, set_of(hdl), mutex, proc);
  wtl_global_lock_clear(f.self, f.site, &at, "ARMCIX_Unlock_hdl");
}

void ARMCIX_Progress(void)
{
  if (wtl_self) wtl_door_missed(&wtl_self->door);
}
