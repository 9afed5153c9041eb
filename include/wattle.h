/*
 * wattle.h - joules for any C or C++ program.
 *
 *   wattle_energy_t *e = wattle_energy_open(NULL);
 *   wattle_region_begin(e, "solve");
 *   ...
 *   wattle_region_end(e, "solve");
 *   wattle_energy_close(e);
 *
 * Every figure carries its provenance: measured, modelled or unavailable. A sensor that cannot be read gives a figure that is
 * unavailable (joules are NaN), never zero. Link with -lwattle; needs neither MPI nor a launcher.
 *
 * Threads: one handle may be used from any thread, one call at a time. Handles are independent of each other.
 */
#ifndef WATTLE_H
#define WATTLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where a figure comes from. */
typedef enum wattle_provenance {
  WATTLE_UNAVAILABLE = 0, /**< nobody knows: the sensor is missing, unreadable or has a gap */
  WATTLE_MODELLED = 1,    /**< computed from time in each state and bytes moved, by a machine profile */
  WATTLE_MEASURED = 2     /**< read from a sensor */
} wattle_provenance_t;

/** What a figure covers. */
typedef enum wattle_scope {
  WATTLE_SCOPE_PROCESS = 0, /**< this process's share */
  WATTLE_SCOPE_CORE = 1,    /**< the cores of one package */
  WATTLE_SCOPE_PACKAGE = 2, /**< one CPU package, cores and uncore */
  WATTLE_SCOPE_DRAM = 3,    /**< memory attached to one package */
  WATTLE_SCOPE_NODE = 4,    /**< the whole node */
  WATTLE_SCOPE_DEVICE = 5   /**< an accelerator or network card */
} wattle_scope_t;

/** One figure: joules over an interval, and how far to trust it. */
typedef struct wattle_joules {
  char domain[32];                /**< "package-0", "dram-0", "cpu", "dram" ... unique within a handle */
  char source[64];                /**< "powercap intel-rapl:0", "model sandybridge-e5-2670" ... */
  wattle_provenance_t provenance;
  wattle_scope_t scope;
  double joules;                  /**< J; NaN where unavailable */
  double uncertainty;             /**< J, half-width of the range that should hold the truth (about 95 %); NaN where unavailable */
  double interval_s;              /**< s, from begin to end */
  double covered_s;               /**< s of the interval the source could be read; less than interval_s means a gap */
} wattle_joules_t;

typedef struct wattle_energy wattle_energy_t;

/* (functions: see the power room) */

#ifdef __cplusplus
}
#endif

#endif
