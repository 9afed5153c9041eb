/*
 * mpi_governed.c - governs the clocks of MPI programs. The processes of a node share an arena for their votes, as PEs
 * do.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mpi/mpi_front.h"

/* --- an arena without a boot: the first process of the node broadcasts the handle --- */

typedef struct notice {
  MPI_Comm node;
  char text[256]; /* the handle; empty: the first process has no memory for the arena */
  bool is_sent;
} notice;

static int publish(wtl_boot *b, const char *key, const char *value)
{
  notice *n = b->state;
  (void)key; /* there is only one */
  snprintf(n->text, sizeof n->text, "%s", value);
  return 0;
}

static int fence(wtl_boot *b)
{
  notice *n = b->state;
  n->is_sent = true;
  return PMPI_Bcast(n->text, sizeof n->text, MPI_CHAR, 0, n->node) == MPI_SUCCESS ? 0 : 1;
}

static int lookup(wtl_boot *b, int pe, const char *key, char *value, size_t size)
{
  const notice *n = b->state;
  (void)pe;
  (void)key;
  snprintf(value, size, "%s", n->text);
  return n->text[0] ? 0 : -1;
}

/* Shares the memory of the votes. Where the first process of the node gets none, the node is not governed. A process
 * that cannot open the memory ends the job, because the others would wait for its vote. */
static bool share_votes(wtl_mpi_rank *self)
{
  static const wtl_boot_ops ops = {.name = "mpi", .publish = publish, .fence = fence, .lookup = lookup};
  char error[512];
  notice n = {.node = self->node};
  int first = 0; /* the arena reads no other entry of local_pe */
  wtl_boot b = {.ops = &ops,
                .pe = self->slot,
                .n_pes = self->n_local,
                .local_rank = self->slot,
                .n_local = self->n_local,
                .local_pe = &first,
                .state = &n};
  const wtl_arena_shape shape = {
      .shared_bytes = wtl_votes_bytes(self->n_local), .name = "arena", .setting = "WATTLE_GOVERN"};
  int rc = wtl_arena_start(&self->shared, &b, &shape, error, sizeof error);
  if (rc && !n.is_sent) fence(&b);
  if (rc && n.text[0]) wtl_mpi_refuse(error, rc);
  if (rc) snprintf(self->clocks->why, sizeof self->clocks->why, "%s", error);
  return rc == 0;
}

static void wait_for_node(void *arg)
{
  PMPI_Barrier(((wtl_mpi_rank *)arg)->node);
}

static bool all_govern(wtl_mpi_rank *self, const wtl_mpi_place *all)
{
  for (int i = 0; i < self->n_local; i++) {
    if (all[i].governs) continue;
    snprintf(self->clocks->why, sizeof self->clocks->why,
             "process %ld has no governor: several of its threads may call (MPI_THREAD_MULTIPLE), or it was started "
             "with other settings",
             all[i].pid);
    return false;
  }
  return true;
}

static int start_clocks(wtl_mpi_rank *self, bool governs, const wtl_mpi_place *all, char *error, size_t size)
{
  size_t n = (size_t)self->n_local;
  cpu_set_t *cpus = calloc(n, sizeof *cpus);
  pid_t *pids = calloc(n, sizeof *pids);
  wtl_clocks_node node = {.settings = &self->settings,
                          .governs = governs,
                          .me = self->record.me,
                          .slot = self->slot,
                          .n_local = self->n_local,
                          .n_all = self->record.n,
                          .votes = (wtl_votes *)(void *)self->shared.shared,
                          .cpus = cpus,
                          .pids = pids,
                          .profile = &self->profile,
                          .waited = self->door.ticks,
                          .barrier = wait_for_node,
                          .arg = self};
  for (size_t i = 0; cpus && pids && i < n; i++) {
    cpus[i] = all[i].cpus;
    pids[i] = all[i].pid_namespace == all[self->slot].pid_namespace ? (pid_t)all[i].pid : 0;
  }
  int rc = WTL_EXIT_OSERR;
  if (cpus && pids)
    rc = wtl_clocks_start(self->clocks, &node, error, size);
  else
    snprintf(error, size, "no memory for the governor");
  free(cpus);
  free(pids);
  return rc;
}

