/* pe_governor.c - decides with the other PEs of the node whether this PE has a governor, and starts and stops it. */
#include "job/pe_governor.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fabric/agent.h"
#include "govern/clocks.h"
#include "govern/transfers.h"
#include "pgas/near.h"
#include "record/record.h"

/* Only transfers to other nodes are governed. */
static bool wants_transfers(const wtl_pe *self)
{
  return self->settings.transfers.number != WTL_TRANSFERS_OFF && self->net;
}

static bool wants_clocks(const wtl_pe *self)
{
  return wtl_clocks_wanted(&self->settings) || wants_transfers(self);
}

void wtl_governed_request(wtl_pe *self)
{
  wtl_control_of(self, self->me)->governs = wants_clocks(self) && self->thread_level < WTL_THREAD_MULTIPLE;
}

static bool all_want_governor(wtl_pe *self)
{
  for (int slot = 0; slot < self->n_local; slot++) {
    int pe = self->boot.local_pe[slot];
    if (wtl_control_of(self, pe)->governs) continue;
    snprintf(self->clocks->why, sizeof self->clocks->why,
             "PE %d has no governor: several of its threads may call (SHMEM_THREAD_MULTIPLE), or it was started with "
             "other settings",
             pe);
    return false;
  }
  return true;
}

typedef struct node_barrier {
  const wtl_votes *votes;
  uint32_t all; /* the value of `arrivals` at which all PEs of the node have come */
} node_barrier;

static bool is_complete(void *arg)
{
  const node_barrier *m = arg;
  return (int32_t)(atomic_load_explicit(&m->votes->arrivals, memory_order_acquire) - m->all) >= 0;
}

/* A reusable barrier of the PEs of this node. The program's barrier does not do: other nodes may have no governor. */
static void wait_for_node(void *arg)
{
  wtl_pe *self = arg;
  wtl_site site = {0};
  uint32_t n = (uint32_t)self->n_local, came = atomic_fetch_add(&self->votes->arrivals, 1) + 1;
  node_barrier m = {self->votes, (came + n - 1) / n * n};
  if (came == m.all)
    for (int slot = 0; slot < self->n_local; slot++) wtl_touch_control(self, self->boot.local_pe[slot]);
  wtl_door_wait(&self->door, &site, WTL_WATCH_CONTROL, is_complete, &m);
}

static int start_clocks(wtl_pe *self, bool governs, char *error, size_t size)
{
  size_t n = self->n_local > 0 ? (size_t)self->n_local : 1;
  cpu_set_t *cpus = calloc(n, sizeof *cpus);
  pid_t *pids = calloc(n, sizeof *pids);
  if (!cpus || !pids) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for the governor");
  for (int slot = 0; slot < self->n_local; slot++) {
    const wtl_control *theirs = wtl_control_of(self, self->boot.local_pe[slot]);
    memcpy(&cpus[slot], theirs->cpus, sizeof cpus[slot]);
    pids[slot] = theirs->pid_namespace == wtl_control_of(self, self->me)->pid_namespace ? (pid_t)theirs->pid : 0;
  }
  wtl_clocks_node node = {.settings = &self->settings,
                          .governs = governs,
                          .me = self->me,
                          .slot = self->slot,
                          .n_local = self->n_local,
                          .n_all = self->n,
                          .exchanges = true,
                          .votes = self->votes,
                          .cpus = cpus,
                          .pids = pids,
                          .profile = &self->profile,
                          .waited = self->door.ticks,
                          .barrier = wait_for_node,
                          .arg = self};
  int rc = wtl_clocks_start(self->clocks, &node, error, size);
  free(cpus);
  free(pids);
  return rc;
}

static void start_transfers(wtl_pe *self)
{
  wtl_governor *governor = self->door.governor;
  wtl_transfers *t = calloc(1, sizeof *t);
  if (!t) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for the governor of transfers");
  wtl_transfers_start(t, &self->settings, governor, self->door.stages.price_s);
  self->transfers = t;
  self->record->write_transfers = wtl_transfers_write;
  self->record->transfers = t;
  if (governor && self->agent) wtl_agent_serve_by(self->agent, wtl_transfers_serve, t);
}

static void start_governor(wtl_pe *self)
{
  char error[512];
  self->clocks = calloc(1, sizeof *self->clocks);
  if (!self->clocks) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for the governor");
  self->clocks->settings = &self->settings;
  self->record->write_clocks = wtl_clocks_write;
  self->record->clocks = self->clocks;
  bool governs = wants_clocks(self) && all_want_governor(self);
  if (wants_clocks(self) && !governs && self->slot == 0 && !*self->settings.power_budget.text)
    wtl_message_print("%s: %s",
                      wtl_clocks_wanted(&self->settings) ? wtl_clocks_setting(&self->settings) : "WATTLE_TRANSFERS",
                      self->clocks->why);
  int rc = start_clocks(self, governs, error, sizeof error);
  if (rc) wtl_pe_fail(rc, "%s", error);
  if (!self->clocks->governs) return;
  self->door.governor = &self->clocks->governor;
  if (self->clocks->governor.power) self->exchange_watts = wtl_governed_exchange_watts;
  wtl_record_govern(self->record, self->clocks);
}

/* Wrong thresholds are an error even if no PE is on another node. */
static void check_thresholds(const wtl_settings *settings)
{
  char error[512];
  uint64_t bytes[WTL_TRANSFER_KINDS];
  bool learns;
  if (wtl_thresholds_read(settings->thresholds.text, bytes, &learns, error, sizeof error) != 0)
    wtl_pe_fail(WTL_EXIT_CONFIG, "%s", error);
}

void wtl_governed_start(wtl_pe *self)
{
  check_thresholds(&self->settings);
  if (self->slot == 0) wtl_clocks_repair(&self->settings);
  if (!wants_clocks(self) && !wtl_packages_wanted(&self->settings)) return;
  start_governor(self);
  if (wants_transfers(self) && self->thread_level < WTL_THREAD_MULTIPLE) start_transfers(self);
}

void wtl_governed_close(wtl_pe *self)
{
  if (self->transfers) {
    if (self->agent) wtl_agent_serve_by(self->agent, NULL, NULL);
    self->transfers->governor = NULL;
  }
  if (!self->clocks) return;
  self->door.governor = NULL;
  wtl_clocks_close(self->clocks);
}

void wtl_governed_stop(wtl_pe *self)
{
  free(self->transfers);
  self->transfers = NULL;
  if (!self->clocks) return;
  wtl_clocks_stop(self->clocks);
  free(self->clocks);
  self->clocks = NULL;
}
