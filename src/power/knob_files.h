/*
 * knob_files.h - the files that knobs write: what they are called, where they are, and which values they take.
 */
#ifndef WTL_POWER_KNOB_FILES_H
#define WTL_POWER_KNOB_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "power/sys.h"

/* Limits on watts belong to a package, all others to a CPU. */
typedef enum wtl_knob_attribute {
  WTL_KNOB_SETSPEED,    /* scaling_setspeed */
  WTL_KNOB_CEILING,     /* scaling_max_freq */
  WTL_KNOB_FLOOR,       /* scaling_min_freq */
  WTL_KNOB_PREFERENCE,  /* energy_performance_preference */
  WTL_KNOB_LIMIT,       /* constraint_0_power_limit_uw */
  WTL_KNOB_SHORT_LIMIT, /* constraint_1_power_limit_uw: over a shorter time */
  WTL_KNOB_ATTRIBUTES
} wtl_knob_attribute;

/* A file: which one, and of which CPU or package. */
typedef struct wtl_knob_place {
  wtl_knob_attribute attribute;
  int of;
} wtl_knob_place;

const char *wtl_knob_attribute_name(wtl_knob_attribute a);
bool wtl_knob_attribute_is_limit(wtl_knob_attribute a);

/* The file's path. False where it is too long, or where no powercap zone is that package's. */
bool wtl_knob_place_path(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, char *path, size_t size);

/*
 * Whether a knob can have found this value there: a clock in the hardware's range (cpuinfo_min_freq, cpuinfo_max_freq),
 * a preference that the driver lists, a limit on watts that is at most the constraint's maximum and of which the present
 * limit is at least the half, as a knob leaves it. `why` says what is wrong with it otherwise.
 */
bool wtl_knob_place_takes(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *value, char *why,
                          size_t size);

#endif
