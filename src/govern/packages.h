/*
 * packages.h - the clock of the uncore and the power limit of packages that the user sets for a whole job.
 *
 * DESIGN. The node's first process claims the packages on which the node's PEs may run, sets the values at the start
 * and restores them at the end. It needs no governor. Guards and claims are those of all knobs (power/knob/knob.h).
 */
#ifndef WTL_GOVERN_PACKAGES_H
#define WTL_GOVERN_PACKAGES_H

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/settings.h"
#include "power/knob/knob.h"

enum wtl_uncore_use { WTL_UNCORE_OFF, WTL_UNCORE_WAIT, WTL_UNCORE_FIXED };

/* The values of WATTLE_UNCORE and WATTLE_PACKAGE_LIMIT. */
typedef struct wtl_packages_asked {
  enum wtl_uncore_use uncore;
  double uncore_ghz;      /* of WTL_UNCORE_FIXED */
  double package_limit_w; /* 0: none */
} wtl_packages_asked;

/* A knob for packages and what it has set there. */
typedef struct wtl_package_value {
  wtl_knob *knob;    /* NULL: not asked for */
  double asked, set; /* GHz or watts; `set` is the highest of all packages, 0: none was set */
  size_t packages;   /* on which it was set */
  char why[512];     /* why it could not be set everywhere; "" if it was */
} wtl_package_value;

typedef struct wtl_packages {
  wtl_package_value uncore, package;
} wtl_packages;

/* Reads both settings. Returns 0, or an exit code with the reason in `error`. */
int wtl_packages_read(const wtl_settings *settings, wtl_packages_asked *asked, char *error, size_t size);

/* True if the settings ask for values of packages, or if one of them is wrong. */
bool wtl_packages_wanted(const wtl_settings *settings);

/*
 * Sets the values for the packages of `cpus`, and reports what cannot be set. `pids`: the `n` processes of the node, at
 * whose end the guard restores. Called by one process of a node.
 */
void wtl_packages_start(wtl_packages *l, const wtl_settings *settings, const cpu_set_t *cpus, const pid_t *pids,
                        size_t n);

/* Restores what was found. */
void wtl_packages_stop(wtl_packages *l);

/* Writes the profile's fields about them, each with a comma before it; nothing if none was asked for. */
void wtl_packages_write(FILE *f, const wtl_packages *l);

#endif
