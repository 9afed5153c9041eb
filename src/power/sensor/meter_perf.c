/*
 * meter_perf.c - the counters of powercap by perf's PMU `power`, SYSFS/bus/event_source/devices/power.
 *
 * It needs CAP_PERFMON or perf_event_paranoid <= 0 in place of a readable energy_uj. Its 64-bit counters do not wrap.
 * The PMU has one event for each domain, and `cpumask` has the CPU of each package or die on which it is opened. Intel
 * counts by die, AMD by package: kernels before 6.12 list a CPU of each die of AMD's packages, too, so their events
 * show one counter. core and uncore (in perf: gpu) are contained in their package; psys contains the packages and is
 * opened once.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/locale.h"
#include "power/machine/clock_domains.h"
#include "power/sensor/gauge.h"
#include "power/sensor/perf_event.h"
#include "power/sensor/watt_limit.h"

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
  return wtl_perf_event_open(&a, cpu, -1);
}

static bool text_of(const wtl_sys *sys, const char *dir, const char *file, char *text, size_t size)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s", dir, file);
  int n = sys->read_file(sys->arg, path, text, size);
  if (n > 0) text[strcspn(text, "\n")] = '\0';
  return n > 0;
}

/* The search: the PMU and the CPUs on which its events are opened. */
typedef struct search {
  wtl_gauges *set;
  const wtl_meter_env *env;
  char dir[400];
  unsigned type;
  cpu_set_t cpus;
} search;

/* Returns the number in a file of a CPU's topology, or `otherwise`. */
static int topology_of(const search *s, int cpu, const char *file, int otherwise)
{
  char path[64], text[64];
  snprintf(path, sizeof path, "topology/%s", file);
  return wtl_cpu_file(s->set->sys, s->env->sysfs, cpu, path, text, sizeof text) > 0 ? atoi(text) : otherwise;
}

/* Writes the name of a domain: "package-1", or "package-1-die-0" if the package has several CPUs in cpumask. */
static void set_name(const search *s, const struct event *e, int cpu, char *name, size_t size)
{
  int package = topology_of(s, cpu, "physical_package_id", 0), before = 0, others = 0;
  for (int other = 0; other < CPU_SETSIZE; other++) {
    if (other == cpu || !CPU_ISSET((size_t)other, &s->cpus)) continue;
    if (topology_of(s, other, "physical_package_id", 0) != package) continue;
    before += other < cpu;
    others++;
  }
  if (e->scope == WATTLE_SCOPE_NODE)
    snprintf(name, size, "%s", e->domain);
  else if (others == 0)
    snprintf(name, size, "%s-%d", e->domain, package);
  else
    snprintf(name, size, "%s-%d-die-%d", e->domain, package, topology_of(s, cpu, "die_id", before));
}

/* Is there a domain of this name? Each CPU of cpumask has an event psys, and all show the whole node. */
static bool is_taken(const wtl_gauges *set, const char *name)
{
  for (size_t i = 0; i < set->n; i++)
    if (strcmp(set->gauge[i].domain.name, name) == 0) return true;
  return false;
}

/* Opens an event on a CPU of cpumask. Returns 0 or an errno. */
static int add(const search *s, const struct event *e, int cpu)
{
  WTL_LOCALE_APART;
  char text[128], file[64];
  wtl_gauges *set = s->set;
  const char *dir = s->dir;
  wtl_domain d = {.scope = e->scope, .part = e->part, .nested = e->nested};
  set_name(s, e, cpu, d.name, sizeof d.name);
  if (is_taken(set, d.name)) return 0;
  unsigned long long config;
  snprintf(file, sizeof file, "events/%s", e->name);
  if (!text_of(set->sys, dir, file, text, sizeof text) || sscanf(text, "event=%llx", &config) != 1) return 0;
  snprintf(file, sizeof file, "events/%s.scale", e->name);
  double scale = text_of(set->sys, dir, file, text, sizeof text) ? strtod(text, NULL) : 0;
  if (!(scale > 0)) return 0; /* joules of unknown size */
  int fd =
      set->sys->perf_open ? set->sys->perf_open(set->sys->arg, s->type, config, cpu) : real_open(s->type, config, cpu);
  if (fd < 0) return -fd;
  wtl_gauge *g = wtl_gauge_add(set, &d);
  if (!g) {
    close(fd);
    return 0;
  }
  g->fd = fd;
  g->unit = scale;
  g->step_s = 0.0015; /* updates are about 1 ms apart */
  if (e->scope == WATTLE_SCOPE_PACKAGE) g->limit_w = wtl_watt_limit_package(s->env);
  snprintf(g->source, sizeof g->source, "power/%s/ CPU %d", e->name, cpu);
  return 0;
}

/* Are these the events of two dies of one package? */
static bool may_mirror(const wtl_gauge *a, const wtl_gauge *b)
{
  bool are_packages = a->domain.scope == WATTLE_SCOPE_PACKAGE && b->domain.scope == WATTLE_SCOPE_PACKAGE;
  return are_packages && atoi(a->domain.name + strlen("package-")) == atoi(b->domain.name + strlen("package-"));
}

static void perf_find(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                      size_t grant_size)
{
  char text[4096];
  int error = 0;
  search s = {.set = set, .env = env};
  snprintf(s.dir, sizeof s.dir, "%s/bus/event_source/devices/power", env->sysfs);
  if (!text_of(set->sys, s.dir, "type", text, sizeof text)) {
    snprintf(why, why_size, "no %s (a virtual machine, or a processor without it)", s.dir);
    return;
  }
  s.type = (unsigned)strtoul(text, NULL, 10);
  if (!text_of(set->sys, s.dir, "cpumask", text, sizeof text) || !wtl_cpu_list(text, &s.cpus))
    wtl_cpu_list("0", &s.cpus);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    for (size_t i = 0; CPU_ISSET((size_t)cpu, &s.cpus) && i < sizeof events / sizeof events[0]; i++) {
      int failed = add(&s, &events[i], cpu);
      if (failed) error = failed;
    }
  wtl_gauges_drop_mirrors(set, may_mirror);
  if (error) snprintf(why, why_size, "cannot open events of %s: %s", s.dir, strerror(error));
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
