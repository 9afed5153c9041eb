/*
 * hwmon_rails.c - sensors of boards and packages by the labels of their drivers, and batteries.
 *
 *   amd_hsmp_hwmon   power1_input of a socket (drivers/platform/x86/amd/hsmp/hwmon.c), readable by any user
 *   apm_xgene        Ampere Altra: "CPU power", "IO power" of a socket (drivers/hwmon/xgene-hwmon.c)
 *   smpro            Ampere Altra by its SMpro: rails of cores, SoC, memory and I/O of a socket
 *                    (Documentation/hwmon/smpro-hwmon.rst)
 *   ina3221          rails of Jetson boards: inN_label, mV of inN_input times mA of currN_input
 *                    (Documentation/hwmon/ina3221.rst)
 *   macsmc_hwmon     Apple silicon: "Total System Power" and others (Documentation/hwmon/macsmc-hwmon.rst)
 *   power_supply     a battery of the system: power_now, else voltage_now times current_now. It is the whole node while
 *                    it is discharged; otherwise nothing is known (Documentation/ABI/testing/sysfs-class-power)
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/sensor/hwmon.h"

typedef struct rail {
  const char *driver, *label; /* label "": the device has one, without a label */
  const char *domain;         /* with the number of the device */
  wattle_scope_t scope;
  enum wtl_part part;
  bool is_board; /* the whole node */
} rail;

static const rail rails[] = {
    {"amd_hsmp_hwmon", "", "package-%d", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"apm_xgene", "CPU power", "core-%d", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"apm_xgene", "IO power", "sysio-%d", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"smpro", "CORE VRD", "core-%d", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"smpro", "SoC", "soc-%d", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"smpro", "RCA VRD", "sysio-%d", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"smpro", "DIMM VRD1", "dram-%d-1", WATTLE_SCOPE_DRAM, WTL_PART_DRAM, false},
    {"smpro", "DIMM VRD2", "dram-%d-2", WATTLE_SCOPE_DRAM, WTL_PART_DRAM, false},
    {"macsmc_hwmon", "Total System Power", "node", WATTLE_SCOPE_NODE, WTL_PART_NODE, true},
    {"macsmc_hwmon", "Total CPU Core Power", "core-%d", WATTLE_SCOPE_CORE, WTL_PART_CPU, false},
    {"ina3221", "VDD_IN", "node", WATTLE_SCOPE_NODE, WTL_PART_NODE, true},
    {"ina3221", "POM_5V_IN", "node", WATTLE_SCOPE_NODE, WTL_PART_NODE, true},
    {"ina3221", "VDD_CPU_GPU_CV", "vdd-cpu-gpu-cv", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"ina3221", "VDD_CPU_CV", "vdd-cpu-cv", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"ina3221", "VDD_GPU_SOC", "vdd-gpu-soc", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"ina3221", "VDD_SOC", "vdd-soc", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"ina3221", "POM_5V_CPU", "pom-5v-cpu", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"ina3221", "POM_5V_GPU", "pom-5v-gpu", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"ina3221", "VIN_SYS_5V0", "vin-sys-5v0", WATTLE_SCOPE_PACKAGE, WTL_PART_NODE, false},
    {"ina3221", "VDDQ_VDD2_1V8AO", "vddq-vdd2-1v8ao", WATTLE_SCOPE_DRAM, WTL_PART_DRAM, false},
};
enum { RAILS = sizeof rails / sizeof *rails, MOST_CHANNELS = 16 };

char wtl_hwmon_known_package;

/* Files that a reading needs beyond the path of its gauge. */
typedef struct beyond {
  char factor[320]; /* a file whose number is multiplied; "": none */
  char status[320]; /* a file that must say "Discharging"; "": none */
} beyond;

/* smpro's labels begin with the name of the channel: "power1 CORE VRD". */
static bool is_rail(const rail *r, const char *driver, const char *label)
{
  const char *found = strstr(label, r->label);
  return strncmp(driver, r->driver, strlen(r->driver)) == 0 && found && strlen(found) == strlen(r->label) &&
         (found == label || found[-1] == ' ');
}

static wtl_gauge *add_rail(const wtl_hwmon_device *d, const rail *r, const char *file, const char *label, double step_s)
{
  wtl_domain domain = {.scope = r->scope, .part = r->part};
  wtl_gauge *g = NULL;
  char source[80];
  snprintf(source, sizeof source, "%.20s %.40s", d->driver, *label ? label : strrchr(d->dir, '/') + 1);
  for (int n = 0; n < 64 && !g; n++) { /* the number of the device among those of its kind */
    snprintf(domain.name, sizeof domain.name, r->domain, n);
    g = wtl_hwmon_add(d, file, source, &domain);
    if (!strchr(r->domain, '%')) break;
  }
  if (!g) return NULL;
  g->is_watts = true;
  g->step_s = step_s;
  return g;
}

static void set_beyond(wtl_gauge *g, const beyond *more)
{
  beyond *own = malloc(sizeof *own);
  if (own) *own = *more;
  g->handle = own;
}

