/* hwmon.h - parts of the meter of hwmon. */
#ifndef WTL_POWER_HWMON_H
#define WTL_POWER_HWMON_H

#include "power/sensor/gauge.h"

/* A folder of sensors and the environment of the search. */
typedef struct wtl_hwmon_device {
  wtl_gauges *set;
  const wtl_meter_env *env;
  const char *dir; /* SYSFS/class/hwmon/hwmonN */
  char driver[64];
  char *why, *grant; /* of sizes why_size and grant_size */
  size_t why_size, grant_size;
} wtl_hwmon_device;

/* The handle of a gauge whose package the topology names. */
extern char wtl_hwmon_known_package;

/* Reads the first line of a file of a folder. Returns its length or a negative errno. */
int wtl_hwmon_line(const wtl_sys *sys, const char *dir, const char *file, char *text, size_t size);

/* Adds a gauge of this file, in uW or uJ. Returns NULL if the domain is there already, or if there are too many. */
wtl_gauge *wtl_hwmon_add(const wtl_hwmon_device *d, const char *file, const char *label, const wtl_domain *domain);

/* Adds the rails of a board or of a processor's package that the device has. */
void wtl_hwmon_add_rails(const wtl_hwmon_device *d);

/* Adds the batteries that feed a notebook now, below SYSFS/class/power_supply. */
void wtl_hwmon_add_battery(const wtl_hwmon_device *d);

/* Marks domains as nested that a domain of the whole board or of packages contains. Call it when all are there. */
void wtl_hwmon_nest_rails(wtl_gauges *set);

/* Reads a gauge of rails or of a battery; -1: it is none. */
int wtl_hwmon_read_rail(const wtl_gauges *set, const wtl_gauge *g, double *counts);

/* Frees what the gauges of rails have. */
void wtl_hwmon_drop_rails(wtl_gauges *set);

#endif
