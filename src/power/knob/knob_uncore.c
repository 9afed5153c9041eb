/*
 * knob_uncore.c - the highest clock of a package's uncore: its mesh, last-level cache, memory and I/O controllers. The
 * kernel's driver shows it under SYSFS/devices/system/cpu/intel_uncore_frequency.
 *
 * A folder uncoreNN is a cluster of the package `package_id` (TPMI, since Granite Rapids); a folder package_PP_die_DD
 * is a whole die. Where a package has clusters, only these are set: a write to the die's folder changes all of them,
 * and their own values would be lost. Only max_freq_khz is written. Below it the processor chooses the clock by
 * demand, and min_freq_khz and the elc_ attributes of the administrator stay.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/locale.h"
#include "power/knob/knob_kind.h"

enum { STEP_KHZ = 100000 }; /* the driver drops smaller parts */

/* Adds the file of a folder. Returns 0 or an errno with the reason in k->why. */
static int add_folder(wtl_knob *k, wtl_knob_unit *d, int of)
{
  wtl_clock_domain *c = &d->clock;
  int error = wtl_knob_add_file(k, d, WTL_KNOB_UNCORE, of);
  if (error) return error;
  wtl_knob_file *f = &d->file[d->n_files - 1];
  double low = wtl_knob_place_number(k->os->sys, k->sysfs, f->place, "min_freq_khz");
  double high = wtl_knob_place_number(k->os->sys, k->sysfs, f->place, "max_freq_khz");
  if (!(low >= STEP_KHZ && low <= high && high < UINT32_MAX)) {
    snprintf(k->why, sizeof k->why, "%.400s and min_freq_khz beside it are no range of clocks", f->path);
    return ENODEV;
  }
  f->least = (uint32_t)low;
  if (d->n_files == 1 || f->least < c->min_khz) c->min_khz = f->least;
  if (high > c->max_khz) c->max_khz = (uint32_t)high;
  return 0;
}

/*
 * Returns the number of a folder that belongs to the package, or -1. A cluster whose package is not readable is an
 * error with the reason in k->why: only root may read it by default.
 */
static int folder_number(wtl_knob *k, const char *name, bool clusters, int package, int *error)
{
  int number = -1, die = -1, end = 0;
  if (!clusters) {
    bool is_die = sscanf(name, "package_%d_die_%d%n", &number, &die, &end) == 2 && !name[end];
    return is_die && number == package && die >= 0 && die < WTL_UNCORE_DIES ? WTL_UNCORE_DIE(number, die) : -1;
  }
  if (sscanf(name, "uncore%d%n", &number, &end) != 1 || name[end] || number < 0 || number >= WTL_UNCORE_CLUSTERS)
    return -1;
  char path[700], text[32];
  snprintf(path, sizeof path, "%.400s/devices/system/cpu/intel_uncore_frequency/%.200s/package_id", k->sysfs, name);
  int n = k->os->sys->read_file(k->os->sys->arg, path, text, sizeof text);
  if (n < 0) {
    snprintf(k->why, sizeof k->why, "cannot read %.400s: %s", path, strerror(-n));
    *error = -n;
  }
  return n > 0 && atoi(text) == package ? number : -1;
}

static int add_folders(wtl_knob *k, wtl_knob_unit *d, bool clusters, int package)
{
  char top[512];
  struct dirent **entry = NULL;
  int error = 0;
  snprintf(top, sizeof top, "%.400s/devices/system/cpu/intel_uncore_frequency", k->sysfs);
  int n = scandir(top, &entry, NULL, versionsort);
  for (int i = 0; i < n; i++) {
    int of = error ? -1 : folder_number(k, entry[i]->d_name, clusters, package, &error);
    if (of >= 0) error = add_folder(k, d, of);
    free(entry[i]);
  }
  if (n >= 0) free(entry);
  return error;
}

static int uncore_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  int package = wtl_knob_package(k, d), error;
  (void)machine;
  k->why[0] = '\0';
  error = package < WTL_UNCORE_PACKAGES ? add_folders(k, d, true, package) : 0;
  if (!error && !d->n_files && package < WTL_UNCORE_PACKAGES) error = add_folders(k, d, false, package);
  if (!error && !d->n_files) {
    snprintf(k->why, sizeof k->why,
             "no uncore clock of package %d under %s/devices/system/cpu/intel_uncore_frequency (no Intel server, its "
             "module intel_uncore_frequency is not loaded, or a virtual machine or container)",
             package, k->sysfs);
    error = ENODEV;
  }
  if (!error && !wtl_knob_may_write(k, d)) error = EACCES;
  d->clock.base_khz = d->clock.found_khz = d->clock.max_khz;
  d->clock.hint = true; /* the processor chooses the clock up to this one */
  return error;
}

/* Each folder stays within the range that it had. */
static void uncore_value(const wtl_knob_unit *d, const wtl_knob_file *f, uint32_t khz, char text[WTL_KNOB_VALUE])
{
  WTL_LOCALE_APART;
  double found = strtod(f->found, NULL), rounded = khz - khz % STEP_KHZ;
  (void)d;
  snprintf(text, WTL_KNOB_VALUE, "%.0f", fmax(f->least, fmin(rounded, found)));
}

const wtl_knob_ops wtl_knob_uncore = {
    .name = "uncore", .find = uncore_find, .value = uncore_value, .acts = true, .of_uncore = true};