void wtl_hwmon_add_rails(const wtl_hwmon_device *d)
{
  bool is_product = strcmp(d->driver, "ina3221") == 0;
  for (int channel = 1; channel <= MOST_CHANNELS; channel++) {
    char name[32], file[32], label[64] = "", text[64];
    snprintf(name, sizeof name, is_product ? "in%d_label" : "power%d_label", channel);
    snprintf(file, sizeof file, is_product ? "in%d_input" : "power%d_input", channel);
    wtl_hwmon_line(d->set->sys, d->dir, name, label, sizeof label);
    if (wtl_hwmon_line(d->set->sys, d->dir, file, text, sizeof text) == -ENOENT) continue;
    const rail *r = rails;
    while (r < rails + RAILS && !is_rail(r, d->driver, label)) r++;
    wtl_gauge *g = r < rails + RAILS ? add_rail(d, r, file, label, 0.1) : NULL; /* s; assumed, no driver states it */
    if (!g || !is_product) continue;
    beyond more = {.factor = ""};
    snprintf(more.factor, sizeof more.factor, "%.250s/curr%d_input", d->dir, channel);
    set_beyond(g, &more);
  }
}

static int no_dots(const struct dirent *e)
{
  return e->d_name[0] != '.';
}

static bool is_discharging(const char *status)
{
  return strncmp(status, "Discharging", 11) == 0;
}

/* The battery of a mouse has the scope Device. */
static bool is_battery(const wtl_sys *sys, const char *dir)
{
  char text[32];
  if (wtl_hwmon_line(sys, dir, "type", text, sizeof text) < 0 || strcmp(text, "Battery") != 0) return false;
  return wtl_hwmon_line(sys, dir, "scope", text, sizeof text) < 0 || strcmp(text, "Device") != 0;
}

void wtl_hwmon_add_battery(const wtl_hwmon_device *d)
{
  static const rail battery = {"power_supply", "", "battery-%d", WATTLE_SCOPE_NODE, WTL_PART_NODE, true};
  char root[400], dir[700], text[64];
  struct dirent **entry = NULL;
  snprintf(root, sizeof root, "%s/class/power_supply", d->env->sysfs);
  int n = scandir(root, &entry, no_dots, versionsort);
  for (int i = 0; i < n; i++) {
    snprintf(dir, sizeof dir, "%s/%.60s", root, entry[i]->d_name);
    bool is_drawn = wtl_hwmon_line(d->set->sys, dir, "status", text, sizeof text) > 0 && is_discharging(text);
    bool has_watts = wtl_hwmon_line(d->set->sys, dir, "power_now", text, sizeof text) > 0;
    bool has_current = wtl_hwmon_line(d->set->sys, dir, "current_now", text, sizeof text) > 0;
    wtl_hwmon_device own = *d;
    own.dir = dir;
    snprintf(own.driver, sizeof own.driver, "power_supply");
    wtl_gauge *g = is_drawn && is_battery(d->set->sys, dir) && (has_watts || has_current)
                       ? add_rail(&own, &battery, has_watts ? "power_now" : "voltage_now", entry[i]->d_name, 1)
                       : NULL; /* 1 s: assumed */
    free(entry[i]);
    if (!g) continue;
    beyond more = {.factor = ""};
    if (!has_watts) snprintf(more.factor, sizeof more.factor, "%.250s/current_now", dir);
    snprintf(more.status, sizeof more.status, "%.250s/status", dir);
    if (!has_watts) g->unit = 1e-12; /* uV times uA */
    set_beyond(g, &more);
  }
  if (n >= 0) free(entry);
}

static bool is_whole(const wtl_domain *d)
{
  return strcmp(d->name, "node") == 0 || strncmp(d->name, "battery-", 8) == 0;
}

void wtl_hwmon_nest_rails(wtl_gauges *set)
{
  bool has_board = false, has_parts = false;
  for (size_t i = 0; i < set->n; i++) {
    const wtl_domain *d = &set->gauge[i].domain;
    has_board |= is_whole(d) && strcmp(d->name, "node") == 0;
    has_parts |= !is_whole(d) && !d->nested && d->scope != WATTLE_SCOPE_DEVICE;
  }
  /* A board's sum comes from one sensor, its rails from others: parts stay in the sums, as packages beside a supply. */
  for (size_t i = 0; i < set->n; i++) {
    wtl_domain *d = &set->gauge[i].domain;
    if (is_whole(d)) d->nested = has_parts || (has_board && strcmp(d->name, "node") != 0);
  }
}

static beyond *beyond_of(const wtl_gauge *g)
{
  return g->handle != &wtl_hwmon_known_package ? g->handle : NULL;
}

int wtl_hwmon_read_rail(const wtl_gauges *set, const wtl_gauge *g, double *counts)
{
  const beyond *more = beyond_of(g);
  double factor = 1;
  if (!more) return -1;
  if (*more->status) {
    char text[32];
    int n = set->sys->read_file(set->sys->arg, more->status, text, sizeof text);
    if (n < 0) return -n;
    if (!is_discharging(text)) return ENODATA;
  }
  int error = wtl_gauge_number(set->sys, g->path, counts);
  if (!error && *more->factor) error = wtl_gauge_number(set->sys, more->factor, &factor);
  *counts = error ? 0 : *counts * (factor < 0 ? -factor : factor); /* some drivers count discharge as negative */
  return error;
}

void wtl_hwmon_drop_rails(wtl_gauges *set)
{
  for (size_t i = 0; i < set->n; i++) {
    free(beyond_of(&set->gauge[i]));
    set->gauge[i].handle = NULL;
  }
}
