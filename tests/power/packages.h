/*
 * packages.h - made-up trees of intel_uncore_frequency and of powercap's constraints, in the kernel's layouts.
 */
#ifndef WTL_TESTS_PACKAGES_H
#define WTL_TESTS_PACKAGES_H

#include "clocks.h"

static inline void uncore_put(const char *root, const char *folder, const char *file, const char *text)
{
  char path[200];
  snprintf(path, sizeof path, "../intel_uncore_frequency/%s/%s", folder, file);
  clock_put(root, 0, "topology/physical_package_id", "0"); /* so that the folder of CPU 0 exists */
  clock_put(root, 0, path, text);
}

static inline const char *uncore_get(const char *root, const char *folder)
{
  char path[200];
  snprintf(path, sizeof path, "../intel_uncore_frequency/%s/max_freq_khz", folder);
  return clock_get(root, 0, path);
}

/* Ice Lake: one folder for each die of a package, 0.8 to 2.4 GHz. */
static inline void uncore_die(const char *root, const char *folder)
{
  uncore_put(root, folder, "initial_min_freq_khz", "800000");
  uncore_put(root, folder, "initial_max_freq_khz", "2400000");
  uncore_put(root, folder, "min_freq_khz", "800000");
  uncore_put(root, folder, "max_freq_khz", "2400000");
}

/* Granite Rapids: a folder for each cluster too, with its package, domain, cluster and latency control. */
static inline void uncore_cluster(const char *root, const char *folder, const char *package, const char *domain,
                                  const char *max)
{
  uncore_put(root, folder, "initial_min_freq_khz", "800000");
  uncore_put(root, folder, "initial_max_freq_khz", "2500000");
  uncore_put(root, folder, "min_freq_khz", "800000");
  uncore_put(root, folder, "max_freq_khz", max);
  uncore_put(root, folder, "package_id", package);
  uncore_put(root, folder, "domain_id", domain);
  uncore_put(root, folder, "fabric_cluster_id", "0");
  uncore_put(root, folder, "elc_floor_freq_khz", "1200000");
}

/* CPUs 0 and 1 in package 0, 2 and 3 in package 1. */
static inline void two_packages(const char *root)
{
  for (int cpu = 0; cpu < 4; cpu++) clock_put(root, cpu, "topology/physical_package_id", cpu < 2 ? "0" : "1");
}

/* A package's zone with the constraints of a server. */
static inline void limit_zone(const tree *t, const char *zone, const char *name, const char *long_uw,
                              const char *short_uw)
{
  tree_zone(t, zone, name, 0, 1000);
  tree_put(t, zone, "enabled", "1\n");
  tree_put(t, zone, "constraint_0_name", "long_term\n");
  tree_put(t, zone, "constraint_0_power_limit_uw", "%s\n", long_uw);
  tree_put(t, zone, "constraint_0_time_window_us", "999424\n");
  tree_put(t, zone, "constraint_0_max_power_uw", "165000000\n");
  tree_put(t, zone, "constraint_1_name", "short_term\n");
  tree_put(t, zone, "constraint_1_power_limit_uw", "%s\n", short_uw);
  tree_put(t, zone, "constraint_1_time_window_us", "7808\n");
}

static inline const char *limit_get(const tree *t, const char *zone, const char *file)
{
  char path[200];
  snprintf(path, sizeof path, "../../../../class/powercap/%s/%s", zone, file);
  return clock_get(t->root, 0, path);
}

#endif
