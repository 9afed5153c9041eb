/*
 * meter_hwmon.c - the sensors of power and energy under SYSFS/class/hwmon.
 *
 *   acpi_power_meter of NVIDIA Grace   power1_average in uW, named by power1_oem_info: "Grace Power Socket 0" is the
 *                                      socket with its memory. It contains "CPU Power" and "SysIO Power", and "Module
 *                                      Power" contains it. Each is a device of its own.
 *   acpi_power_meter elsewhere         a power supply of the node; a battery (power1_is_battery) is left out
 *   amd_energy, zenergy                energyN_input in uJ, named by energyN_label: first "Ecore000" for each core,
 *                                      then "Esocket0" for each NUMA node, which shows the counter of its package.
 *                                      Cores are left out.
 *
 *   amdgpu                             power1_average (or power1_input) in uW of a GPU; of one in the processor's
 *                                      package (without power1_cap_max, or MI300A) it contains the processor
 *   i915, xe                           energy1_input of a GPU's card in uJ, or energy2_input of its package, also
 *                                      where the card's stands at 0
 *
 * hwmon_rails.c has the rails of boards and packages by their labels, and batteries.
 *
 * The ACPI driver has its files, `name` too, in the folder of the ACPI device, hwmonN/device; newer kernels have some
 * of them in hwmonN. Other sensors (of a disk, a network card, a battery) do not belong to the processors and are
 * ignored.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/locale.h"
#include "power/machine/clock_domains.h"
#include "power/sensor/hwmon.h"
#include "power/sensor/watt_limit.h"

/*
 * The search for channels ends after so many missing ones. amd_energy has a channel for each core before those of the
 * sockets.
 */
enum { MISSING_ENERGY = 256, MISSING_POWER = 16, MOST_CHANNELS = 8192 };

/*
 * A supply states its rating or the highest limit that it enforces, and may deliver somewhat more for a short time
 * (assumed).
 */
static const double SUPPLY_MARGIN = 1.5;

typedef wtl_hwmon_device device;

int wtl_hwmon_line(const wtl_sys *sys, const char *dir, const char *file, char *text, size_t size)
{
  char path[800];
  snprintf(path, sizeof path, "%s/%s", dir, file);
  int n = sys->read_file(sys->arg, path, text, size);
  if (n < 0) return n;
  text[strcspn(text, "\n")] = '\0';
  return (int)strlen(text);
}

/* Reads a file of a device, in hwmonN or in hwmonN/device. Sets `file` to the one that is there. */
static int line_of_device(const device *d, const char *name, char *text, size_t size, char file[64])
{
  snprintf(file, 64, "%.50s", name);
  int n = wtl_hwmon_line(d->set->sys, d->dir, file, text, size);
  if (n != -ENOENT) return n;
  snprintf(file, 64, "device/%.50s", name);
  return wtl_hwmon_line(d->set->sys, d->dir, file, text, size);
}

/* Returns the number in a file of a device; 0 if there is none. */
static double number_of(const device *d, const char *format, int channel)
{
  WTL_LOCALE_APART;
  char name[64], file[64], text[64];
  snprintf(name, sizeof name, format, channel);
  return line_of_device(d, name, text, sizeof text, file) > 0 ? strtod(text, NULL) : 0;
}

static bool is_taken(const wtl_gauges *set, const char *name)
{
  for (size_t i = 0; i < set->n; i++)
    if (strcmp(set->gauge[i].domain.name, name) == 0) return true;
  return false;
}

wtl_gauge *wtl_hwmon_add(const device *d, const char *file, const char *label, const wtl_domain *domain)
{
  wtl_gauge *g = is_taken(d->set, domain->name) ? NULL : wtl_gauge_add(d->set, domain);
  if (!g) return NULL;
  snprintf(g->path, sizeof g->path, "%.250s/%.60s", d->dir, file);
  snprintf(g->source, sizeof g->source, "%.79s", label);
  g->unit = 1e-6; /* uW, uJ */
  return g;
}

