/*
 * groups.c - ARMCI's groups and domains. A domain is a run of processes with consecutive numbers on one node, because
 * programs expect its processes to follow its first one. If processes are distributed alternately over the nodes, each
 * is its own domain.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "armci/armci_front.h"
#include "os/os.h"

/* --- handles ------------------------------------------------------------------------------------------------------ */

/* A handle has the number of an entry in this process's table, and the serial number of the group in it. A copy
 * of a freed handle names no group, and an uninitialized handle names none, too. The table owns its groups. */
typedef struct entry {
  wtl_group *group; /* NULL: free */
  size_t serial;
} entry;

struct armci_groups {
  pthread_mutex_t lock; /* other threads may look up a group while one is made */
  entry *entries;
  size_t n, serial;
};

static armci_groups *table_make(void)
{
  armci_groups *t = calloc(1, sizeof *t);
  if (!t) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Init: no memory");
  pthread_mutex_init(&t->lock, NULL);
  t->serial = (size_t)wtl_clock_ns(); /* handles from before the last ARMCI_Finalize have smaller numbers */
  return t;
}

static void table_free(armci_groups *t)
{
  if (!t) return;
  for (size_t i = 0; i < t->n; i++) wtl_group_free(t->entries[i].group);
  pthread_mutex_destroy(&t->lock);
  free(t->entries);
  free(t);
}

/* Returns the number of a free entry. The caller holds the lock. */
static size_t free_entry(armci_groups *t)
{
  size_t i = 0;
  while (i < t->n && t->entries[i].group) i++;
  if (i < t->n) return i;
  size_t n = t->n ? 2 * t->n : 16;
  entry *more = realloc(t->entries, n * sizeof *more);
  if (!more) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI: no memory for groups");
  memset(more + t->n, 0, (n - t->n) * sizeof *more);
  t->entries = more;
  t->n = n;
  return i;
}

/* Fills in a handle, except for `comm`, which is filled in already. */
static void fill(armci_groups *t, ARMCI_Group *out, wtl_group *g)
{
  pthread_mutex_lock(&t->lock);
  size_t i = free_entry(t);
  t->entries[i] = (entry){g, ++t->serial};
  out->wtl_entry = i;
  out->wtl_serial = t->serial;
  pthread_mutex_unlock(&t->lock);
}

/* Returns NULL if the handle names no group. */
static wtl_group *look_up(const wtl_frame *f, const ARMCI_Group *group)
{
  armci_groups *t = armci_of(f->self)->groups;
  if (!group) return NULL;
  pthread_mutex_lock(&t->lock);
  const entry *e = group->wtl_entry < t->n ? &t->entries[group->wtl_entry] : NULL;
  wtl_group *g = e && e->serial == group->wtl_serial ? e->group : NULL;
  pthread_mutex_unlock(&t->lock);
  return g;
}

static void take(armci_groups *t, const ARMCI_Group *group)
{
  pthread_mutex_lock(&t->lock);
  t->entries[group->wtl_entry] = (entry){0};
  pthread_mutex_unlock(&t->lock);
}

wtl_group *armci_group_of(const wtl_frame *f, const ARMCI_Group *group)
{
  wtl_group *g = look_up(f, group);
  if (WTL_UNLIKELY(!g))
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: the group at %p is no group: freed, never made (ARMCI_Group_create), or this process is no member",
                wtl_error_place(f->name), (const void *)group);
  return g;
}

wtl_group *armci_member_group_of(const wtl_frame *f, const ARMCI_Group *group)
{
  wtl_group *g = armci_group_of(f, group);
  if (WTL_UNLIKELY(g->me < 0))
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: this process is no member of the group", wtl_error_place(f->name));
  return g;
}

static wtl_group *make(const wtl_frame *f, const int *pes, int n)
{
  wtl_group *g = wtl_group_make(f->self, pes, n);
  if (!g) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI: no memory for a group of %d", n);
  return g;
}

/* --- groups that exist from the start ----------------------------------------------------------------------------- */

/* Replaces in place the node of each process by its domain. */
static void number_domains(int *domain_of, int n)
{
  int node = domain_of[0], domain = 0;
  for (int i = 0; i < n; i++) {
    if (domain_of[i] != node) domain++;
    node = domain_of[i];
    domain_of[i] = domain;
  }
}

static int domain_of(const wtl_frame *f, int proc)
{
  return armci_of(f->self)->domain_of[proc];
}

static bool is_first_of_domain(const armci_state *s, const wtl_group *g, int member)
{
  for (int i = 0; i < member; i++)
    if (s->domain_of[g->pe[i]] == s->domain_of[g->pe[member]]) return false;
  return true;
}

/* The members of this process's domain, or the first member of each domain. NULL: this process does not belong to
 * it, unless `of_all`. */
