/* messages.c - ARMCI's two-sided messages, and collectives that move bytes. */
#include <string.h>

#include "armci/armci_front.h"
#include "global/tagged.h"
#include "os/floats.h"
#include "os/os.h"
#include "team/barrier.h"

/* The context of the program's messages. Groups have contexts of their own. */
enum { CONTEXT = 0 };

/* Programs may call this before ARMCI_Init and after ARMCI_Finalize, too. */
int armci_msg_me(void)
{
  int me, n;
  if (WTL_UNLIKELY(!PARMCI_Initialized()) && armci_comm_place(&me, &n)) return me;
  ARMCI_ENTER(armci_msg_me, 0);
  return f.self->me;
}

int armci_msg_nproc(void)
{
  int me, n;
  if (WTL_UNLIKELY(!PARMCI_Initialized()) && armci_comm_place(&me, &n)) return n;
  ARMCI_ENTER(armci_msg_nproc, 0);
  return f.self->n;
}

double armci_timer(void)
{
  WTL_FLOATS_APART;
  return (double)wtl_clock_ns() * 1e-9;
}

static void check_buffer(const wtl_frame *f, const void *buf, int bytes)
{
  armci_check_that(f, bytes >= 0, "bytes", bytes, "0 and more");
  armci_check_given(f, "buf", buf, (size_t)bytes);
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

void armci_msg_snd(int tag, void *buf, int bytes, int to)
{
  ARMCI_ENTER(armci_msg_snd, bytes);
  check_buffer(&f, buf, bytes);
  armci_check_proc(&f, to);
  wtl_tagged_send(f.self, f.site, to, CONTEXT, tag, buf, (size_t)bytes);
}

static int receive(wtl_frame *f, int tag, void *buf, int size, int *received, int from)
{
  int sender;
  check_buffer(f, buf, size);
  size_t n =
      wtl_tagged_receive(f->self, f->site, f->name, (wtl_envelope){from, CONTEXT, tag}, buf, (size_t)size, &sender);
  if (received) *received = (int)n;
  return sender;
}

void armci_msg_rcv(int tag, void *buf, int size, int *received, int from)
{
  ARMCI_ENTER(armci_msg_rcv, 0);
  armci_check_proc(&f, from);
  receive(&f, tag, buf, size, received, from);
}

int armci_msg_rcvany(int tag, void *buf, int size, int *received)
{
  ARMCI_ENTER_AS(armci_msg_rcvany, armci_msg_rcv, 0);
  return receive(&f, tag, buf, size, received, WTL_FROM_ANY);
}

/* --- barrier, broadcast, trees ------------------------------------------------------------------------------------ */

void parmci_msg_barrier(void)
{
  ARMCI_ENTER(armci_msg_barrier, 0);
  armci_synchronize_at_barrier(&f, armci_of(f.self)->world);
  wtl_barrier(f.self, f.site);
}

__attribute__((visibility("default"), weak, alias("parmci_msg_barrier"))) void armci_msg_barrier(void);

void parmci_msg_group_barrier(ARMCI_Group *group)
{
  ARMCI_ENTER_AS(armci_msg_group_barrier, armci_msg_barrier, 0);
  wtl_group *g = armci_member_group_of(&f, group);
  armci_synchronize_at_barrier(&f, g);
  wtl_group_barrier(f.self, f.site, g);
}

__attribute__((visibility("default"), weak, alias("parmci_msg_group_barrier"))) void
armci_msg_group_barrier(ARMCI_Group *group);

static void broadcast(wtl_frame *f, wtl_group *g, void *buf, int bytes, int root)
{
  check_buffer(f, buf, bytes);
  int number = g ? wtl_group_number(g, root) : 0;
  armci_check_that(f, number >= 0, "root", root, "processes that take part");
  armci_synchronize(f, g, (size_t)bytes, root);
  if (g) wtl_group_broadcast(f->self, f->site, g, buf, (size_t)bytes, number);
}

/* If the root is on another node, each node has its own root, its first process. */
static void broadcast_scope(wtl_frame *f, wtl_group *g, int scope, void *buf, int bytes, int root)
{
  wtl_group *part = armci_scope_of(f, g, scope);
  bool elsewhere = scope == SCOPE_NODE && wtl_group_number(part, root) < 0;
  broadcast(f, part, buf, bytes, elsewhere ? part->pe[0] : root);
  armci_scope_end(g, part);
}

void armci_msg_bcast_scope(int scope, void *buf, int bytes, int root)
{
  ARMCI_ENTER_AS(armci_msg_bcast_scope, armci_msg_bcast, bytes);
  broadcast_scope(&f, armci_of(f.self)->world, scope, buf, bytes, root);
}

void armci_msg_bcast(void *buf, int bytes, int root)
{
  ARMCI_ENTER(armci_msg_bcast, bytes);
  broadcast(&f, armci_of(f.self)->world, buf, bytes, root);
}

void armci_msg_brdcst(void *buf, int bytes, int root)
{
  ARMCI_ENTER_AS(armci_msg_brdcst, armci_msg_bcast, bytes);
  broadcast(&f, armci_of(f.self)->world, buf, bytes, root);
}

void armci_msg_clus_brdcst(void *buf, int bytes)
{
  ARMCI_ENTER_AS(armci_msg_clus_brdcst, armci_msg_bcast, bytes);
  wtl_group *node = armci_of(f.self)->node;
  broadcast(&f, node, buf, bytes, node->pe[0]);
}

void armci_msg_group_bcast_scope(int scope, void *buf, int bytes, int root, ARMCI_Group *group)
{
  ARMCI_ENTER_AS(armci_msg_group_bcast_scope, armci_msg_bcast, bytes);
  broadcast_scope(&f, armci_member_group_of(&f, group), scope, buf, bytes, root);
}

void armci_grp_clus_brdcst(void *buf, int bytes, int first, int n, ARMCI_Group *group)
{
  ARMCI_ENTER_AS(armci_grp_clus_brdcst, armci_msg_bcast, bytes);
  const wtl_group *g = armci_member_group_of(&f, group);
  armci_check_that(&f, n > 0 && n <= g->n, "grp_clus_nproc", n, "1 to the number of the group's processes");
  armci_check_that(&f, first >= 0 && first <= g->n - n, "grp_master", first, "numbers of the group's processes");
  wtl_group *part = wtl_group_make(f.self, g->pe + first, n);
  if (!part) wtl_pe_fail(WTL_EXIT_OSERR, "armci_grp_clus_brdcst: no memory");
  broadcast(&f, part->me < 0 ? NULL : part, buf, bytes, g->pe[first]);
  wtl_group_free(part);
}

void armci_msg_bintree(int scope, int *root, int *up, int *left, int *right)
{
  ARMCI_ENTER(armci_msg_bintree, 0);
  armci_check_given(&f, "Root", root, sizeof *root);
  armci_check_given(&f, "Up", up, sizeof *up);
  armci_check_given(&f, "Left", left, sizeof *left);
  armci_check_given(&f, "Right", right, sizeof *right);
  const wtl_group *g = armci_scope_of(&f, armci_of(f.self)->world, scope);
  *root = g ? g->pe[0] : -1;
  *up = *left = *right = -1;
  if (g) {
    int i = g->me, l = 2 * i + 1;
    if (i > 0) *up = g->pe[(i - 1) / 2];
    if (l < g->n) *left = g->pe[l];
    if (l + 1 < g->n) *right = g->pe[l + 1];
  }
}

/* --- addresses ---------------------------------------------------------------------------------------------------- */

static void exchange(wtl_frame *f, wtl_group *g, void *ptrs[], int n)
{
  armci_check_given(f, "ptr_arr", ptrs, sizeof *ptrs);
  armci_check_that(f, n == g->n, "n", n, "the number of processes that take part");
  void *mine = ptrs[g->me];
  armci_synchronize(f, g, 0, 0);
  wtl_group_gather(f->self, f->site, g, &mine, ptrs, sizeof mine);
}

void armci_exchange_address(void *ptrs[], int n)
{
  ARMCI_ENTER(armci_exchange_address, 0);
  exchange(&f, armci_of(f.self)->world, ptrs, n);
}

void armci_exchange_address_grp(void *ptrs[], int n, ARMCI_Group *group)
{
  ARMCI_ENTER_AS(armci_exchange_address_grp, armci_exchange_address, 0);
  exchange(&f, armci_member_group_of(&f, group), ptrs, n);
}
