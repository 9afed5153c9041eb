/*
 * knob_powercap.c - sets the power limit of a package, SYSFS/class/powercap/<zone>/constraint_N_power_limit_uw: in
 * place of its clock (`powercap`), or in mW (`limit`).
 *
 * At half the base clock the limit is half of the normal one. That is the limit that was found, or the maximum that the
 * processor states if that is less. The limit over a shorter time keeps its ratio to the one over the longer time. A
 * limit holds for a whole package and has no effect on a package that draws less. So these knobs are used only if
 * WATTLE_KNOB=powercap or WATTLE_PACKAGE_LIMIT asks for them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/locale.h"
#include "power/knob/knob_kind.h"

/* A limit that is not enforced has no effect. So if the zone is off, it is on while this knob sets the limit. */
static int enforce(wtl_knob *k, wtl_knob_unit *d, int package)
{
  const wtl_knob_place place = {WTL_KNOB_ENFORCED, package};
  return wtl_knob_place_number(k->os->sys, k->sysfs, place, "enabled") == 0
             ? wtl_knob_add_file(k, d, WTL_KNOB_ENFORCED, package)
             : 0;
}

/*
 * Some boards leave the limit at the highest value of its register, 4095 W, and some state that as the maximum, too. No
 * package draws 1000 W (docs/sensors.md). Above that the normal limit is taken to be 100 W, so that a package of
 * any size can be limited.
 */
static double normal_part(const wtl_knob *k, const wtl_knob_file *f)
{
  double found = wtl_knob_place_number(k->os->sys, k->sysfs, f->place, "power_limit_uw");
  double stated = wtl_knob_place_number(k->os->sys, k->sysfs, f->place, "max_power_uw");
  double normal = stated > 0 ? fmin(found, stated) : found;
  return found > 0 ? (normal > 1000e6 ? 100e6 : normal) / found : 1;
}

static int find_limits(wtl_knob *k, wtl_knob_unit *d)
{
  int package = wtl_knob_package(k, d), error;
  k->why[0] = '\0';
  error = wtl_knob_add_file(k, d, WTL_KNOB_LIMIT, package);
  if (!error && wtl_knob_add_file(k, d, WTL_KNOB_SHORT_LIMIT, package) == ENOMEM)
    error = ENOMEM; /* a second limit, over a shorter time, is optional */
  if (!error) error = enforce(k, d, package);
  if (error) {
    snprintf(k->why, sizeof k->why, "no power limit of package %d under %s/class/powercap: %s", package, k->sysfs,
             strerror(error));
    return error;
  }
  d->clock.hint = true;
  d->normal = normal_part(k, &d->file[0]);
  k->why[0] = '\0'; /* from a second limit that does not exist */
  return 0;
}

static int powercap_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  double base = wtl_knob_number(k, wtl_knob_first_cpu(&d->clock), "cpufreq/base_frequency");
  int error = find_limits(k, d);
  if (error) return error;
  if (isnan(base) && machine) base = 1e6 * wtl_machine_clock_ghz(machine, wtl_machine_base_clock(machine));
  if (!(base > 0)) base = 1e6; /* only the ratio to it is used */
  d->clock.base_khz = d->clock.max_khz = d->clock.found_khz = (uint32_t)base;
  d->clock.min_khz = (uint32_t)(base / 2);
  return 0;
}

static int limit_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  WTL_LOCALE_APART;
  int error = find_limits(k, d);
  double found_mw = error ? NAN : strtod(d->file[0].found, NULL) / 1000;
  (void)machine;
  if (error) return error;
  if (!(found_mw >= 1 && found_mw < UINT32_MAX)) {
    snprintf(k->why, sizeof k->why, "%.400s is %.40s, which is no power limit", d->file[0].path, d->file[0].found);
    return ENODEV;
  }
  d->clock.base_khz = d->clock.max_khz = d->clock.found_khz = (uint32_t)found_mw;
  d->clock.min_khz = (uint32_t)ceil(found_mw * d->normal / 2);
  d->normal = 1; /* the value asked for is a limit itself */
  return wtl_knob_may_write(k, d) ? 0 : EACCES;
}

static void powercap_value(const wtl_knob_unit *d, const wtl_knob_file *f, uint32_t khz, char text[WTL_KNOB_VALUE])
{
  WTL_LOCALE_APART;
  double found_uw = strtod(f->found, NULL);
  double share = khz < d->clock.base_khz ? d->normal * khz / d->clock.base_khz : 1;
  if (f->place.attribute == WTL_KNOB_ENFORCED)
    snprintf(text, WTL_KNOB_VALUE, "1");
  else
    snprintf(text, WTL_KNOB_VALUE, "%.0f", found_uw * share);
}

const wtl_knob_ops wtl_knob_powercap = {
    .name = "powercap", .find = powercap_find, .value = powercap_value, .acts = true, .limits = true};

const wtl_knob_ops wtl_knob_limit = {
    .name = "limit", .find = limit_find, .value = powercap_value, .acts = true, .limits = true};
