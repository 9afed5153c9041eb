/*
 * knob_simgrid.c - in simulation: the clock of this PE's core, and the power limit of a package.
 *
 * A clock domain is that of the node's cores that share a clock. A PE with a node of its own has a domain of its own,
 * and the simulator runs cores that share a clock at the highest one requested.
 */
#include <errno.h>
#include <stdio.h>

#include "os/floats.h"
#include "power/knob/knob_kind.h"
#include "sim/simulator.h"

/* Inserts a clock of the simulated machine in rising order. */
static void insert(wtl_clock_domain *c, uint32_t khz)
{
  size_t at = c->n_steps++;
  for (; at > 0 && c->step[at - 1] > khz; at--) c->step[at] = c->step[at - 1];
  c->step[at] = khz;
}

static int simgrid_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  wtl_clock_domain *c = &d->clock;
  size_t n = wtl_sim_clocks();
  (void)machine;
  if (n < 2 || n > sizeof c->step / sizeof c->step[0]) {
    snprintf(k->why, sizeof k->why, "the simulated machine has %zu clocks; a knob needs 2 to %zu", n,
             sizeof c->step / sizeof c->step[0]);
    return ENODEV;
  }
  c->n_steps = 0;
  for (size_t i = 0; i < n; i++) insert(c, wtl_sim_clock_khz(i));
  c->min_khz = c->step[0];
  c->max_khz = c->step[n - 1];
  c->base_khz = c->found_khz = wtl_sim_clock_khz(wtl_sim_base_clock());
  c->write_s = wtl_sim_price()->clock_change; /* a change blocks its caller until it is made */
  c->latency_s = 0;
  return 0;
}

static int simgrid_set(wtl_knob_unit *d, uint32_t khz)
{
  for (size_t i = 0; i < wtl_sim_clocks(); i++)
    if (wtl_sim_clock_khz(i) == khz) {
      wtl_sim_set_clock(wtl_knob_first_cpu(&d->clock), i);
      return 0;
    }
  return EINVAL;
}

static const wtl_knob_ops simgrid = {.name = "simgrid", .find = simgrid_find, .set = simgrid_set, .acts = true};

/* No limit is in force at first. It is taken for more watts than any package draws (sensor/watt_limit.h), in mW. */
enum { NO_LIMIT_MW = 1000000, LEAST_MW = 1000 };

static int limit_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  (void)k, (void)machine;
  d->clock.min_khz = LEAST_MW;
  d->clock.base_khz = d->clock.max_khz = d->clock.found_khz = NO_LIMIT_MW;
  d->clock.hint = true;
  return 0;
}

static int limit_set(wtl_knob_unit *d, uint32_t mw)
{
  WTL_FLOATS_APART;
  wtl_sim_limit_package(wtl_knob_first_cpu(&d->clock), mw / 1e3);
  return 0;
}

static const wtl_knob_ops limit = {.name = "limit", .find = limit_find, .set = limit_set, .acts = true, .limits = true};

/* Files are of the machine that simulates. */
const wtl_knob_ops *const wtl_knob_kinds[] = {[WTL_KNOB_AUTO] = &simgrid,
                                              [WTL_KNOB_CPUFREQ] = &wtl_knob_none,
                                              [WTL_KNOB_POWERCAP] = &wtl_knob_none,
                                              [WTL_KNOB_RECORD] = &wtl_knob_record,
                                              [WTL_KNOB_NONE] = &wtl_knob_none};

const wtl_knob_ops *const wtl_knob_package_kinds[] = {
    [WTL_PACKAGE_UNCORE] = &wtl_knob_none, [WTL_PACKAGE_LIMIT] = &limit};
