/* knob_files.c - names, paths and valid values of the files that knobs write. */
#include "power/knob_files.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/clock_domains.h"

static const char *const names[WTL_KNOB_ATTRIBUTES] = {
    "scaling_setspeed",
    "scaling_max_freq",
    "scaling_min_freq",
    "energy_performance_preference",
    "constraint_0_power_limit_uw",
    "constraint_1_power_limit_uw",
};

const char *wtl_knob_attribute_name(wtl_knob_attribute a)
{
  return names[a];
}

bool wtl_knob_attribute_is_limit(wtl_knob_attribute a)
{
  return a == WTL_KNOB_LIMIT || a == WTL_KNOB_SHORT_LIMIT;
}

/* ---- paths ---- */

/* Linux has few zones: two types, packages, dies. */
enum { MOST_ZONES = 128 };

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

static bool sibling_path(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *name, char *path,
                         size_t size)
{
  char zone[700];
  int n = -1;
  if (!wtl_knob_attribute_is_limit(p.attribute))
    n = snprintf(path, size, "%s/devices/system/cpu/cpu%d/cpufreq/%s", sysfs, p.of, name);
  else if (find_zone(sys, sysfs, p.of, zone, sizeof zone))
    n = snprintf(path, size, "%s/%s", zone, name);
  return n > 0 && (size_t)n < size;
}

bool wtl_knob_place_path(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, char *path, size_t size)
{
  return sibling_path(sys, sysfs, p, names[p.attribute], path, size);
}

/* ---- values ---- */

/* Returns NaN if the text is no whole number. */
static double whole_number(const char *text)
{
  size_t digits = strspn(text, "0123456789");
  return digits && digits <= 15 && !text[digits] ? strtod(text, NULL) : NAN;
}

static double read_sibling(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *name)
{
  char path[1024], text[64];
  return sibling_path(sys, sysfs, p, name, path, sizeof path) && read_line(sys, path, text, sizeof text)
             ? whole_number(text)
             : NAN;
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

/*
 * intel_pstate shows a preference without a name as a number of 8 bits. If the driver lists none, the kernel's names
 * are used.
 */
static bool is_preference(const wtl_sys *sys, const char *sysfs, int cpu, const char *value, char *why, size_t size)
{
  char list[256];
  if (wtl_cpu_file(sys, sysfs, cpu, "cpufreq/energy_performance_available_preferences", list, sizeof list) <= 0)
    snprintf(list, sizeof list, "default performance balance_performance balance_power power");
  if (is_word_of(value, list) || whole_number(value) <= 255) return true;
  snprintf(why, size, "must be one of: %s", list);
  return false;
}

/* A knob lowers a limit to half of it at most. The hardware rounds the value that is written. */
static bool is_limit(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *value, char *why, size_t size)
{
  const char *most = p.attribute == WTL_KNOB_LIMIT ? "constraint_0_max_power_uw" : "constraint_1_max_power_uw";
  double now = read_sibling(sys, sysfs, p, names[p.attribute]), high = 2.1 * now;
  double stated = read_sibling(sys, sysfs, p, most);
  if (stated > 0) high = fmin(high, stated);
  return in_range(whole_number(value), now, high, why, size);
}

bool wtl_knob_place_takes(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *value, char *why,
                          size_t size)
{
  if (wtl_knob_attribute_is_limit(p.attribute)) return is_limit(sys, sysfs, p, value, why, size);
  if (p.attribute == WTL_KNOB_PREFERENCE) return is_preference(sys, sysfs, p.of, value, why, size);
  double low = read_sibling(sys, sysfs, p, "cpuinfo_min_freq"), high = read_sibling(sys, sysfs, p, "cpuinfo_max_freq");
  return in_range(whole_number(value), low, high, why, size);
}
