/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file wattle.h
 * Joules for any C or C++ program, on any processor with a sensor or a machine profile.
 *
 * @code
 *   wattle_energy_t *e = wattle_energy_open(NULL);
 *   if (!e) fprintf(stderr, "%s\n", wattle_last_error());
 *   wattle_region_begin(e, "solve");
 *   ...
 *   wattle_region_end(e, "solve");
 *   wattle_energy_print(e, stdout);
 *   wattle_energy_close(e);
 * @endcode
 *
 * Every figure has a provenance: measured, modelled or unavailable. A sensor that cannot be read gives a figure that is
 * unavailable, with NaN joules and never 0. Link with -lwattle. MPI and a launcher are not necessary.
 *
 * Scope. A sensor covers a whole package or node. All processes of a node that read it get the same joules, so such
 * figures must not be added over processes. Figures of scope process belong to this process and may be added.
 *
 * Short regions. Sensors update about once a millisecond. A single interval of less than about 10 ms has a large
 * uncertainty, which its figure states. Many intervals of one region add up; the random part of their uncertainty
 * grows only with the root of their number.
 *
 * Threads. Any thread may use a handle, but only one thread at a time. Different handles are independent. A handle is
 * not valid in a child process after fork(); the child opens its own.
 *
 * Handlers. A handler of an active message (shmemx.h) may call the functions that only compute or return texts:
 * wattle_joules_sum, wattle_joules_text, the two wattle_*_name, wattle_strerror and wattle_last_error. It must not call
 * the others, because a handle serves one thread at a time and a handler runs in any thread.
 *
 * Errors. A function that returns int returns WATTLE_OK (0) or a count on success, and a negative wattle_error_t on
 * failure. wattle_last_error() then has the text. No function ends the program.
 *
 * Settings. The environment variables WATTLE_METER, WATTLE_MACHINE and WATTLE_SYSFS apply.
 *
 * All functions exist since version 0.1.0.
 */
#ifndef WATTLE_H
#define WATTLE_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The origin of a figure. */
typedef enum wattle_provenance {
  WATTLE_UNAVAILABLE = 0, /**< unknown: the sensor is missing, unreadable or had a gap */
  WATTLE_MODELLED = 1,    /**< computed from time in each state and bytes moved, by a machine profile */
  WATTLE_MEASURED = 2     /**< read from a sensor */
} wattle_provenance_t;

/** The hardware or process that a figure covers. */
typedef enum wattle_scope {
  WATTLE_SCOPE_PROCESS = 0, /**< the share of this process */
  WATTLE_SCOPE_CORE = 1,    /**< a part of one package: its cores, or the rest of it */
  WATTLE_SCOPE_PACKAGE = 2, /**< one CPU package or die, with cores and uncore */
  WATTLE_SCOPE_DRAM = 3,    /**< the memory of one package */
  WATTLE_SCOPE_NODE = 4,    /**< the whole node */
  WATTLE_SCOPE_DEVICE = 5   /**< an accelerator or a network card */
} wattle_scope_t;

/** One figure: the joules of an interval, with their provenance and uncertainty. */
typedef struct wattle_joules {
  char domain[32];                /**< "package-0", "dram-0", "cpu", "dram", ...; unique within a handle */
  char source[96];                /**< "powercap intel-rapl:0", "model sandybridge-e5-2670", ... */
  wattle_provenance_t provenance; /**< measured, modelled or unavailable */
  wattle_scope_t scope;           /**< what the joules cover */
  double joules;                  /**< J; NaN if unavailable; a lower bound if covered_s < interval_s */
  double
      uncertainty;   /**< J, half-width of the range that should hold the true value (about 95 %); NaN if unavailable */
  double interval_s; /**< s, from begin to end */
  double covered_s;  /**< s of the interval in which the source could be read; less than interval_s after a gap */
  int nested;        /**< 1: another figure of the same set contains these joules, so sums leave them out */
} wattle_joules_t;

/** Results of the functions that return int. */
typedef enum wattle_error {
  WATTLE_OK = 0,          /**< success */
  WATTLE_E_ARGUMENT = -1, /**< an argument is NULL or out of range, or no meter has that name */
  WATTLE_E_SETTING = -2,  /**< an environment setting or a machine profile is wrong */
  WATTLE_E_MEMORY = -3,   /**< out of memory */
  WATTLE_E_REGION = -4,   /**< no region has that name, or it is not open */
  WATTLE_E_OPEN = -5      /**< the region was never ended, so it has no result yet */
} wattle_error_t;

