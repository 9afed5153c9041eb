/* clock_domains.c - finds the CPUs that share a clock, and reads their files. */
#include "power/machine/clock_domains.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool wtl_cpu_list(const char *text, cpu_set_t *out)
{
  CPU_ZERO(out);
  while (*text && *text != '\n') {
    char *end;
    long first = strtol(text, &end, 10), last = first;
    if (end == text) break;
    if (*end == '-') {
      const char *dash = end;
      last = strtol(dash + 1, &end, 10);
      if (end == dash + 1) last = -1;
    }
    if (first < 0 || last < first || last >= CPU_SETSIZE) break;
    for (long cpu = first; cpu <= last; cpu++) CPU_SET((size_t)cpu, out);
    for (text = end; *text == ',' || *text == ' '; text++) {}
  }
  if (*text && *text != '\n') CPU_ZERO(out); /* a list that is read in part would give too small a domain */
  return CPU_COUNT(out) > 0;
}

int wtl_cpu_file(const wtl_sys *sys, const char *sysfs, int cpu, const char *file, char *text, size_t size)
{
  char path[512];
  int n = snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/%s", sysfs, cpu, file);
  if (n < 0 || (size_t)n >= sizeof path) return -ENAMETOOLONG;
  n = sys->read_file(sys->arg, path, text, size);
  if (n < 0) return n;
  text[strcspn(text, "\n")] = '\0';
  return (int)strlen(text);
}

int wtl_cpu_package(const wtl_sys *sys, const char *sysfs, int cpu)
{
  char text[32];
  if (wtl_cpu_file(sys, sysfs, cpu, "topology/physical_package_id", text, sizeof text) <= 0) return 0;
  int package = atoi(text); /* -1 where the firmware does not say */
  return package > 0 ? package : 0;
}

cpu_set_t *wtl_cpu_by_package(const wtl_sys *sys, const char *sysfs, const cpu_set_t *cpus, size_t *n)
{
  size_t all = (size_t)CPU_COUNT(cpus), i;
  cpu_set_t *out = calloc(all + 1, sizeof *out);
  int *package = calloc(all + 1, sizeof *package);
  *n = 0;
  for (int cpu = 0; out && package && cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET((size_t)cpu, cpus)) continue;
    int mine = wtl_cpu_package(sys, sysfs, cpu);
    for (i = 0; i < *n && package[i] != mine; i++) {}
    if (i == *n) package[(*n)++] = mine;
    CPU_SET((size_t)cpu, &out[i]);
  }
  free(package);
  if (*n) return out;
  free(out);
  return NULL;
}

size_t wtl_cpu_packages(const wtl_sys *sys, const char *sysfs)
{
  char path[512], text[4096];
  cpu_set_t left, same;
  size_t n = 0;
  snprintf(path, sizeof path, "%s/devices/system/cpu/online", sysfs);
  if (sys->read_file(sys->arg, path, text, sizeof text) <= 0 || !wtl_cpu_list(text, &left)) return 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET((size_t)cpu, &left)) continue;
    if (wtl_cpu_file(sys, sysfs, cpu, "topology/package_cpus_list", text, sizeof text) <= 0 &&
        wtl_cpu_file(sys, sysfs, cpu, "topology/core_siblings_list", text, sizeof text) <= 0)
      return 0;
    if (!wtl_cpu_list(text, &same) || !CPU_ISSET((size_t)cpu, &same)) return 0;
    CPU_XOR(&same, &same, &left); /* without the CPUs of this package */
    CPU_AND(&left, &same, &left);
    n++;
  }
  return n;
}

/* The group of each CPU: the lowest CPU known to share its clock. */
typedef struct groups {
  int lowest[CPU_SETSIZE];
} groups;

static int group_of(groups *g, int cpu)
{
  while (g->lowest[cpu] != cpu) cpu = g->lowest[cpu] = g->lowest[g->lowest[cpu]];
  return cpu;
}

static void join(groups *g, int a, int b)
{
  a = group_of(g, a);
  b = group_of(g, b);
  if (a < b)
    g->lowest[b] = a;
  else
    g->lowest[a] = b;
}

static void join_all(groups *g, int cpu, const cpu_set_t *others)
{
  for (int other = 0; other < CPU_SETSIZE; other++)
    if (CPU_ISSET((size_t)other, others)) join(g, cpu, other);
}

static bool join_listed(groups *g, const wtl_sys *sys, const char *sysfs, int cpu, const char *file)
{
  char text[4096];
  cpu_set_t set;
  bool found = wtl_cpu_file(sys, sysfs, cpu, file, text, sizeof text) > 0 && wtl_cpu_list(text, &set);
  if (found) join_all(g, cpu, &set);
  return found;
}

/* Does this CPU have a clock, or seem to, without a readable list of the CPUs that share it? */
static bool has_unlisted_clock(const wtl_sys *sys, const char *sysfs, int cpu)
{
  char text[256];
  return wtl_cpu_file(sys, sysfs, cpu, "cpufreq/related_cpus", text, sizeof text) != -ENOENT ||
         wtl_cpu_file(sys, sysfs, cpu, "cpufreq/scaling_driver", text, sizeof text) != -ENOENT;
}

static void join_package(groups *g, const wtl_sys *sys, const char *sysfs, int cpu)
{
  /* Older kernels call the cores of a package core siblings. */
  if (!join_listed(g, sys, sysfs, cpu, "topology/package_cpus_list"))
    join_listed(g, sys, sysfs, cpu, "topology/core_siblings_list");
}

cpu_set_t *wtl_knob_clock_domains(const wtl_sys *sys, const char *sysfs, enum wtl_clock_domain_rule rule,
                                  const cpu_set_t *cpus, size_t *n)
{
  groups *g = malloc(sizeof *g);
  cpu_set_t *out = calloc((size_t)CPU_COUNT(cpus) + 1, sizeof *out);
  int place[CPU_SETSIZE];
  *n = 0;
  for (int cpu = 0; g && cpu < CPU_SETSIZE; cpu++) g->lowest[cpu] = cpu;
  for (int cpu = 0; g && cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET((size_t)cpu, cpus)) continue;
    /* Then it may share its clock with all. One vote too many saves less; one too few slows others down. */
    if (!join_listed(g, sys, sysfs, cpu, "cpufreq/related_cpus") && has_unlisted_clock(sys, sysfs, cpu))
      join_all(g, cpu, cpus);
    join_listed(g, sys, sysfs, cpu, "cpufreq/freqdomain_cpus");
    join_listed(g, sys, sysfs, cpu, "topology/thread_siblings_list");
    if (rule == WTL_DOMAIN_PACKAGE) join_package(g, sys, sysfs, cpu);
  }
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) place[cpu] = -1;
  for (int cpu = 0; g && out && cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET((size_t)cpu, cpus) && place[group_of(g, cpu)] < 0) place[group_of(g, cpu)] = (int)(*n)++;
  for (int cpu = 0; g && out && cpu < CPU_SETSIZE; cpu++) {
    int at = place[group_of(g, cpu)];
    if (at >= 0) CPU_SET((size_t)cpu, &out[at]);
  }
  free(g);
  if (*n == 0) {
    free(out);
    return NULL;
  }
  return out;
}
