/*
 * powercap_zones.h - the zones of the Linux powercap tree, by name.
 *
 * A zone is known by the text in its file `name`, never by its index. What comes out:
 *   package-N, package-N-die-M    top level
 *   dram (under a package)        top level as dram-N: a package's counter does not contain it
 *   core, uncore                  nested in their package, as core-N, uncore-N
 *   psys                          nested (it contains the packages), unless there is no package at all
 * Zones of another control type (intel-rapl-mmio) with the name of one that intel-rapl has are dropped; only if the
 * intel-rapl one cannot be read does the other take its place.
 */
#ifndef WTL_POWER_POWERCAP_ZONES_H
#define WTL_POWER_POWERCAP_ZONES_H

#include <stddef.h>

#include "power/counter.h"
#include "power/meter.h"

typedef struct wtl_zone {
  wtl_domain domain;
  char id[48];    /* "intel-rapl:0:1" */
  char path[512]; /* of energy_uj */
  wtl_counter counter;
  int error; /* errno of the last reading, or 0; EBADMSG: it was not a number */
} wtl_zone;

/*
 * Finds zones below SYSFS/class/powercap, top-level ones first. Returns their number, at most `max`. Reads no energy.
 */
size_t wtl_powercap_find(const wtl_meter_env *env, wtl_zone *out, size_t max);

/* Reads a zone's counter once; takes it if it is good, notes the error if not. */
void wtl_zone_read(wtl_zone *z, const wtl_sys *sys);

#endif
