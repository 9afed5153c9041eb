/* cores.c - counts the cores that this process may use, by its affinity and its cgroups. */
#include "node/cores.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/locale.h"
#include "os/os.h"

static double read_two(const char *path, double *second)
{
  WTL_LOCALE_APART;
  char first[32];
  double number;
  FILE *f = fopen(path, "re");
  int n = f ? fscanf(f, "%31s %lf", first, second) : 0;
  if (f) fclose(f);
  return n >= 1 && sscanf(first, "%lf", &number) == 1 ? number : -1; /* "max" or -1: no limit */
}

/* The two versions of cgroups: the mount point, and the file or two files with a quota and its period in
 * microseconds. */
typedef struct cgroups {
  const char *controller, *root, *quota, *period;
} cgroups;

static const cgroups versions[] = {{"", "/sys/fs/cgroup", "cpu.max", NULL},
                                   {"cpu", "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us"}};

/* Returns the quota of the cgroup root + path in cores; INFINITY if it has none. */
static double quota_of(const cgroups *version, const char *path)
{
  char file[4400];
  double quota, period = 0, none;
  snprintf(file, sizeof file, "%s%s/%s", version->root, path, version->quota);
  quota = read_two(file, &period);
  if (version->period) {
    snprintf(file, sizeof file, "%s%s/%s", version->root, path, version->period);
    period = read_two(file, &none);
  }
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* Returns whether `word` is an entry of `list`, whose entries are separated by commas. */
static bool is_listed(const char *list, const char *word)
{
  size_t n = strlen(word);
  for (;; list += strcspn(list, ",") + 1) {
    if (strcspn(list, ",") == n && strncmp(list, word, n) == 0) return true;
    if (!list[strcspn(list, ",")]) return false;
  }
}

/* Finds this process's cgroup below the root, such as "/a/b". "" for the root itself, or if the cgroup is unknown. */
static void own_path(const cgroups *version, char *path, size_t size)
{
  char line[4352];
  FILE *f = fopen("/proc/self/cgroup", "re");
  *path = '\0';
  while (f && !*path && fgets(line, sizeof line, f)) { /* "4:cpu,cpuacct:/a/b", or "0::/a/b" */
    char *list = strchr(line, ':'), *at = list ? strchr(list + 1, ':') : NULL;
    if (!at) continue;
    *at++ = '\0';
    at[strcspn(at, "\n")] = '\0';
    /* A path with /.. lies outside the part of the tree that this process sees. */
    if (is_listed(list + 1, version->controller) && !strstr(at, "/..") && strcmp(at, "/") != 0)
      snprintf(path, size, "%s", at);
  }
  if (f) fclose(f);
}

/* Combines the figures of this process's own cgroups and of those above them, up to the root. In a container the root
 * is the container's. */
static double combine(double so_far, double (*with)(double so_far, const cgroups *version, const char *path))
{
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    char path[4096];
    own_path(&versions[i], path, sizeof path);
    for (char *end = path + strlen(path); end; end = strrchr(path, '/')) {
      *end = '\0';
      so_far = with(so_far, &versions[i], path);
    }
  }
  return so_far;
}

static double with_quota(double least, const cgroups *version, const char *path)
{
  return fmin(least, quota_of(version, path));
}

double wtl_cores_quota(void)
{
  if (WTL_OS_IS_SIMULATED) return INFINITY;
  return combine(INFINITY, with_quota);
}

static double with_throttled(double sum, const cgroups *version, const char *path)
{
  WTL_LOCALE_APART;
  char file[4400], key[64];
  double value, seconds = NAN;
  snprintf(file, sizeof file, "%s%s/cpu.stat", version->root, path);
  FILE *f = fopen(file, "re");
  while (f && fscanf(f, "%63s %lf", key, &value) == 2) {
    if (strcmp(key, "throttled_usec") == 0) seconds = value * 1e-6;
    if (strcmp(key, "throttled_time") == 0) seconds = value * 1e-9;
  }
  if (f) fclose(f);
  return isnan(seconds) ? sum : seconds + (isnan(sum) ? 0 : sum);
}

double wtl_cores_throttled(void)
{
  return combine(NAN, with_throttled);
}

int wtl_cores_allowed(void)
{
  cpu_set_t set;
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
  double limit = wtl_cores_quota();
  if (limit < cores) cores = (int)ceil(limit);
  return cores < 1 ? 1 : cores;
}

/* Returns the lowest hardware thread of the core that `cpu` belongs to; `cpu` itself if that is unknown. */
static int first_thread(const char *sysfs, int cpu)
{
  char file[4200];
  int first = -1;
  snprintf(file, sizeof file, "%s/devices/system/cpu/cpu%d/topology/thread_siblings_list", sysfs, cpu);
  FILE *f = fopen(file, "re");
  if (!f || fscanf(f, "%d", &first) != 1 || first < 0 || first > cpu) first = cpu;
  if (f) fclose(f);
  return first;
}

int wtl_cores_physical(const cpu_set_t *set, const char *sysfs)
{
  cpu_set_t first;
  if (WTL_OS_IS_SIMULATED) return CPU_COUNT(set); /* the files are of another machine */
  CPU_ZERO(&first);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, set)) CPU_SET(first_thread(sysfs, cpu), &first);
  return CPU_COUNT(&first);
}
