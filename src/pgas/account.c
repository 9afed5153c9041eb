#include "pgas/account.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "pgas/profile_file.h"
#include "pgas/sync.h"

void wtl_account_states(const wtl_pe *self, wtl_activity *a)
{
  double s = self->door.stages.ns_per_tick * 1e-9;
  memset(a, 0, sizeof *a);
  a->wall_s = (double)(wtl_ticks() - self->start_tick) * s;
  a->spin_s = (double)self->door.ticks[WTL_STAGE_SPIN] * s;
  a->yield_s = (double)self->door.ticks[WTL_STAGE_YIELD] * s;
  a->asleep_s = (double)self->door.ticks[WTL_STAGE_ASLEEP] * s;
  a->active_s = fmax(0, a->wall_s - a->spin_s - a->yield_s - a->asleep_s);
  a->bytes = (double)wtl_profile_bytes(&self->profile);
}

/* One interval by the wall clock, as time on a core. */
static void put_on_core(wtl_activity *a, double cpu_s)
{
  double awake_s = a->active_s + a->spin_s + a->yield_s, share;
  if (cpu_s >= awake_s) {
    a->active_s += cpu_s - awake_s;
    return;
  }
  share = cpu_s / awake_s;
  a->active_s *= share;
  a->spin_s *= share;
  a->yield_s *= share;
  a->asleep_s += awake_s - cpu_s;
}

void wtl_account_activity(wtl_pe *self, wtl_activity *out)
{
  wtl_ledger *l = &self->so_far;
  double cpu_s = wtl_pe_cpu_seconds();
  wtl_activity now, step;
  wtl_account_states(self, &now);
  step.wall_s = now.wall_s - l->states.wall_s;
  step.active_s = fmax(0, now.active_s - l->states.active_s);
  step.spin_s = now.spin_s - l->states.spin_s;
  step.yield_s = now.yield_s - l->states.yield_s;
  step.asleep_s = now.asleep_s - l->states.asleep_s;
  put_on_core(&step, cpu_s - l->cpu_s);
  l->states = now;
  l->cpu_s = cpu_s;
  l->on_core.wall_s += step.wall_s;
  l->on_core.active_s += step.active_s;
  l->on_core.spin_s += step.spin_s;
  l->on_core.yield_s += step.yield_s;
  l->on_core.asleep_s += step.asleep_s;
  l->on_core.bytes = now.bytes;
  *out = l->on_core;
}

#ifdef WTL_THREADS
void wtl_account_register(wtl_pe *self)
{
  (void)self; /* wattle.h speaks of the process, which here has many PEs */
}
#else
static void tell_activity(void *arg, wtl_activity *a)
{
  wtl_account_activity(arg, a);
}

void wtl_account_register(wtl_pe *self)
{
  wtl_activity_register(tell_activity, self);
}
#endif

/* The model is linear, so one second in each state and one byte tell all of it. */
static void publish_prices(wtl_shared *shared, const wtl_machine *m)
{
  const wtl_activity unit[5] = {
      {1, 1, 0, 0, 0, 0}, {1, 0, 1, 0, 0, 0}, {1, 0, 0, 1, 0, 0}, {1, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 1e9}};
  wattle_joules_t j[5][2];
  for (int i = 0; i < 5; i++) wtl_model_pe(m, &unit[i], j[i]);
  for (int d = 0; d < 2; d++) {
    shared->price[d].active = j[0][d].joules;
    shared->price[d].spin = j[1][d].joules;
    shared->price[d].yield = j[2][d].joules;
    shared->price[d].asleep = j[3][d].joules;
    shared->price[d].byte = j[4][d].joules * 1e-9;
  }
}

double wtl_account_modelled(const wtl_pe *self, int domain, const wtl_activity *a)
{
  const wtl_shared *shared = self->shared;
  return shared->price[domain].active * a->active_s + shared->price[domain].spin * a->spin_s +
         shared->price[domain].yield * a->yield_s + shared->price[domain].asleep * a->asleep_s +
         shared->price[domain].byte * a->bytes;
}

/* Done by the node's reader, between two barriers. */
static void split_node(wtl_pe *self, wtl_node_joules *node)
{
  wtl_activity *all = calloc((size_t)self->n_local, sizeof *all);
  wattle_joules_t *part = calloc((size_t)self->n_local * WTL_MAX_DOMAINS, sizeof *part);
  size_t d = 0;
  for (int slot = 0; all && part && slot < self->n_local; slot++)
    all[slot] = wtl_control_of(self, self->boot.local_pe[slot])->activity;
  if (all && part) d = wtl_meter_finish(self->meter, all, (size_t)self->n_local, node->total, node->idle, part);
  for (size_t slot = 0; slot < (size_t)self->n_local; slot++)
    memcpy(self->ledger + slot * WTL_MAX_DOMAINS, part + slot * d, d * sizeof *part);
  self->shared->n_domains = d;
  if (wtl_meter_machine(self->meter))
    publish_prices(self->shared, wtl_meter_machine(self->meter));
  else
    memset(self->shared->price, 0xff, sizeof self->shared->price); /* NaN: nobody knows */
  free(all);
  free(part);
}

static bool is_dram(const wattle_joules_t *j)
{
  return j->scope == WATTLE_SCOPE_DRAM || strncmp(j->domain, "dram", 4) == 0;
}

double wtl_account_share(const wtl_pe *self, int dram)
{
  const wattle_joules_t *mine = self->ledger + (size_t)self->slot * WTL_MAX_DOMAINS;
  double sum = self->shared->n_domains ? 0 : NAN;
  for (size_t d = 0; d < self->shared->n_domains; d++)
    if (is_dram(&mine[d]) == dram) sum += mine[d].joules;
  return sum;
}

/* A PE that ends while others are in another collective call would be taken for one of them there. */
static void close_together(wtl_pe *self, wtl_site *site)
{
  wtl_control_of(self, self->me)->closed_at = self->barrier_epoch + 1;
  wtl_barrier(self, site);
  for (int slot = 0; slot < self->n_local; slot++) { /* each node for itself */
    int pe = self->boot.local_pe[slot];
    if (wtl_control_of(self, pe)->closed_at != self->barrier_epoch)
      wtl_pe_fail(WTL_EXIT_USAGE,
                  "shmem_finalize (or exit): PE %d is in another collective call; all PEs must make the same ones in "
                  "the same order",
                  pe);
  }
}

void wtl_account_close(wtl_pe *self, wtl_site *site)
{
  wtl_node_joules *node = self->meter ? calloc(1, sizeof *node) : NULL;
  wtl_activity *mine = &wtl_control_of(self, self->me)->activity;
  wtl_activity_register(NULL, NULL);
  close_together(self, site); /* all calls of all PEs are done */
  self->door.stages.ns_per_tick = wtl_clock_ns_per_tick();
  wtl_account_activity(self, mine);
  wtl_barrier(self, site);
  if (node) split_node(self, node);
  wtl_barrier(self, site);
  wtl_profile_file_write(self, node, true);
  wtl_barrier(self, site); /* nobody leaves while another still reads the arena's end */
  free(node);
}

void wtl_account_abandon(wtl_pe *self)
{
  wtl_profile_file_write(self, NULL, false);
}