/** A meter that this process has opened. */
typedef struct wattle_energy wattle_energy_t;

/** The closed intervals of a region so far. */
typedef struct wattle_region {
  char name[64]; /**< as given to wattle_region_begin */
  unsigned long long
      calls;      /**< closed intervals; a region begun inside itself counts once, as its outermost interval */
  double seconds; /**< s, sum of these intervals */
  int open;       /**< number of begins without an end yet */
} wattle_region_t;

/**
 * Opens a meter and starts to count. A missing sensor is no error; wattle_energy_why then has the reason.
 *
 * Names of meters:
 * - "auto" or NULL: the meter that WATTLE_METER names; by default the best sensor of the processors, else the model,
 *   and beside it the sensors of all GPUs and of the whole node
 * - "powercap": the Linux powercap sensors
 * - "perf", "cray", "hwmon": perf's PMU `power`, HPE Cray's pm_counters, Linux hwmon
 * - "nvml": NVIDIA GPUs, and no other part of the node
 * - "model": the machine profile (WATTLE_MACHINE), from the CPU time and bytes of this process
 * - "none": all figures are unavailable, at no cost
 *
 * If a named sensor cannot be read, its figures are unavailable. No other meter replaces it.
 *
 * @param[in] meter  name of the meter, or NULL
 * @return the handle, which the caller owns until wattle_energy_close; NULL for a wrong name, setting or profile, or
 *         without memory
 */
wattle_energy_t *wattle_energy_open(const char *meter);

/**
 * Stops counting and frees the handle with its regions.
 *
 * @param[in] e  the handle; NULL is allowed and has no effect
 */
void wattle_energy_close(wattle_energy_t *e);

/**
 * Returns the name of the meter in use.
 *
 * @param[in] e  the handle
 * @return "powercap", "perf", "cray", "hwmon", "redfish", "nvml", "model", "simgrid", "none", or several
 *         joined by "+"; "" if e is NULL. The library owns the text, which is valid as long as the handle.
 */
const char *wattle_energy_meter(const wattle_energy_t *e);

/**
 * Explains why no better meter is in use and how to get access to it safely, and counts the readings of sensors that
 * were left out because they cannot be true.
 *
 * @param[in] e  the handle
 * @return the reason; "" if there is nothing to say, or if e is NULL. The library owns the text, which is valid until
 *         the next call with this handle.
 */
const char *wattle_energy_why(const wattle_energy_t *e);

/**
 * Returns the number of domains, which is the same for every read of this handle.
 *
 * The model has "cpu" and "dram" (joules of this process beyond idle, scope process), and "cpu-idle" and "dram-idle"
 * (idle power of the node, scope node). Sensors have the domains of the machine, such as "package-0", "dram-0",
 * "gpu-0", and nested "core-0", "psys" and "node".
 *
 * @param[in] e  the handle
 * @return number of domains, at most 64; 0 if e is NULL
 */
size_t wattle_energy_domains(const wattle_energy_t *e);

/**
 * Reads the joules by domain since the handle was opened. It takes some microseconds for each sensor. The time of the
 * process in each state comes from its CPU clock, or from a Wattle runtime in the same process.
 *
 * @param[in]  e    the handle
 * @param[out] out  array of the caller for up to `max` figures
 * @param[in]  max  elements of `out`, from 0; `out` may be NULL if it is 0
 * @return the number of domains. It may exceed `max`. WATTLE_E_ARGUMENT on failure.
 */
int wattle_energy_read(wattle_energy_t *e, wattle_joules_t *out, size_t max);

/**
 * Adds bytes that the program itself moved through memory to the activity that the model evaluates. Transfers of a
 * Wattle runtime are counted already. Sensors ignore the value.
 *
 * @param[in] e      the handle
 * @param[in] bytes  bytes, finite and not negative; n for a memcpy of n bytes
 * @return WATTLE_OK or WATTLE_E_ARGUMENT
 */
int wattle_energy_add_bytes(wattle_energy_t *e, double bytes);

