/* knob_files.c - names, paths and valid values of the files that knobs write. */
#include "power/knob/knob_files.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/machine/clock_domains.h"

static const char *const names[WTL_KNOB_ATTRIBUTES] = {
    "scaling_setspeed",
    "scaling_max_freq",
    "scaling_min_freq",
    "energy_performance_preference",
    "constraint_0_power_limit_uw",
    "constraint_1_power_limit_uw",
    "enabled",
    "uncore_max_freq_khz",
};

const char *wtl_knob_attribute_name(wtl_knob_attribute a)
{
  return names[a];
}

bool wtl_knob_attribute_is_limit(wtl_knob_attribute a)
{
  return a == WTL_KNOB_LIMIT || a == WTL_KNOB_SHORT_LIMIT || a == WTL_KNOB_ENFORCED;
}

/* ---- paths ---- */

/* Linux has few zones: two types, packages, dies. */
enum { MOST_ZONES = 128, MOST_CONSTRAINTS = 8 };

static bool read_line(const wtl_sys *sys, const char *path, char *text, size_t size)
{
  int n = sys->read_file(sys->arg, path, text, size);
  if (n > 0) text[strcspn(text, "\n")] = '\0';
  return n > 0;
}

/*
 * Finds the folder of a package's zone. intel-rapl-mmio shows the limits of intel-rapl again, so the first one by name
 * is used.
 */
static bool find_zone(const wtl_sys *sys, const char *sysfs, int package, char *zone, size_t size)
{
  char want[32], top[400], path[700], name[64];
  struct dirent **entry = NULL;
  bool found = false;
  snprintf(want, sizeof want, "package-%d", package);
  snprintf(top, sizeof top, "%s/class/powercap", sysfs);
  int n = scandir(top, &entry, NULL, versionsort);
  for (int i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/%s/name", top, entry[i]->d_name);
    if (!found && i < MOST_ZONES && read_line(sys, path, name, sizeof name) && strcmp(name, want) == 0) {
      int length = snprintf(zone, size, "%s/%s", top, entry[i]->d_name);
      found = length > 0 && (size_t)length < size;
    }
    free(entry[i]);
  }
  if (n >= 0) free(entry);
  return found;
}

/* Writes the folder of a place. Returns false if the package has no powercap zone. */
static bool folder_of(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, char *folder, size_t size)
{
  static const char uncore[] = "devices/system/cpu/intel_uncore_frequency";
  int die = p.of - WTL_UNCORE_CLUSTERS, n;
  if (wtl_knob_attribute_is_limit(p.attribute)) return find_zone(sys, sysfs, p.of, folder, size);
  if (p.attribute != WTL_KNOB_UNCORE)
    n = snprintf(folder, size, "%s/devices/system/cpu/cpu%d/cpufreq", sysfs, p.of);
  else if (die < 0)
    n = snprintf(folder, size, "%s/%s/uncore%02d", sysfs, uncore, p.of);
  else
    n = snprintf(folder, size, "%s/%s/package_%02d_die_%02d", sysfs, uncore, die / WTL_UNCORE_DIES,
                 die % WTL_UNCORE_DIES);
  return n > 0 && (size_t)n < size;
}

/*
 * Returns the number of a package's constraint by its name: the driver leaves out a constraint that the processor does
 * not have. Without names, 0 and 1 are those of the long and the short time.
 */
static int constraint_of(const wtl_sys *sys, const char *zone, wtl_knob_attribute a)
{
  const char *want = a == WTL_KNOB_LIMIT ? "long_term" : "short_term";
  char path[800], name[64];
  bool named = false;
  for (int i = 0; i < MOST_CONSTRAINTS; i++) {
    snprintf(path, sizeof path, "%s/constraint_%d_name", zone, i);
    if (!read_line(sys, path, name, sizeof name)) continue;
    if (strcmp(name, want) == 0) return i;
    named = true;
  }
  return named ? -1 : a == WTL_KNOB_SHORT_LIMIT;
}

static bool sibling_path(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *name, char *path,
                         size_t size)
{
  char folder[700];
  if (!folder_of(sys, sysfs, p, folder, sizeof folder)) return false;
  int n = snprintf(path, size, "%s/%s", folder, name);
  return n > 0 && (size_t)n < size;
}