/* ---- watts ---- */

/* Sets the domain of a power meter by its label. Returns false if it is a supply of the node. */
static bool is_of_grace(const char *label, wtl_domain *d)
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
    return false;
  }
  return true;
}

/* The domain of a supply. Several supplies feed the node together, so each is a domain; name_supplies names them. */
static wtl_domain supply(const wtl_gauges *set)
{
  wtl_domain d = {.scope = WATTLE_SCOPE_NODE, .part = WTL_PART_NODE};
  int n = 0;
  for (size_t i = 0; i < set->n; i++) n += strncmp(set->gauge[i].domain.name, "supply-", 7) == 0;
  snprintf(d.name, sizeof d.name, "supply-%d", n);
  return d;
}

/* Adds the channel if it is no battery. Returns 0, or -ENOENT if there is no such channel. */
static int add_power(const device *d, int channel)
{
  char name[48], file[64], unused[64], label[64] = "", text[64], source[80];
  wtl_domain domain;
  snprintf(name, sizeof name, "power%d_average", channel);
  int got = line_of_device(d, name, text, sizeof text, file);
  if (got == -ENOENT) return -ENOENT;
  if (number_of(d, "power%d_is_battery", channel) > 0) return 0;
  snprintf(name, sizeof name, "power%d_oem_info", channel);
  line_of_device(d, name, label, sizeof label, unused);
  bool is_grace = is_of_grace(label, &domain);
  if (!is_grace) domain = supply(d->set);
  snprintf(source, sizeof source, "%s", is_grace ? label : strrchr(d->dir, '/') + 1);
  if (!is_grace) snprintf(source + strlen(source), sizeof source - strlen(source), " power%d_average", channel);
  wtl_gauge *g = wtl_hwmon_add(d, file, source, &domain);
  if (!g) return 0;
  double step_ms = number_of(d, "power%d_average_interval", channel);
  double most_uw = number_of(d, "power%d_rated_max", channel), cap_uw = number_of(d, "power%d_cap_max", channel);
  if (cap_uw > most_uw) most_uw = cap_uw;
  g->step_s = step_ms > 0 ? step_ms / 1000 : 1;
  g->is_watts = true;
  g->limit_w = wtl_watt_limit_rated(1e-6 * most_uw, SUPPLY_MARGIN, g->limit_w);
  return 0;
}

/* Calls a single supply "node", and marks supplies as nested if there are sockets, because they feed these. */
static void name_supplies(wtl_gauges *set)
{
  bool has_socket = false;
  size_t n = 0;
  for (size_t i = 0; i < set->n; i++) {
    has_socket |= strncmp(set->gauge[i].domain.name, "package-", 8) == 0;
    n += strncmp(set->gauge[i].domain.name, "supply-", 7) == 0;
  }
  for (size_t i = 0; i < set->n; i++) {
    wtl_domain *d = &set->gauge[i].domain;
    if (strncmp(d->name, "supply-", 7) != 0) continue;
    d->nested = has_socket;
    if (n == 1) snprintf(d->name, sizeof d->name, "node");
  }
}

/* ---- joules ---- */

/*
 * Returns the package of a NUMA node. amd_energy reads the counter of a "socket" on the first CPU of the NUMA node of
 * that number. Returns -1 for a node without CPUs, and -2 if the topology cannot be read.
 */
static int package_of_node(const device *d, int node)
{
  char dir[400], text[4096];
  cpu_set_t cpus;
  snprintf(dir, sizeof dir, "%s/devices/system/node/node%d", d->env->sysfs, node);
  if (wtl_hwmon_line(d->set->sys, dir, "cpulist", text, sizeof text) < 0) return -2;
  if (!wtl_cpu_list(text, &cpus)) return -1;
  int cpu = 0;
  while (!CPU_ISSET((size_t)cpu, &cpus)) cpu++;
  bool known = wtl_cpu_file(d->set->sys, d->env->sysfs, cpu, "topology/physical_package_id", text, sizeof text) > 0;
  return known ? atoi(text) : -2;
}