/**
 * Begins a region. Regions may nest and overlap, and each may be begun any number of times. The joules of an inner
 * region are part of the outer one, too. A region that is begun inside itself counts from its outermost begin to its
 * outermost end.
 *
 * @param[in] e     the handle
 * @param[in] name  name of the region, 1 to 63 characters; the library keeps a copy
 * @return WATTLE_OK, WATTLE_E_ARGUMENT or WATTLE_E_MEMORY
 */
int wattle_region_begin(wattle_energy_t *e, const char *name);

/**
 * Ends the innermost open begin of a region.
 *
 * @param[in] e     the handle
 * @param[in] name  name of the region, as given to wattle_region_begin
 * @return WATTLE_OK, WATTLE_E_ARGUMENT, or WATTLE_E_REGION if the region is not open
 */
int wattle_region_end(wattle_energy_t *e, const char *name);

/**
 * Returns the number of regions that were ever begun with this handle.
 *
 * @param[in] e  the handle
 * @return number of regions; 0 if e is NULL
 */
size_t wattle_region_count(const wattle_energy_t *e);

/**
 * Gets the state of one region, in the order in which the regions were first begun.
 *
 * @param[in]  e    the handle
 * @param[in]  i    number of the region, 0 to wattle_region_count - 1
 * @param[out] out  receives the region; the caller owns it
 * @return WATTLE_OK or WATTLE_E_ARGUMENT
 */
int wattle_region_get(const wattle_energy_t *e, size_t i, wattle_region_t *out);

/**
 * Gets the joules by domain of all closed intervals of a region.
 *
 * @param[in]  e     the handle
 * @param[in]  name  name of the region
 * @param[out] out   receives up to `max` figures, whose interval_s is the sum of the intervals; owned by the caller
 * @param[in]  max   number of elements of `out`, from 0; `out` may be NULL if it is 0
 * @return the number of domains, which may exceed `max`; WATTLE_E_ARGUMENT; WATTLE_E_REGION if there is no such
 *         region; WATTLE_E_OPEN if it was never ended
 */
int wattle_region_joules(const wattle_energy_t *e, const char *name, wattle_joules_t *out, size_t max);

/**
 * Adds the figures of one handle and leaves out nested ones. Uncertainties add linearly, because the figures of one
 * source have correlated errors. The provenance is the weakest of the parts; if one part is unavailable, so is the sum.
 *
 * @param[in]  figures  the figures; may be NULL if n is 0
 * @param[in]  n        number of figures, from 0; without figures the sum is unavailable
 * @param[out] sum      receives the sum; the caller owns it
 * @return WATTLE_OK or WATTLE_E_ARGUMENT
 */
int wattle_joules_sum(const wattle_joules_t *figures, size_t n, wattle_joules_t *sum);

/**
 * Writes a figure as one line without newline, such as
 * "cpu 12.3 J +- 1.8 J (modelled: model sandybridge-e5-2670; process; 1.02 s)".
 *
 * @param[in]  figure  the figure
 * @param[out] buf     receives the text, ended by NUL, at most `size` bytes; may be NULL if size is 0
 * @param[in]  size    bytes of `buf`, from 0
 * @return the length of the whole text, as snprintf returns it, or WATTLE_E_ARGUMENT
 */
int wattle_joules_text(const wattle_joules_t *figure, char *buf, size_t size);

/**
 * Prints the meter, the figures since open, and all regions in a form for people.
 *
 * @param[in] e    the handle
 * @param[in] out  the stream to print to
 * @return WATTLE_OK or WATTLE_E_ARGUMENT
 */
int wattle_energy_print(wattle_energy_t *e, FILE *out);

/**
 * Returns the name of a provenance.
 *
 * @param[in] provenance  any value
 * @return "measured", "modelled" or "unavailable"; "unknown" for any other value. Static storage.
 */
const char *wattle_provenance_name(wattle_provenance_t provenance);

/**
 * Returns the name of a scope.
 *
 * @param[in] scope  any value
 * @return "process", "core", "package", "dram", "node" or "device"; "unknown" for any other value. Static storage.
 */
const char *wattle_scope_name(wattle_scope_t scope);

/**
 * Explains a result in general words. wattle_last_error explains the case at hand.
 *
 * @param[in] error  a result of a function of this header
 * @return the text. Static storage.
 */
const char *wattle_strerror(int error);

/**
 * Explains the last failure in this thread.
 *
 * @return the text; "" if no call has failed. The library owns it; it is valid until the next failure in this thread.
 */
const char *wattle_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
