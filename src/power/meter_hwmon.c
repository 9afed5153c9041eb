/*
 * meter_hwmon.c - the sensors of power and energy under SYSFS/class/hwmon.
 *
 *   acpi_power_meter of NVIDIA Grace   powerN_average in uW, named by powerN_oem_info: "Grace Power Socket 0" is the
 *                                      socket with its memory. It contains "CPU Power" and "SysIO Power", and "Module
 *                                      Power" contains it.
 *   acpi_power_meter elsewhere         the node, at its power supply
 *   amd_energy                         energyN_input in uJ, named by energyN_label: "Esocket0". Cores are left out.
 *
 * Other sensors (of a disk, a network card, a battery) do not belong to the processors and are ignored.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/gauge.h"

enum { MOST_CHANNELS = 64 };

static bool text_of(const wtl_sys *sys, const char *dir, const char *file, char *text, size_t size)
{
  char path[800];
  snprintf(path, sizeof path, "%s/%s", dir, file);
  int n = sys->read_file(sys->arg, path, text, size);
  if (n > 0) text[strcspn(text, "\n")] = '\0';
  return n > 0;
}

/* Sets the domain of a channel of a power meter. */
static bool of_power(const char *label, wtl_domain *d)
{
  int socket;
  *d = (wtl_domain){.scope = WATTLE_SCOPE_CORE, .nested = true};
  if (sscanf(label, "Grace Power Socket %d", &socket) == 1) {
    *d = (wtl_domain){.scope = WATTLE_SCOPE_PACKAGE, .part = WTL_PART_NODE}; /* includes its memory */
    snprintf(d->name, sizeof d->name, "package-%d", socket);
  } else if (sscanf(label, "CPU Power Socket %d", &socket) == 1) {
    snprintf(d->name, sizeof d->name, "core-%d", socket);
  } else if (sscanf(label, "SysIO Power Socket %d", &socket) == 1) {
    snprintf(d->name, sizeof d->name, "sysio-%d", socket);
  } else if (sscanf(label, "Module Power Socket %d", &socket) == 1) {
    d->scope = WATTLE_SCOPE_NODE;
    snprintf(d->name, sizeof d->name, "module-%d", socket);
  } else {
    *d = (wtl_domain){.name = "node", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_NODE};
  }
  return true;
}

static bool of_energy(const char *label, wtl_domain *d)
{
  int socket;
  if (sscanf(label, "Esocket%d", &socket) != 1) return false;
  *d = (wtl_domain){.scope = WATTLE_SCOPE_PACKAGE, .part = WTL_PART_CPU};
  snprintf(d->name, sizeof d->name, "package-%d", socket);
  return true;
}

static bool is_taken(const wtl_gauges *set, const char *name)
{
  for (size_t i = 0; i < set->n; i++)
    if (strcmp(set->gauge[i].domain.name, name) == 0) return true;
  return false;
}

static void add(wtl_gauges *set, const char *dir, const char *file, const char *label, const wtl_domain *d,
                double step_s, bool is_watts)
{
  wtl_gauge *g = is_taken(set, d->name) ? NULL : wtl_gauge_add(set, d);
  if (!g) return;
  snprintf(g->path, sizeof g->path, "%.250s/%.60s", dir, file);
  snprintf(g->source, sizeof g->source, "%.79s", *label ? label : file);
  g->unit = 1e-6; /* uW, uJ */
  g->step_s = step_s;
  g->is_watts = is_watts;
}

static void add_power(wtl_gauges *set, const char *dir, int channel)
{
  char file[48], label[80] = "", text[64];
  wtl_domain d;
  snprintf(file, sizeof file, "power%d_oem_info", channel);
  text_of(set->sys, dir, file, label, sizeof label);
  snprintf(file, sizeof file, "power%d_average_interval", channel); /* in ms */
  double step_s = text_of(set->sys, dir, file, text, sizeof text) ? atof(text) / 1000 : 0;
  snprintf(file, sizeof file, "power%d_average", channel);
  if (!text_of(set->sys, dir, file, text, sizeof text)) return;
  if (of_power(label, &d)) add(set, dir, file, label, &d, step_s > 0 ? step_s : 1, true);
}

static void add_energy(wtl_gauges *set, const char *dir, int channel)
{
  char file[48], label[80] = "";
  wtl_domain d;
  snprintf(file, sizeof file, "energy%d_label", channel);
  if (!text_of(set->sys, dir, file, label, sizeof label) || !of_energy(label, &d)) return;
  snprintf(file, sizeof file, "energy%d_input", channel);
  add(set, dir, file, label, &d, 0.001, false);
}

static int only_devices(const struct dirent *e)
{
  return strncmp(e->d_name, "hwmon", 5) == 0;
}

/* Marks the node's supply as nested if there are sockets, because it contains them. */
static void nest_supply(wtl_gauges *set)
{
  bool has_socket = false;
  for (size_t i = 0; i < set->n; i++) has_socket |= strncmp(set->gauge[i].domain.name, "package-", 8) == 0;
  for (size_t i = 0; i < set->n; i++)
    if (has_socket && strcmp(set->gauge[i].domain.name, "node") == 0) set->gauge[i].domain.nested = true;
}

static void hwmon_find(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                       size_t grant_size)
{
  char root[400], dir[700], name[64];
  struct dirent **entry = NULL;
  (void)grant;
  (void)grant_size;
  snprintf(root, sizeof root, "%s/class/hwmon", env->sysfs);
  int n = scandir(root, &entry, only_devices, versionsort);
  for (int i = 0; i < n; i++) {
    snprintf(dir, sizeof dir, "%s/%s", root, entry[i]->d_name);
    bool known = text_of(set->sys, dir, "name", name, sizeof name);
    for (int c = 1; known && c < MOST_CHANNELS; c++) {
      if (strcmp(name, "power_meter") == 0 || strcmp(name, "acpi_power_meter") == 0) add_power(set, dir, c);
      if (strcmp(name, "amd_energy") == 0) add_energy(set, dir, c);
    }
    free(entry[i]);
  }
  if (n >= 0) free(entry);
  nest_supply(set);
  if (set->n == 0) snprintf(why, why_size, "no power or energy of processors under %s", root);
}

static int hwmon_read(wtl_gauges *set, wtl_gauge *g, double *counts)
{
  return wtl_gauge_number(set->sys, g->path, counts);
}

static void *hwmon_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  static const wtl_gauge_kind kind = {.name = "hwmon", .find = hwmon_find, .read = hwmon_read};
  return wtl_gauges_open(&kind, env, why, why_size, grant, grant_size);
}

const wtl_meter_ops wtl_meter_hwmon = WTL_GAUGE_METER("hwmon", hwmon_open);
