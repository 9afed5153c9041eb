/*
 * knob_record.c - the knob `record`, which counts changes and makes none.
 *
 * Its clocks are those of cpufreq if the machine has them, else those of the machine profile. A profile with one clock
 * gives this clock and half of it. The half is not measured, so it serves to count changes, not to compute joules.
 */
#include <errno.h>
#include <math.h>

#include "os/os.h"
#include "power/knob/knob_kind.h"

static uint32_t khz(double ghz)
{
  return (uint32_t)lround(ghz * 1e6);
}

static void from_profile(wtl_clock_domain *c, const wtl_machine *machine)
{
  size_t n = wtl_machine_clocks(machine);
  c->base_khz = khz(wtl_machine_clock_ghz(machine, wtl_machine_base_clock(machine)));
  c->min_khz = n > 1 ? c->base_khz : c->base_khz / 2;
  c->max_khz = c->base_khz;
  c->n_steps = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t clock = khz(wtl_machine_clock_ghz(machine, i));
    if (clock < c->min_khz) c->min_khz = clock;
    if (clock > c->max_khz) c->max_khz = clock;
    size_t at = c->n_steps++;
    for (; at > 0 && c->step[at - 1] > clock; at--) c->step[at] = c->step[at - 1];
    c->step[at] = clock;
  }
  if (n == 1) c->n_steps = 0; /* any clock of the range */
  c->found_khz = c->base_khz;
}

static int record_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  /* In simulation sysfs belongs to the machine that runs it. */
  if (!WTL_OS_IS_SIMULATED && wtl_cpufreq_clocks(k, &d->clock) == 0) return 0;
  k->why[0] = '\0';
  if (!machine) return ENODEV;
  from_profile(&d->clock, machine);
  return 0;
}

const wtl_knob_ops wtl_knob_record = {.name = "record", .find = record_find};
