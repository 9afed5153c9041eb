/* knob_files.h - the files that knobs write: their names, their paths, and their valid values. */
#ifndef WTL_POWER_KNOB_FILES_H
#define WTL_POWER_KNOB_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "power/sys.h"

/* Power limits belong to a package, all other attributes to a CPU. */
typedef enum wtl_knob_attribute {
  WTL_KNOB_SETSPEED,    /* scaling_setspeed */
  WTL_KNOB_CEILING,     /* scaling_max_freq */
  WTL_KNOB_FLOOR,       /* scaling_min_freq */
  WTL_KNOB_PREFERENCE,  /* energy_performance_preference */
  WTL_KNOB_LIMIT,       /* constraint_0_power_limit_uw */
  WTL_KNOB_SHORT_LIMIT, /* constraint_1_power_limit_uw: over a shorter time */
  WTL_KNOB_ATTRIBUTES
} wtl_knob_attribute;

/* A file: its attribute, and the number of its CPU or package. */
typedef struct wtl_knob_place {
  wtl_knob_attribute attribute;
  int of;
} wtl_knob_place;

const char *wtl_knob_attribute_name(wtl_knob_attribute a);
bool wtl_knob_attribute_is_limit(wtl_knob_attribute a);

/* Writes the path of the file. Returns false if it is too long, or if the package has no powercap zone. */
bool wtl_knob_place_path(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, char *path, size_t size);

/*
 * Can a knob have found this value there? Valid are a clock in the hardware's range (cpuinfo_min_freq,
 * cpuinfo_max_freq) and a preference that the driver lists. A power limit is valid if it is at most the constraint's
 * maximum and at most twice the present limit, because a knob lowers a limit to half of it at most. `why` has the
 * reason otherwise.
 */
bool wtl_knob_place_takes(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *value, char *why,
                          size_t size);

#endif
