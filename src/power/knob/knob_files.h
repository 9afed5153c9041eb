/* knob_files.h - the files that knobs write: their names, their paths, and their valid values. */
#ifndef WTL_POWER_KNOB_FILES_H
#define WTL_POWER_KNOB_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "power/sys.h"

/*
 * Power limits belong to the zone of a package, the uncore's to a folder of intel_uncore_frequency, all others to a
 * CPU.
 */
typedef enum wtl_knob_attribute {
  WTL_KNOB_SETSPEED,    /* scaling_setspeed */
  WTL_KNOB_CEILING,     /* scaling_max_freq */
  WTL_KNOB_FLOOR,       /* scaling_min_freq */
  WTL_KNOB_PREFERENCE,  /* energy_performance_preference */
  WTL_KNOB_LIMIT,       /* constraint_0_power_limit_uw */
  WTL_KNOB_SHORT_LIMIT, /* constraint_1_power_limit_uw: over a shorter time */
  WTL_KNOB_ENFORCED,    /* enabled: whether the package's limits are enforced */
  WTL_KNOB_UNCORE,      /* max_freq_khz of the uncore */
  WTL_KNOB_ATTRIBUTES
} wtl_knob_attribute;

/*
 * A file: its attribute, and the number of its CPU or package. The uncore's folder uncoreNN has number NN, and folder
 * package_PP_die_DD has number WTL_UNCORE_DIE(PP, DD).
 */
typedef struct wtl_knob_place {
  wtl_knob_attribute attribute;
  int of;
} wtl_knob_place;

enum { WTL_UNCORE_CLUSTERS = 512, WTL_UNCORE_PACKAGES = 32, WTL_UNCORE_DIES = 16 };
#define WTL_UNCORE_DIE(package, die) (WTL_UNCORE_CLUSTERS + (package)*WTL_UNCORE_DIES + (die))

/* The name of an attribute, which differs for each of them. Power limits have two constraints with other names. */
const char *wtl_knob_attribute_name(wtl_knob_attribute a);
bool wtl_knob_attribute_is_limit(wtl_knob_attribute a);

/* Writes the path of the file. Returns false if it is too long, or if the package has no powercap zone. */
bool wtl_knob_place_path(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, char *path, size_t size);

/* Returns a whole number from the file `name` beside that of the place, of a limit `constraint_N_name`; NaN if there is
 * none. */
double wtl_knob_place_number(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *name);

/*
 * Can a knob have found this value there? A clock is 10 MHz to 20 GHz. A preference is one that the kernel or the
 * driver names. A power limit is not below the present one, because a knob only lowers it. `why` has the reason
 * otherwise.
 */
bool wtl_knob_place_takes(const wtl_sys *sys, const char *sysfs, wtl_knob_place p, const char *value, char *why,
                          size_t size);

#endif
