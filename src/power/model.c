/*
 * model.c - from seconds in state and bytes to joules, by a machine profile.
 *
 *   PE:    cpu  = sum over states of watts(state, clock) x seconds  dram = joules per byte x bytes
 *   node:  cpu  = sockets x idle cpu watts x wall seconds           dram = sockets x idle dram watts x wall seconds
 *
 * Half-widths take the same sums: a profile's number errs the same way in every second it is used for, so its errors do
 * not average out.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "power/figure.h"
#include "power/machine.h"

static bool sane(double x)
{
  return isfinite(x) && x >= 0;
}

static void fill(wattle_joules_t *f, const char *domain, const wtl_machine *m, wattle_scope_t scope, double wall_s,
                 double joules, double uncertainty)
{
  wtl_figure_none(f, domain, scope, wall_s);
  snprintf(f->source, sizeof f->source, "model %s", wtl_machine_name(m));
  if (!sane(joules) || !sane(uncertainty) || !sane(wall_s)) return;
  f->provenance = WATTLE_MODELLED;
  f->joules = joules;
  f->uncertainty = uncertainty;
  f->covered_s = wall_s;
}

/* Keeps the sign of doubt: a negative time must not be hidden by a larger one of another state. */
static double checked(double seconds)
{
  return sane(seconds) ? seconds : NAN;
}

size_t wtl_model_pe_at(const wtl_machine *m, size_t clock, const wtl_activity *a, wattle_joules_t out[2])
{
  double joules = NAN, doubt = NAN;
  if (clock < m->n_clocks) {
    const wtl_clock *c = &m->clocks[clock];
    double active = checked(a->active_s), spin = checked(a->spin_s), yield = checked(a->yield_s),
           asleep = checked(a->asleep_s);
    joules = active * c->active.value + spin * c->spin.value + yield * c->yield.value + asleep * c->asleep.value;
    doubt = active * c->active.plus_minus + spin * c->spin.plus_minus + yield * c->yield.plus_minus +
            asleep * c->asleep.plus_minus;
  }
  double bytes = clock < m->n_clocks ? checked(a->bytes) : NAN;
  const wtl_number *per_byte = &m->dram.per_byte;
  fill(&out[0], "cpu", m, WATTLE_SCOPE_PROCESS, a->wall_s, joules, doubt);
  fill(&out[1], "dram", m, WATTLE_SCOPE_PROCESS, a->wall_s, bytes * per_byte->value, bytes * per_byte->plus_minus);
  return 2;
}

size_t wtl_model_pe(const wtl_machine *m, const wtl_activity *a, wattle_joules_t out[2])
{
  return wtl_model_pe_at(m, wtl_machine_base_clock(m), a, out);
}

size_t wtl_model_idle(const wtl_machine *m, double wall_s, wattle_joules_t out[2])
{
  double socket_s = checked(wall_s) * m->sockets;
  const wtl_number *cpu = &m->idle.cpu, *dram = &m->idle.dram;
  fill(&out[0], "cpu", m, WATTLE_SCOPE_NODE, wall_s, socket_s * cpu->value, socket_s * cpu->plus_minus);
  fill(&out[1], "dram", m, WATTLE_SCOPE_NODE, wall_s, socket_s * dram->value, socket_s * dram->plus_minus);
  return 2;
}
