/*
 * knob_powercap.c - a package's limit on watts, SYSFS/class/powercap/<zone>/constraint_N_power_limit_uw, in the place
 * of its clock: at half the base clock it is half of the limit that was found, and never above that.
 *
 * A limit holds a whole package, and a package that draws less than its limit does not notice it: WATTLE_KNOB=powercap
 * has to be asked for.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/knob_kind.h"

/* The zones of Linux are few: two types, packages, dies. */
enum { MOST_ZONES = 128 };

static bool zone_text(const wtl_knob *k, const char *zone, const char *file, char *text, size_t size)
{
  char path[512];
  snprintf(path, sizeof path, "%s/class/powercap/%s/%s", k->sysfs, zone, file);
  int n = k->os->sys->read_file(k->os->sys->arg, path, text, size);
  if (n > 0) text[strcspn(text, "\n")] = '\0';
  return n > 0;
}

/* intel-rapl-mmio shows the limits of intel-rapl again: the first by name is taken. */
static bool find_zone(const wtl_knob *k, int package, char *zone, size_t size)
{
  char want[32], dir[400], name[64];
  struct dirent **entry = NULL;
  bool found = false;
  snprintf(want, sizeof want, "package-%d", package);
  snprintf(dir, sizeof dir, "%s/class/powercap", k->sysfs);
  int n = scandir(dir, &entry, NULL, versionsort);
  for (int i = 0; i < n; i++) {
    if (!found && i < MOST_ZONES && zone_text(k, entry[i]->d_name, "name", name, sizeof name) &&
        strcmp(name, want) == 0) {
      snprintf(zone, size, "%s", entry[i]->d_name);
      found = true;
    }
    free(entry[i]);
  }
  if (n >= 0) free(entry);
  return found;
}

static int first_cpu(const cpu_set_t *set)
{
  int cpu = 0;
  while (cpu < CPU_SETSIZE && !CPU_ISSET((size_t)cpu, set)) cpu++;
  return cpu;
}

static int powercap_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  char zone[256];
  int cpu = first_cpu(&d->clock.cpus), error;
  double package = wtl_knob_number(k, cpu, "topology/physical_package_id");
  double base = wtl_knob_number(k, cpu, "cpufreq/base_frequency");
  k->why[0] = '\0';
  if (!find_zone(k, isnan(package) ? 0 : (int)package, zone, sizeof zone)) {
    snprintf(k->why, sizeof k->why, "no power limit of package %d under %s/class/powercap",
             isnan(package) ? 0 : (int)package, k->sysfs);
    return ENODEV;
  }
  error = wtl_knob_add_file(k, d, 0, "%s/class/powercap/%s/constraint_0_power_limit_uw", k->sysfs, zone);
  if (!error &&
      wtl_knob_add_file(k, d, 1, "%s/class/powercap/%s/constraint_1_power_limit_uw", k->sysfs, zone) == ENOMEM)
    error = ENOMEM; /* a second limit, over a shorter time, need not be there */
  if (error) {
    snprintf(k->why, sizeof k->why, "no power limit in %s/class/powercap/%s: %s", k->sysfs, zone, strerror(error));
    return error;
  }
  if (isnan(base) && machine) base = 1e6 * wtl_machine_clock_ghz(machine, wtl_machine_base_clock(machine));
  if (!(base > 0)) base = 1e6; /* only shares of it count */
  d->clock.base_khz = d->clock.max_khz = d->clock.found_khz = (uint32_t)base;
  d->clock.min_khz = (uint32_t)(base / 2);
  d->clock.hint = true;
  k->why[0] = '\0'; /* of a second limit that is not there */
  return 0;
}

static void powercap_value(const wtl_knob_unit *d, const wtl_knob_file *f, uint32_t khz, char text[WTL_KNOB_VALUE])
{
  double found_uw = strtod(f->found, NULL), share = fmin(1, (double)khz / d->clock.base_khz);
  snprintf(text, WTL_KNOB_VALUE, "%.0f", found_uw * share);
}

const wtl_knob_ops wtl_knob_powercap = {
    .name = "powercap", .find = powercap_find, .value = powercap_value, .acts = true};