/* The names of a limit's files have the number of its constraint. */
static bool limit_path(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *end, char *path,
                       size_t size)
{
  char folder[700];
  int number = folder_of(sys, sysfs, p, folder, sizeof folder) ? constraint_of(sys, folder, p.attribute) : -1;
  int n = number < 0 ? -1 : snprintf(path, size, "%s/constraint_%d_%s", folder, number, end);
  return n > 0 && (size_t)n < size;
}

bool wtl_knob_place_path(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, char *path, size_t size)
{
  switch (p.attribute) {
  case WTL_KNOB_LIMIT:
  case WTL_KNOB_SHORT_LIMIT: return limit_path(sys, sysfs, p, "power_limit_uw", path, size);
  case WTL_KNOB_UNCORE: return sibling_path(sys, sysfs, p, "max_freq_khz", path, size);
  default: return sibling_path(sys, sysfs, p, names[p.attribute], path, size);
  }
}

/* ---- values ---- */

/*
 * No processor is beyond these bounds. Today's range says nothing about a value that a job found: turbo may have been
 * switched off since, and a limit may be above the maximum that the processor states. The kernel keeps clocks in range.
 */
static const double LOWEST_KHZ = 10e3, HIGHEST_KHZ = 20e6, HIGHEST_UW = 100e9;

/* Returns NaN if the text is no whole number. */
static double whole_number(const char *text)
{
  size_t digits = strspn(text, "0123456789");
  return digits && digits <= 15 && !text[digits] ? (double)strtoull(text, NULL, 10) : NAN;
}

double wtl_knob_place_number(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *name)
{
  char path[1024], text[64];
  bool numbered = p.attribute == WTL_KNOB_LIMIT || p.attribute == WTL_KNOB_SHORT_LIMIT;
  bool found = (numbered ? limit_path : sibling_path)(sys, sysfs, p, name, path, sizeof path);
  return found && read_line(sys, path, text, sizeof text) ? whole_number(text) : NAN;
}

static bool in_range(double value, double low, double high, char *why, size_t size)
{
  if (value >= low && value <= high) return true; /* false if one of them is NaN */
  if (isnan(low) || isnan(high))
    snprintf(why, size, "the range of the hardware cannot be read");
  else
    snprintf(why, size, "must be a whole number from %.0f to %.0f", low, high);
  return false;
}

static bool is_word_of(const char *word, const char *list)
{
  size_t n = strlen(word);
  for (const char *at = list; n && (at = strstr(at, word)); at += n)
    if ((at == list || isspace((unsigned char)at[-1])) && (!at[n] || isspace((unsigned char)at[n]))) return true;
  return false;
}

/* intel_pstate shows a preference without a name as a number of 8 bits. A driver may list fewer names than before. */
static bool is_preference(const wtl_sys *sys, const char *sysfs, int cpu, const char *value, char *why, size_t size)
{
  static const char names_of_kernel[] = "default performance balance_performance balance_power power";
  char list[256];
  if (wtl_cpu_file(sys, sysfs, cpu, "cpufreq/energy_performance_available_preferences", list, sizeof list) <= 0)
    list[0] = '\0';
  if (is_word_of(value, list) || is_word_of(value, names_of_kernel) || whole_number(value) <= 255) return true;
  snprintf(why, size, "must be one of: %s %s", names_of_kernel, list);
  return false;
}

bool wtl_knob_place_takes(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *value, char *why,
                          size_t size)
{
  double number = whole_number(value);
  switch (p.attribute) {
  case WTL_KNOB_ENFORCED: return in_range(number, 0, 1, why, size);
  case WTL_KNOB_PREFERENCE: return is_preference(sys, sysfs, p.of, value, why, size);
  case WTL_KNOB_LIMIT:
  case WTL_KNOB_SHORT_LIMIT:
    return in_range(number, wtl_knob_place_number(sys, sysfs, p, "power_limit_uw"), HIGHEST_UW, why, size);
  default: return in_range(number, LOWEST_KHZ, HIGHEST_KHZ, why, size);
  }
}