static void explain_refusal(const device *d, const char *file, int error)
{
  snprintf(d->why, d->why_size, "cannot read %s/%s: %s", d->dir, file, strerror(error));
  if (error != EACCES && error != EPERM) return;
  snprintf(d->grant, d->grant_size,
           "sudo groupadd --system power && sudo usermod -aG power NAME   # NAME: a trusted user, who then logs in "
           "again\n"
           "printf 'z /sys/devices/platform/%.40s.0/hwmon/*/energy* 0440 root power\\n' | "
           "sudo tee /etc/tmpfiles.d/wattle-hwmon.conf   # applied at every boot\n"
           "sudo systemd-tmpfiles --create /etc/tmpfiles.d/wattle-hwmon.conf\n"
           "# never open it to all users: energy counters leak what other programs compute (CVE-2020-12912)",
           d->driver);
}

/* Adds the channel if it is a socket. Returns 0 or a negative errno; -ENOENT: there is no such channel. */
static int add_energy(const device *d, int channel)
{
  char file[48], label[80] = "";
  int node, got;
  snprintf(file, sizeof file, "energy%d_label", channel);
  got = wtl_hwmon_line(d->set->sys, d->dir, file, label, sizeof label);
  if (got < 0 && got != -ENOENT) explain_refusal(d, file, -got);
  if (got < 0) return got;
  if (sscanf(label, "Esocket%d", &node) != 1) return 0;
  int package = package_of_node(d, node);
  if (package == -1) return 0;
  wtl_domain domain = {.scope = WATTLE_SCOPE_PACKAGE, .part = WTL_PART_CPU};
  snprintf(domain.name, sizeof domain.name, "package-%d", package >= 0 ? package : node);
  snprintf(file, sizeof file, "energy%d_input", channel);
  wtl_gauge *g = wtl_hwmon_add(d, file, label, &domain);
  if (!g) return 0;
  g->step_s = 0.001;
  g->limit_w = wtl_watt_limit_package(d->env);
  g->handle = package >= 0 ? &wtl_hwmon_known_package : NULL;
  return 0;
}

/* Without the topology, two sockets may show one counter. */
static bool may_mirror(const wtl_gauge *a, const wtl_gauge *b)
{
  bool are_sockets = a->domain.scope == WATTLE_SCOPE_PACKAGE && b->domain.scope == WATTLE_SCOPE_PACKAGE;
  return are_sockets && !a->is_watts && !b->is_watts && !a->handle && !b->handle;
}

/* ---- GPUs ---- */

/* A GPU keeps its limit on average (assumed). */
static const double GPU_MARGIN = 1.5;

/* MI300A: the socket has CPUs and GPUs, its sensor covers both, and the packages' counters do as well. */
static bool is_apu(const device *d)
{
  char product[80], file[64];
  return line_of_device(d, "product_name", product, sizeof product, file) > 0 && strstr(product, "MI300A");
}

/* Has the card no counter that ever counted, beside that of its package? Some cards of xe are so. */
static bool is_stuck_card(const device *d)
{
  return number_of(d, "energy%d_input", 1) == 0 && number_of(d, "energy%d_input", 2) > 0;
}

