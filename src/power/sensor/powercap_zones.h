/*
 * powercap_zones.h - the zones of the Linux powercap tree, by name.
 *
 * DESIGN. The file `name` of a zone identifies it, never its index. The resulting domains:
 *   package-N, package-N-die-M    top level
 *   dram (under a package)        top level as dram-N, because a package's counter does not contain it
 *   core, uncore                  nested in their package, as core-N, uncore-N
 *   psys                          nested, because it contains the packages, unless there is no package
 *
 * A zone of another control type (intel-rapl-mmio) is dropped if intel-rapl has one of the same name. It replaces that
 * one only if that one cannot be read.
 */
#ifndef WTL_POWER_POWERCAP_ZONES_H
#define WTL_POWER_POWERCAP_ZONES_H

#include <stddef.h>

#include "power/sensor/counter.h"
#include "power/meter.h"

typedef struct wtl_zone {
  wtl_domain domain;
  char id[48];    /* such as "intel-rapl:0:1" */
  char path[512]; /* of energy_uj */
  wtl_counter counter;
  int error; /* of the last reading: 0, an errno, or a finding of wtl_sys_error_text */
} wtl_zone;

/* The result of a search. */
typedef struct wtl_powercap_found {
  size_t n;        /* zones in the array */
  size_t left_out; /* zones for which the array has no space */
  size_t hidden;   /* links whose folder is missing, as in a container that hides the folders */
} wtl_powercap_found;

/* Finds the zones below SYSFS/class/powercap, top-level ones first, at most `max`. Reads no energy. */
wtl_powercap_found wtl_powercap_find(const wtl_meter_env *env, wtl_zone *out, size_t max);

/* Reads the counter of a zone once. Takes the reading if it is good, and otherwise keeps the error. */
void wtl_zone_read(wtl_zone *z, const wtl_sys *sys);

/*
 * Samples the top-level zones of packages with several dies and removes those that show the counter of an earlier one,
 * as dies of AMD packages may. Takes about 10 ms if there are such zones, otherwise no time. Returns the number of
 * zones left, in the same order.
 */
size_t wtl_powercap_drop_mirrors(wtl_zone *zones, size_t n, const wtl_sys *sys);

#endif