static wtl_group *part_of(const wtl_frame *f, const armci_state *s, const wtl_group *g, int scope, bool of_all)
{
  int *pes = malloc((size_t)g->n * sizeof *pes), n = 0, mine = s->domain_of[f->self->me];
  wtl_group *part = NULL;
  if (!pes) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI: no memory for a group of %d", g->n);
  for (int i = 0; i < g->n; i++)
    if (scope == SCOPE_NODE ? s->domain_of[g->pe[i]] == mine : is_first_of_domain(s, g, i)) pes[n++] = g->pe[i];
  if (of_all || scope == SCOPE_NODE || is_first_of_domain(s, g, g->me)) part = make(f, pes, n);
  free(pes);
  return part;
}

void armci_groups_start(const wtl_frame *f, armci_state *s)
{
  wtl_pe *self = f->self;
  int n = self->n, *all = calloc((size_t)n, sizeof *all);
  s->domain_of = malloc((size_t)n * sizeof *s->domain_of);
  if (!all || !s->domain_of) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Init: no memory");
  for (int i = 0; i < n; i++) all[i] = i;
  s->groups = table_make();
  s->world = s->standard = make(f, all, n);
  fill(s->groups, &s->world_handle, s->world);
  s->standard_handle = s->world_handle;
  free(all);
  wtl_group_gather(self, f->site, s->world, &self->boot.node, s->domain_of, sizeof *s->domain_of);
  number_domains(s->domain_of, n);
  s->node = part_of(f, s, s->world, SCOPE_NODE, true);
  s->masters = part_of(f, s, s->world, SCOPE_MASTERS, true);
}

void armci_groups_stop(armci_state *s)
{
  table_free(s->groups);
  wtl_group_free(s->node);
  wtl_group_free(s->masters);
  free(s->domain_of);
}

void ARMCI_Group_get_world(ARMCI_Group *group)
{
  ARMCI_ENTER(ARMCI_Group_get_world, 0);
  armci_check_given(&f, "group", group, sizeof *group);
  *group = armci_of(f.self)->world_handle;
  armci_comm_world(group, sizeof group->comm);
}

/* --- making a group ----------------------------------------------------------------------------------------------- */

static void create(const wtl_frame *f, int n, const int *pids, ARMCI_Group *out, const wtl_group *parent)
{
  armci_check_that(f, n >= 0 && n <= parent->n, "n", n, "0 to the number of the parent's processes");
  armci_check_given(f, "pid_list", pids, (size_t)n);
  armci_check_given(f, "group_out", out, sizeof *out);
  int *pes = malloc(((size_t)n + 1) * sizeof *pes);
  if (!pes) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI: no memory for a group of %d", n);
  bool is_member = false;
  for (int i = 0; i < n; i++) {
    armci_check_that(f, (unsigned)pids[i] < (unsigned)parent->n, "a process in pid_list", pids[i],
                     "the parent's processes");
    for (int k = 0; k < i; k++)
      armci_check_that(f, pids[k] != pids[i], "a process in pid_list", pids[i], "each process once");
    pes[i] = parent->pe[pids[i]];
    is_member |= pes[i] == f->self->me;
  }
  *out = (ARMCI_Group){0};
  if (is_member) {
    wtl_group *g = make(f, pes, n);
    armci_synchronize(f, g, 0, 0);
    /* MPI would spin until the last process arrives. */
    if (armci_comm_is_wanted()) wtl_group_barrier(f->self, f->site, g);
    armci_comm_make(pes, n, out, sizeof out->comm);
    fill(armci_of(f->self)->groups, out, g);
  }
  free(pes);
}

void ARMCI_Group_create(int n, int *pids, ARMCI_Group *group)
{
  ARMCI_ENTER(ARMCI_Group_create, 0);
  create(&f, n, pids, group, armci_of(f.self)->standard);
}

void ARMCI_Group_create_child(int n, int *pids, ARMCI_Group *group, ARMCI_Group *parent)
{
  ARMCI_ENTER_AS(ARMCI_Group_create_child, ARMCI_Group_create, 0);
  create(&f, n, pids, group, armci_group_of(&f, parent));
}

void ARMCI_Group_free(ARMCI_Group *group)
{
  ARMCI_ENTER(ARMCI_Group_free, 0);
  armci_check_given(&f, "group", group, sizeof *group);
  armci_state *s = armci_of(f.self);
  wtl_group *g = look_up(&f, group);
  ARMCI_Group freed = {0};
  if (g && g != s->world) {
    /* Keeps the serial number, so that a second free is noticed. */
    freed = (ARMCI_Group){.wtl_entry = group->wtl_entry, .wtl_serial = group->wtl_serial};
    if (s->standard == g) s->standard = s->world, s->standard_handle = s->world_handle;
    armci_comm_free(group);
    take(s->groups, group);
    wtl_group_free(g);
  }
  if (!g && group->wtl_serial) armci_group_of(&f, group); /* the handle of a process that is not a member is all 0 */
  *group = freed;
}

/* --- scopes ------------------------------------------------------------------------------------------------------- */

wtl_group *armci_scope_of(const wtl_frame *f, wtl_group *g, int scope)
{
  armci_state *s = armci_of(f->self);
  armci_check_that(f, scope >= SCOPE_ALL && scope <= SCOPE_MASTERS, "scope", scope,
                   "SCOPE_ALL, SCOPE_NODE and SCOPE_MASTERS");
  if (scope == SCOPE_ALL) return g;
  if (!g->is_world) return part_of(f, s, g, scope, false);
  if (scope == SCOPE_NODE) return s->node;
  return s->masters->me < 0 ? NULL : s->masters;
}

