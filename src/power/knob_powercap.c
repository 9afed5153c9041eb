/*
 * knob_powercap.c - sets the power limit of a package, SYSFS/class/powercap/<zone>/constraint_N_power_limit_uw, in
 * place of its clock.
 *
 * At half the base clock the limit is half of the limit that was found. It is never above that. A limit holds for a
 * whole package and has no effect on a package that draws less. So this knob is used only if WATTLE_KNOB=powercap asks
 * for it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/knob_kind.h"

static int first_cpu(const cpu_set_t *set)
{
  int cpu = 0;
  while (cpu < CPU_SETSIZE && !CPU_ISSET((size_t)cpu, set)) cpu++;
  return cpu;
}

static int powercap_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  int cpu = first_cpu(&d->clock.cpus), error;
  double stated = wtl_knob_number(k, cpu, "topology/physical_package_id");
  double base = wtl_knob_number(k, cpu, "cpufreq/base_frequency");
  int package = isnan(stated) ? 0 : (int)stated;
  k->why[0] = '\0';
  error = wtl_knob_add_file(k, d, WTL_KNOB_LIMIT, package);
  if (!error && wtl_knob_add_file(k, d, WTL_KNOB_SHORT_LIMIT, package) == ENOMEM)
    error = ENOMEM; /* a second limit, over a shorter time, is optional */
  if (error) {
    snprintf(k->why, sizeof k->why, "no power limit of package %d under %s/class/powercap: %s", package, k->sysfs,
             strerror(error));
    return error;
  }
  if (isnan(base) && machine) base = 1e6 * wtl_machine_clock_ghz(machine, wtl_machine_base_clock(machine));
  if (!(base > 0)) base = 1e6; /* only the ratio to it is used */
  d->clock.base_khz = d->clock.max_khz = d->clock.found_khz = (uint32_t)base;
  d->clock.min_khz = (uint32_t)(base / 2);
  d->clock.hint = true;
  k->why[0] = '\0'; /* from a second limit that does not exist */
  return 0;
}

static void powercap_value(const wtl_knob_unit *d, const wtl_knob_file *f, uint32_t khz, char text[WTL_KNOB_VALUE])
{
  double found_uw = strtod(f->found, NULL), share = fmin(1, (double)khz / d->clock.base_khz);
  snprintf(text, WTL_KNOB_VALUE, "%.0f", found_uw * share);
}

const wtl_knob_ops wtl_knob_powercap = {
    .name = "powercap", .find = powercap_find, .value = powercap_value, .acts = true, .limits = true};