void wtl_mpi_govern(wtl_mpi_rank *self, const wtl_mpi_place *all)
{
  char error[512];
  bool wanted = wtl_clocks_wanted(&self->settings), limits = wtl_packages_wanted(&self->settings);
  if (self->slot == 0) wtl_clocks_repair(&self->settings);
  if ((!wanted && !limits) || !(self->clocks = calloc(1, sizeof *self->clocks))) return;
  self->clocks->settings = &self->settings;
  self->record.write_clocks = wtl_clocks_write;
  self->record.clocks = self->clocks;
  bool governs = wanted && all_govern(self, all) && share_votes(self);
  if (*self->settings.power_budget.text && self->is_partial) {
    snprintf(self->clocks->why, sizeof self->clocks->why, "processes of this node run without Wattle");
    governs = false;
  }
  if (wanted && !governs && self->slot == 0 && !*self->settings.power_budget.text)
    wtl_message_print("%s: %s", wtl_clocks_setting(&self->settings), self->clocks->why);
  /* A failure ends the job, because the other processes would wait. */
  int rc = start_clocks(self, governs, all, error, sizeof error);
  if (rc) wtl_mpi_refuse(error, rc);
  if (!self->clocks->governs) return;
  self->door.governor = &self->clocks->governor;
  wtl_record_govern(&self->record, self->clocks);
}

void wtl_mpi_stop_governing(wtl_mpi_rank *self)
{
  self->door.governor = NULL;
  if (self->clocks) wtl_clocks_close(self->clocks);
}

void wtl_mpi_clocks_back(wtl_mpi_rank *self)
{
  if (self->clocks) wtl_clocks_stop(self->clocks);
  free(self->clocks);
  if (self->shared.base) wtl_arena_stop(&self->shared);
}

/* --- regions --- */

/* Finds the group of a communicator. False: its processes do not wait for each other. */
static bool find_group(MPI_Comm comm, wtl_sync_group *group)
{
  int inter = 0, n = 0;
  *group = (wtl_sync_group){0};
  if (comm == MPI_COMM_WORLD) return wtl_mpi_self->record.n > 1;
  if (comm == MPI_COMM_NULL || !comm) return false;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &n);
  if (inter || n < 2) return false;
  if (n == wtl_mpi_self->record.n) return true;
  return wtl_mpi_self->door.governor && (group->key = wtl_mpi_group_key(comm)) != 0; /* timelines have no groups */
}

void wtl_mpi_arrive(wtl_mpi_frame *f, MPI_Comm comm)
{
  wtl_governor *governor = wtl_mpi_self->door.governor;
  wtl_sync_group group;
  f->synchronizes = find_group(comm, &group);
  if (!f->synchronizes) return;
  f->arrived = wtl_ticks();
  f->of_all = group.key == 0;
  f->entered = governor && wtl_governor_enter(governor, &group, false);
}

/* All ranks make the same collective calls over all ranks, in the same order. So this one fits in after each. */
static void exchange_watts(wtl_governor *g)
{
  enum { WORDS = sizeof(wtl_power_part) / sizeof(uint32_t), SUMS = offsetof(wtl_power_part, drew) / sizeof(uint32_t) };
  uint32_t mine[WORDS], all[WORDS];
  wtl_power_part part;
  wtl_governor_share_watts(g, &part, wtl_ticks());
  memcpy(mine, &part, sizeof part);
  if (PMPI_Allreduce(mine, all, SUMS, MPI_UNSIGNED, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS ||
      PMPI_Allreduce(mine + SUMS, all + SUMS, WORDS - SUMS, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS)
    return; /* the error is the program's: its handler has been called */
  memcpy(&part, all, sizeof part);
  wtl_governor_hear_watts(g, &part, wtl_ticks());
}

void wtl_mpi_depart(wtl_mpi_frame *f)
{
  wtl_governor *governor = wtl_mpi_self->door.governor;
  if (f->entered && governor && wtl_governor_exchanges_watts(governor)) exchange_watts(governor);
  if (f->entered && governor) wtl_governor_leave(governor, f->site->addr);
  if (f->of_all) wtl_profile_note(&wtl_mpi_self->profile, WTL_SPAN_COLLECTIVE, f->arrived, wtl_ticks(), f->site);
}