static void add_gpu(const device *d)
{
  static const char *const files[] = {"power1_average", "power1_input", "energy1_input", "energy2_input"};
  char text[64], source[80];
  size_t f = strcmp(d->driver, "amdgpu") == 0 ? 0 : 2, last = f + 1;
  int n = 0, got = -ENOENT;
  if (f == 2 && is_stuck_card(d)) f = last;
  for (; f <= last && (got = wtl_hwmon_line(d->set->sys, d->dir, files[f], text, sizeof text)) == -ENOENT; f++) {}
  if (got == -ENOENT) return;
  double cap_uw = number_of(d, "power%d_cap_max", 1), rated_uw = number_of(d, "power%d_rated_max", 1);
  wtl_domain domain = {.scope = WATTLE_SCOPE_DEVICE, .part = WTL_PART_NODE};
  do snprintf(domain.name, sizeof domain.name, "%.19s-%d", d->driver, n++);
  while (is_taken(d->set, domain.name));
  domain.nested = strcmp(d->driver, "amdgpu") == 0 && (!(cap_uw > 0) || is_apu(d));
  snprintf(source, sizeof source, "%.20s %.20s %s", d->driver, strrchr(d->dir, '/') + 1, files[f]);
  wtl_gauge *g = wtl_hwmon_add(d, files[f], source, &domain);
  if (!g) return;
  g->is_watts = f < 2;
  g->step_s = f == 0 ? 1 : 0.1; /* s; assumed, because no driver states it */
  g->limit_w = wtl_watt_limit_rated(1e-6 * (cap_uw > rated_uw ? cap_uw : rated_uw), GPU_MARGIN, g->limit_w);
}

/* ---- the devices ---- */

static void add_channels(const device *d, int (*add_one)(const device *d, int channel), int most_missing)
{
  int missing = 0;
  for (int channel = 1; missing < most_missing && channel <= MOST_CHANNELS; channel++) {
    int got = add_one(d, channel);
    if (got < 0 && got != -ENOENT) return;
    missing = got == -ENOENT ? missing + 1 : 0;
  }
}

static void add_device(device *d)
{
  char unused[64];
  const char *name = d->driver;
  line_of_device(d, "name", d->driver, sizeof d->driver, unused);
  if (strcmp(name, "power_meter") == 0 || strcmp(name, "acpi_power_meter") == 0)
    add_channels(d, add_power, MISSING_POWER);
  else if (strcmp(name, "amd_energy") == 0 || strcmp(name, "zenergy") == 0)
    add_channels(d, add_energy, MISSING_ENERGY);
  else if (strcmp(name, "amdgpu") == 0 || strcmp(name, "i915") == 0 || strcmp(name, "xe") == 0)
    add_gpu(d);
  else
    wtl_hwmon_add_rails(d);
}

static int only_devices(const struct dirent *e)
{
  return strncmp(e->d_name, "hwmon", 5) == 0;
}

static void hwmon_find(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                       size_t grant_size)
{
  char root[400], dir[700];
  struct dirent **entry = NULL;
  snprintf(root, sizeof root, "%s/class/hwmon", env->sysfs);
  int n = scandir(root, &entry, only_devices, versionsort);
  for (int i = 0; i < n; i++) {
    snprintf(dir, sizeof dir, "%s/%s", root, entry[i]->d_name);
    add_device(&(device){.set = set,
                         .env = env,
                         .dir = dir,
                         .why = why,
                         .grant = grant,
                         .why_size = why_size,
                         .grant_size = grant_size});
    free(entry[i]);
  }
  if (n >= 0) free(entry);
  wtl_hwmon_add_battery(&(device){.set = set, .env = env});
  wtl_gauges_drop_mirrors(set, may_mirror);
  name_supplies(set);
  wtl_hwmon_nest_rails(set);
  if (set->n == 0 && !*why) snprintf(why, why_size, "no power or energy of processors under %s", root);
}

static int hwmon_read(wtl_gauges *set, wtl_gauge *g, double *counts)
{
  int error = wtl_hwmon_read_rail(set, g, counts);
  return error >= 0 ? error : wtl_gauge_number(set->sys, g->path, counts);
}

static void *hwmon_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  static const wtl_gauge_kind kind = {
      .name = "hwmon",
      .find = hwmon_find,
      .read = hwmon_read,
      .drop = wtl_hwmon_drop_rails,
      .grant = "# the files of its sensors belong to root; give a group of trusted users read access by chgrp and "
               "chmod 0440, at every boot by a line of /etc/tmpfiles.d"};
  return wtl_gauges_open(&kind, env, why, why_size, grant, grant_size);
}

const wtl_meter_ops wtl_meter_hwmon = WTL_GAUGE_METER("hwmon", hwmon_open);