void armci_scope_end(wtl_group *g, wtl_group *scoped)
{
  if (scoped && scoped != g && !g->is_world) wtl_group_free(scoped);
}

/* --- queries ------------------------------------------------------------------------------------------------------ */

int ARMCI_Group_rank(ARMCI_Group *group, int *rank)
{
  ARMCI_ENTER(ARMCI_Group_rank, 0);
  armci_check_given(&f, "rank", rank, sizeof *rank);
  const wtl_group *g = look_up(&f, group);
  *rank = g ? g->me : -1;
  return *rank < 0;
}

void ARMCI_Group_size(ARMCI_Group *group, int *size)
{
  ARMCI_ENTER(ARMCI_Group_size, 0);
  armci_check_given(&f, "size", size, sizeof *size);
  const wtl_group *g = look_up(&f, group);
  *size = g ? g->n : 0;
}

void ARMCI_Group_set_default(ARMCI_Group *group)
{
  ARMCI_ENTER(ARMCI_Group_set_default, 0);
  armci_state *s = armci_of(f.self);
  s->standard = armci_group_of(&f, group);
  s->standard_handle = *group;
}

void ARMCI_Group_get_default(ARMCI_Group *group)
{
  ARMCI_ENTER(ARMCI_Group_get_default, 0);
  armci_check_given(&f, "group", group, sizeof *group);
  armci_state *s = armci_of(f.self);
  *group = s->standard_handle;
  if (s->standard == s->world) armci_comm_world(group, sizeof group->comm);
}

int ARMCI_Absolute_id(ARMCI_Group *group, int rank)
{
  ARMCI_ENTER(ARMCI_Absolute_id, 0);
  const wtl_group *g = armci_group_of(&f, group);
  armci_check_that(&f, (unsigned)rank < (unsigned)g->n, "group_rank", rank, "the group's processes");
  return g->pe[rank];
}

/* --- domains ------------------------------------------------------------------------------------------------------ */

static void check_domain(const wtl_frame *f, armci_domain_t domain)
{
  armci_check_that(f, domain == ARMCI_DOMAIN_SMP, "domain", domain, "ARMCI_DOMAIN_SMP");
}

static int nth_of_domain(const wtl_frame *f, int domain, int nth, int *n)
{
  int found = -1;
  *n = 0;
  for (int p = 0; p < f->self->n; p++) {
    if (domain_of(f, p) != domain) continue;
    if ((*n)++ == nth) found = p;
  }
  return found;
}

int armci_domain_nprocs(armci_domain_t domain, int id)
{
  ARMCI_ENTER_AS(armci_domain_nprocs, armci_domain, 0);
  int n;
  check_domain(&f, domain);
  armci_check_that(&f, id <= domain_of(&f, f.self->n - 1), "id", id, "the domains' numbers, and -1");
  nth_of_domain(&f, id < 0 ? domain_of(&f, f.self->me) : id, 0, &n);
  return n;
}

int armci_domain_id(armci_domain_t domain, int proc)
{
  ARMCI_ENTER_AS(armci_domain_id, armci_domain, 0);
  check_domain(&f, domain);
  armci_check_proc(&f, proc);
  return domain_of(&f, proc);
}

int armci_domain_glob_proc_id(armci_domain_t domain, int id, int i)
{
  ARMCI_ENTER_AS(armci_domain_glob_proc_id, armci_domain, 0);
  int n, proc;
  check_domain(&f, domain);
  proc = nth_of_domain(&f, id, i, &n);
  armci_check_that(&f, proc >= 0, "loc_proc_id", i, "less than the domain's number of processes");
  return proc;
}

int armci_domain_my_id(armci_domain_t domain)
{
  ARMCI_ENTER_AS(armci_domain_my_id, armci_domain, 0);
  check_domain(&f, domain);
  return domain_of(&f, f.self->me);
}

int armci_domain_count(armci_domain_t domain)
{
  ARMCI_ENTER_AS(armci_domain_count, armci_domain, 0);
  check_domain(&f, domain);
  return domain_of(&f, f.self->n - 1) + 1;
}

int armci_domain_same_id(armci_domain_t domain, int proc)
{
  ARMCI_ENTER_AS(armci_domain_same_id, armci_domain, 0);
  check_domain(&f, domain);
  armci_check_proc(&f, proc);
  return domain_of(&f, proc) == domain_of(&f, f.self->me);
}

static int is_near(wtl_frame *f, int proc)
{
  armci_check_proc(f, proc);
  return wtl_global_is_near(f->self, proc);
}

int ARMCI_Same_node(int proc)
{
  ARMCI_ENTER(ARMCI_Same_node, 0);
  return is_near(&f, proc);
}

int armci_sameclusnode(int proc)
{
  ARMCI_ENTER_AS(armci_sameclusnode, ARMCI_Same_node, 0);
  return is_near(&f, proc);
}
