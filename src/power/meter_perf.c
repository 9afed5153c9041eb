/*
 * meter_perf.c - the counters of powercap by perf's PMU `power`, SYSFS/bus/event_source/devices/power.
 *
 * It needs CAP_PERFMON or perf_event_paranoid <= 0 in place of a readable energy_uj. Its 64-bit counters do not wrap.
 * The PMU has one event for each domain, and `cpumask` has the CPU of each package on which it is opened. core and
 * uncore (in perf: gpu) are contained in their package; psys contains the packages.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "power/clock_domains.h"
#include "power/gauge.h"

static const struct event {
  const char *name, *domain;
  wattle_scope_t scope;
  enum wtl_part part;
  bool nested;
} events[] = {
    {"energy-pkg", "package", WATTLE_SCOPE_PACKAGE, WTL_PART_CPU, false},
    {"energy-ram", "dram", WATTLE_SCOPE_DRAM, WTL_PART_DRAM, false},
    {"energy-cores", "core", WATTLE_SCOPE_CORE, WTL_PART_CPU, true},
    {"energy-gpu", "uncore", WATTLE_SCOPE_CORE, WTL_PART_CPU, true},
    {"energy-psys", "psys", WATTLE_SCOPE_NODE, WTL_PART_NODE, true},
};

static const char GRANT[] = "sudo setcap cap_perfmon+ep PROGRAM   # this one program may read perf's events\n"
                            "# never lower kernel.perf_event_paranoid for all users: energy counters leak what other "
                            "programs compute, keys included "
                            "(PLATYPUS, CVE-2020-8694)";

static int real_open(unsigned type, unsigned long long config, int cpu)
{
  struct perf_event_attr a = {.type = type, .size = sizeof a, .config = config};
  int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

static bool text_of(const wtl_sys *sys, const char *dir, const char *file, char *text, size_t size)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s", dir, file);
  int n = sys->read_file(sys->arg, path, text, size);
  if (n > 0) text[strcspn(text, "\n")] = '\0';
  return n > 0;
}

/* Opens an event on the CPU of one package. Returns 0 or an errno. */
static int add(wtl_gauges *set, const char *dir, const char *sysfs, const struct event *e, unsigned type, int cpu)
{
  char text[128], file[64];
  unsigned long long config;
  snprintf(file, sizeof file, "events/%s", e->name);
  if (!text_of(set->sys, dir, file, text, sizeof text) || sscanf(text, "event=%llx", &config) != 1) return 0;
  snprintf(file, sizeof file, "events/%s.scale", e->name);
  double scale = text_of(set->sys, dir, file, text, sizeof text) ? strtod(text, NULL) : 0;
  if (!(scale > 0)) return 0; /* joules of unknown size */
  int fd = set->sys->perf_open ? set->sys->perf_open(set->sys->arg, type, config, cpu) : real_open(type, config, cpu);
  if (fd < 0) return -fd;
  int package = 0;
  if (wtl_cpu_file(set->sys, sysfs, cpu, "topology/physical_package_id", text, sizeof text) > 0) package = atoi(text);
  wtl_domain d = {.scope = e->scope, .part = e->part, .nested = e->nested};
  if (e->scope == WATTLE_SCOPE_NODE)
    snprintf(d.name, sizeof d.name, "%s", e->domain);
  else
    snprintf(d.name, sizeof d.name, "%s-%d", e->domain, package);
  wtl_gauge *g = wtl_gauge_add(set, &d);
  if (!g) {
    close(fd);
    return 0;
  }
  g->fd = fd;
  g->unit = scale;
  g->step_s = 0.0015; /* updates are about 1 ms apart */
  snprintf(g->source, sizeof g->source, "power/%s/ CPU %d", e->name, cpu);
  return 0;
}

static void perf_find(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                      size_t grant_size)
{
  char dir[400], text[256];
  cpu_set_t cpus;
  int error = 0;
  snprintf(dir, sizeof dir, "%s/bus/event_source/devices/power", env->sysfs);
  if (!text_of(set->sys, dir, "type", text, sizeof text)) {
    snprintf(why, why_size, "no %s (a virtual machine, or a processor without it)", dir);
    return;
  }
  unsigned type = (unsigned)strtoul(text, NULL, 10);
  if (!text_of(set->sys, dir, "cpumask", text, sizeof text) || !wtl_cpu_list(text, &cpus)) wtl_cpu_list("0", &cpus);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    for (size_t i = 0; CPU_ISSET((size_t)cpu, &cpus) && i < sizeof events / sizeof events[0]; i++) {
      int failed = add(set, dir, env->sysfs, &events[i], type, cpu);
      if (failed) error = failed;
    }
  if (error) snprintf(why, why_size, "cannot open events of %s: %s", dir, strerror(error));
  if (error == EACCES || error == EPERM) snprintf(grant, grant_size, "%s", GRANT);
}

static int perf_read(wtl_gauges *set, wtl_gauge *g, double *counts)
{
  unsigned long long value;
  (void)set;
  lseek(g->fd, 0, SEEK_SET); /* for the file that replaces an event in tests; an event cannot seek and need not */
  ssize_t n = read(g->fd, &value, sizeof value);
  if (n < 0) return errno;
  if (n != (ssize_t)sizeof value) return EBADMSG;
  *counts = (double)value;
  return 0;
}

static void *perf_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  static const wtl_gauge_kind kind = {.name = "perf", .find = perf_find, .read = perf_read};
  return wtl_gauges_open(&kind, env, why, why_size, grant, grant_size);
}

const wtl_meter_ops wtl_meter_perf = WTL_GAUGE_METER("perf", perf_open);
