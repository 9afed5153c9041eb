/* Two-sided messages, and collectives that move bytes. */
#include <string.h>

#include "armci/front.h"
#include "base/clock.h"
#include "pgas/posted.h"

/* The program's messages; groups have contexts of their own. */
enum { CONTEXT = 0 };

int armci_msg_me(void)
{
  ARMCI_ENTER(armci_msg_me, 0);
  wtl_leave(&f);
  return f.self->me;
}

int armci_msg_nproc(void)
{
  ARMCI_ENTER(armci_msg_nproc, 0);
  wtl_leave(&f);
  return f.self->n;
}

double armci_timer(void)
{
  return (double)wtl_clock_ns() * 1e-9;
}

static void check_bytes(const wtl_frame *f, int bytes)
{
  armci_check_that(f, bytes >= 0, "bytes", bytes, "0 and more");
}

/* --- messages ------------------------------------------------------------------------------------------------------------------ */

void armci_msg_snd(int tag, void *buf, int bytes, int to)
{
  ARMCI_ENTER(armci_msg_snd, bytes);
  check_bytes(&f, bytes);
  armci_check_proc(&f, to);
  wtl_post(f.self, f.site, to, CONTEXT, tag, buf, (size_t)bytes);
  wtl_leave(&f);
}

static int receive(wtl_frame *f, int tag, void *buf, int room, int *came, int from)
{
  int who;
  check_bytes(f, room);
  size_t n = wtl_take_posted(f->self, f->site, armci_call_name(f->call), from, CONTEXT, tag, buf, (size_t)room, &who);
  if (came) *came = (int)n;
  wtl_leave(f);
  return who;
}

void armci_msg_rcv(int tag, void *buf, int room, int *came, int from)
{
  ARMCI_ENTER(armci_msg_rcv, 0);
  armci_check_proc(&f, from);
  receive(&f, tag, buf, room, came, from);
}

int armci_msg_rcvany(int tag, void *buf, int room, int *came)
{
  ARMCI_ENTER(armci_msg_rcv, 0);
  return receive(&f, tag, buf, room, came, WTL_FROM_ANY);
}

/* --- scopes -------------------------------------------------------------------------------------------------------------------- */

/* NULL: this process has no part in it. */
static wtl_group *scope_of(const wtl_frame *f, int scope)
{
  armci_state *s = armci_of(f->self);
  armci_check_that(f, scope >= SCOPE_ALL && scope <= SCOPE_MASTERS, "scope", scope,
                   "SCOPE_ALL, SCOPE_NODE and SCOPE_MASTERS");
  wtl_group *g = scope == SCOPE_NODE ? s->node : scope == SCOPE_MASTERS ? s->masters : s->world;
  return g->me < 0 ? NULL : g;
}

wtl_group *armci_scope_of(const wtl_frame *f, int scope)
{
  return scope_of(f, scope);
}

/* --- barrier, broadcast, trees --------------------------------------------------------------------------------------------------- */

void parmci_msg_barrier(void)
{
  ARMCI_ENTER(armci_msg_barrier, 0);
  wtl_barrier(f.self, f.site);
  wtl_leave(&f);
}

__attribute__((visibility("default"), weak, alias("parmci_msg_barrier"))) void armci_msg_barrier(void);

void parmci_msg_group_barrier(ARMCI_Group *group)
{
  ARMCI_ENTER(armci_msg_barrier, 0);
  wtl_group_barrier(f.self, f.site, armci_member_group_of(&f, group));
  wtl_leave(&f);
}

__attribute__((visibility("default"), weak, alias("parmci_msg_group_barrier"))) void
armci_msg_group_barrier(ARMCI_Group *group);

static void broadcast(wtl_frame *f, wtl_group *g, void *buf, int bytes, int root)
{
  check_bytes(f, bytes);
  int number = g ? wtl_group_number(g, root) : 0;
  armci_check_that(f, number >= 0, "root", root, "processes that take part");
  if (g) wtl_group_broadcast(f->self, f->site, g, buf, (size_t)bytes, number);
  wtl_leave(f);
}

void armci_msg_bcast_scope(int scope, void *buf, int bytes, int root)
{
  ARMCI_ENTER(armci_msg_bcast, bytes);
  broadcast(&f, scope_of(&f, scope), buf, bytes, scope == SCOPE_NODE ? f.self->boot.local_pe[0] : root);
}

void armci_msg_bcast(void *buf, int bytes, int root)
{
  ARMCI_ENTER(armci_msg_bcast, bytes);
  broadcast(&f, armci_of(f.self)->world, buf, bytes, root);
}

void armci_msg_brdcst(void *buf, int bytes, int root)
{
  ARMCI_ENTER(armci_msg_bcast, bytes);
  broadcast(&f, armci_of(f.self)->world, buf, bytes, root);
}

void armci_msg_clus_brdcst(void *buf, int bytes)
{
  ARMCI_ENTER(armci_msg_bcast, bytes);
  broadcast(&f, armci_of(f.self)->node, buf, bytes, f.self->boot.local_pe[0]);
}

/* Of a group the scopes that divide it by nodes would be groups of their own: all its members take part. */
void armci_msg_group_bcast_scope(int scope, void *buf, int bytes, int root, ARMCI_Group *group)
{
  ARMCI_ENTER(armci_msg_bcast, bytes);
  wtl_group *g = armci_member_group_of(&f, group);
  scope_of(&f, scope);
  broadcast(&f, g, buf, bytes, root);
}

void armci_msg_bintree(int scope, int *root, int *up, int *left, int *right)
{
  ARMCI_ENTER(armci_msg_bintree, 0);
  const wtl_group *g = scope_of(&f, scope);
  *root = g ? g->pe[0] : -1;
  *up = *left = *right = -1;
  if (g) {
    int i = g->me, l = 2 * i + 1;
    if (i > 0) *up = g->pe[(i - 1) / 2];
    if (l < g->n) *left = g->pe[l];
    if (l + 1 < g->n) *right = g->pe[l + 1];
  }
  wtl_leave(&f);
}

/* --- addresses ----------------------------------------------------------------------------------------------------------------- */

static void exchange(wtl_frame *f, wtl_group *g, void *ptrs[], int n)
{
  armci_check_that(f, n == g->n, "n", n, "the number of processes that take part");
  void *mine = ptrs[g->me];
  wtl_group_gather(f->self, f->site, g, &mine, ptrs, sizeof mine);
  wtl_leave(f);
}

void armci_exchange_address(void *ptrs[], int n)
{
  ARMCI_ENTER(armci_exchange_address, 0);
  exchange(&f, armci_of(f.self)->world, ptrs, n);
}

void armci_exchange_address_grp(void *ptrs[], int n, ARMCI_Group *group)
{
  ARMCI_ENTER(armci_exchange_address, 0);
  exchange(&f, armci_member_group_of(&f, group), ptrs, n);
}
