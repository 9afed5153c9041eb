/*
 * clocks.h - a made-up cpufreq tree in a temporary directory, as four drivers make them, and faults to plant.
 */
#ifndef WTL_TESTS_CLOCKS_H
#define WTL_TESTS_CLOCKS_H

#include "power/knob/knob.h"
#include "tree.h"

static inline void clock_put(const char *root, int cpu, const char *file, const char *text)
{
  char path[512];
  snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/%s", root, cpu, file);
  for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
  FILE *f = fopen(path, "w");
  if (!f || fprintf(f, "%s\n", text) < 0 || fclose(f) != 0) {
    perror(path);
    exit(2);
  }
}

/* Returns the contents of a file, without the newline. */
static inline const char *clock_get(const char *root, int cpu, const char *file)
{
  static char text[4][64];
  static unsigned turn;
  char path[512], *out = text[turn++ % 4];
  snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/%s", root, cpu, file);
  if (wtl_sys_real.read_file(NULL, path, out, 64) < 0) snprintf(out, 64, "(gone)");
  out[strcspn(out, "\n")] = '\0';
  return out;
}

/* One CPU with a policy of its own. */
static inline void clock_cpu(const char *root, int cpu, const char *driver, const char *governor, const char *min,
                             const char *max)
{
  char own[16];
  snprintf(own, sizeof own, "%d", cpu);
  clock_put(root, cpu, "cpufreq/related_cpus", own);
  clock_put(root, cpu, "topology/thread_siblings_list", own);
  clock_put(root, cpu, "topology/physical_package_id", "0");
  clock_put(root, cpu, "cpufreq/scaling_driver", driver);
  clock_put(root, cpu, "cpufreq/scaling_governor", governor);
  clock_put(root, cpu, "cpufreq/cpuinfo_min_freq", min);
  clock_put(root, cpu, "cpufreq/cpuinfo_max_freq", max);
  clock_put(root, cpu, "cpufreq/scaling_min_freq", min);
  clock_put(root, cpu, "cpufreq/scaling_max_freq", max);
  clock_put(root, cpu, "cpufreq/scaling_setspeed", "<unsupported>");
  clock_put(root, cpu, "cpufreq/cpuinfo_transition_latency", "20000");
}

/* intel_pstate in its active mode: turbo to 3.9 GHz, base 2.4. */
static inline void clock_intel(const char *root, int cpu)
{
  clock_cpu(root, cpu, "intel_pstate", "powersave", "800000", "3900000");
  clock_put(root, cpu, "cpufreq/base_frequency", "2400000");
  clock_put(root, cpu, "cpufreq/cpuinfo_transition_latency", "4294967295");
  clock_put(root, cpu, "cpufreq/energy_performance_preference", "balance_performance");
}

/* The papers' node: acpi-cpufreq, clocks by hand, 1.2 to 2.6 GHz and turbo. */
static inline void clock_userspace(const char *root, int cpu)
{
  clock_cpu(root, cpu, "acpi-cpufreq", "userspace", "1200000", "2601000");
  clock_put(root, cpu, "cpufreq/scaling_available_frequencies",
            "2601000 2600000 2400000 2200000 2000000 1800000 1600000 1400000 1200000 ");
  clock_put(root, cpu, "cpufreq/scaling_setspeed", "2600000");
}

static inline cpu_set_t clock_cpus(int n)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu = 0; cpu < n; cpu++) CPU_SET((size_t)cpu, &set);
  return set;
}

/* Faults: the next write, or open, of a path that ends so fails with this errno. */
typedef struct clock_faults {
  const char *open_of, *write_of;
  int open_error, write_error;
  char path[64][256]; /* by descriptor */
  int writes;
  void (*after_write)(struct clock_faults *f);
  const char *root;
  bool broken; /* for after_write */
} clock_faults;

static inline bool clock_ends_with(const char *path, const char *end)
{
  size_t n = strlen(path), m = end ? strlen(end) : 0;
  return m && n >= m && strcmp(path + n - m, end) == 0;
}

static inline int clock_open(void *arg, const char *path)
{
  clock_faults *f = arg;
  if (clock_ends_with(path, f->open_of)) return -f->open_error;
  int fd = wtl_knob_sys_real.open(NULL, path);
  if (fd >= 0 && fd < 64) snprintf(f->path[fd], sizeof f->path[fd], "%s", path);
  return fd;
}

static inline int clock_write(void *arg, int fd, const char *text)
{
  clock_faults *f = arg;
  if (fd < 64 && clock_ends_with(f->path[fd], f->write_of)) return -f->write_error;
  int error = wtl_knob_sys_real.write(NULL, fd, text);
  f->writes++;
  if (f->after_write) f->after_write(f);
  return error;
}

static inline int clock_lock(void *arg, int fd)
{
  (void)arg;
  return wtl_knob_sys_real.lock(NULL, fd);
}

static inline wtl_knob_sys clock_sys(clock_faults *f)
{
  return (wtl_knob_sys){.arg = f, .sys = &wtl_sys_real, .open = clock_open, .write = clock_write, .lock = clock_lock};
}

static inline wtl_settings clock_settings(const tree *t, int knob)
{
  wtl_settings s = tree_settings(t, WTL_METER_AUTO);
  s.knob.number = knob;
  s.clock_state.text = "none";
  return s;
}

#endif
