/*
 * wattle.h - joules for any C or C++ program.
 *
 *   wattle_energy_t *e = wattle_energy_open(NULL);
 *   wattle_region_begin(e, "solve");
 *   ...
 *   wattle_region_end(e, "solve");
 *   wattle_energy_print(e, stdout);
 *   wattle_energy_close(e);
 *
 * Every figure carries its provenance: measured, modelled or unavailable. A sensor that cannot be read gives a figure
 * that is unavailable (joules are NaN), never zero. Link with -lwattle; needs neither MPI nor a launcher.
 *
 * Scope. A sensor sees the whole package or node: processes of one node that each read it read the same joules, so
 * never add such figures over processes. Figures of scope process are this process's own and may be added.
 *
 * Short regions. Sensors update about once a millisecond: one call of less than about 10 ms says little, and its
 * uncertainty says so. GPUs update ten times a second: there it is half a second. Many calls of one region add up;
 * their random part grows with the root of their number only.
 *
 * Threads: one handle may be used from any thread, one call at a time. Handles are independent of each other. A handle
 * does not survive fork(): the child opens its own.
 *
 * Errors: functions that return int return WATTLE_OK (0), or a count, or a negative wattle_error_t; the text of the
 * last failure in this thread is wattle_last_error(). The environment settings WATTLE_METER, WATTLE_MACHINE and
 * WATTLE_SYSFS apply.
 */
#ifndef WATTLE_H
#define WATTLE_H

#include <stddef.h>
#include <stdio.h>

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
  WATTLE_SCOPE_CORE = 1,    /**< the cores (or the rest) of one package: a part of it */
  WATTLE_SCOPE_PACKAGE = 2, /**< one CPU package (or die), cores and uncore */
  WATTLE_SCOPE_DRAM = 3,    /**< memory attached to one package */
  WATTLE_SCOPE_NODE = 4,    /**< the whole node */
  WATTLE_SCOPE_DEVICE = 5   /**< an accelerator or network card */
} wattle_scope_t;

/** One figure: joules over an interval, and how far to trust it. */
typedef struct wattle_joules {
  char domain[32];                /**< "package-0", "dram-0", "cpu", "dram" ... unique within a handle */
  char source[96];                /**< "powercap intel-rapl:0", "model sandybridge-e5-2670" ... */
  wattle_provenance_t provenance; /**< measured, modelled or unavailable */
  wattle_scope_t scope;           /**< what the joules cover */
  double joules;      /**< J; NaN where unavailable; where covered_s < interval_s the least that can be shown */
  double uncertainty; /**< J, half-width of the range that should hold the truth (about 95 %); NaN where unavailable */
  double interval_s;  /**< s, from begin to end */
  double covered_s;   /**< s of the interval the source could be read; less than interval_s means a gap */
  int nested;         /**< 1: another figure of the same set already contains these joules; leave it out of sums */
} wattle_joules_t;

/** What a call that returns int may report. */
typedef enum wattle_error {
  WATTLE_OK = 0,
  WATTLE_E_ARGUMENT = -1, /**< NULL or out-of-range argument, or a meter name that does not exist */
  WATTLE_E_SETTING = -2,  /**< an environment setting or a machine profile is wrong */
  WATTLE_E_MEMORY = -3,   /**< out of memory */
  WATTLE_E_REGION = -4,   /**< no region of that name, or it is not open */
  WATTLE_E_OPEN = -5      /**< the region is open: its result is not known yet */
} wattle_error_t;

/** A meter, opened by this process. */
typedef struct wattle_energy wattle_energy_t;

/** What became of a region so far. Only closed intervals count. */
typedef struct wattle_region {
  char name[64]; /**< as given to wattle_region_begin */
  unsigned long long
      calls;      /**< intervals closed; a region opened inside itself counts once, as its outermost interval */
  double seconds; /**< s, sum of those intervals */
  int open;       /**< how often it is begun and not yet ended */
} wattle_region_t;

/**
 * Opens a meter and starts counting.
 *
 * @param meter  "auto" or NULL: what WATTLE_METER says, by default a sensor where one can be read, otherwise the
 *               model;
 *               "powercap": the Linux powercap sensors, and no substitute: what cannot be read is unavailable;
 *               "perf", "cray", "hwmon": perf's PMU `power`, HPE Cray's pm_counters, Linux hwmon, and no substitute either;
 *               "nvml": NVIDIA GPUs, and nothing else of the node;
 *               "model": the machine profile (WATTLE_MACHINE), from this process's CPU time and bytes;
 *               "none": every figure is unavailable, at no cost.
 * @return the handle, owned by the caller until wattle_energy_close; NULL on a wrong name, setting or profile, or
 *         without memory: wattle_last_error() says which. A missing sensor is no error: see wattle_energy_why.
 */
wattle_energy_t *wattle_energy_open(const char *meter);

/** Stops counting and frees the handle, its regions included. NULL is allowed. */
void wattle_energy_close(wattle_energy_t *e);

/**
 * Name of the meter in use: "powercap", "perf", "cray", "hwmon", "nvml", "model" or "none". Owned by the library;
 * valid as long as the handle.
 */
const char *wattle_energy_meter(const wattle_energy_t *e);

/** Why no better meter is in use, how access is granted safely; "" if none is better. Valid as long as the handle. */
const char *wattle_energy_why(const wattle_energy_t *e);

/**
 * Number of domains, the same for every read of this handle. The model has "cpu" and "dram" (this process's joules
 * beyond idle, scope process), "cpu-idle" and "dram-idle" (what the node draws anyway, scope node); sensors have what
 * the machine offers ("package-0", "dram-0", and nested "core-0", "psys").
 */
size_t wattle_energy_domains(const wattle_energy_t *e);

/**
 * Joules by domain since the handle was opened.
 *
 * @param out  receives up to `max` figures; owned by the caller.
 * @return the number of domains, which may exceed `max`; or a negative wattle_error_t. Costs some microseconds a
 * sensor, some milliseconds a GPU; the process's time in state is taken from its CPU clock, or from the runtime if one
 * is loaded.
 */
int wattle_energy_read(wattle_energy_t *e, wattle_joules_t *out, size_t max);

/**
 * Tells the model about bytes the program itself moved through memory (a memcpy of n bytes: n). The runtime's own
 * transfers are counted already. Sensors need no such hint and ignore it. Negative, infinite or NaN: WATTLE_E_ARGUMENT.
 */
int wattle_energy_add_bytes(wattle_energy_t *e, double bytes);

/**
 * Begins a region. Regions nest and overlap as they like, each may be begun any number of times, and what an inner
 * region costs is part of the outer one too. A region begun inside itself is counted from its outermost begin to its
 * outermost end.
 *
 * @param name  1 to 63 characters; copied.
 * @return WATTLE_OK, WATTLE_E_ARGUMENT or WATTLE_E_MEMORY.
 */
int wattle_region_begin(wattle_energy_t *e, const char *name);

/** Ends what wattle_region_begin began. WATTLE_E_REGION if it is not open. */
int wattle_region_end(wattle_energy_t *e, const char *name);

/** Number of regions ever begun with this handle. */
size_t wattle_region_count(const wattle_energy_t *e);

/** Region number i, in the order of their first begin. WATTLE_E_ARGUMENT if i is not below wattle_region_count. */
int wattle_region_get(const wattle_energy_t *e, size_t i, wattle_region_t *out);

/**
 * Joules by domain of all closed intervals of a region.
 *
 * @param out  receives up to `max` figures; owned by the caller. interval_s is the sum of the intervals.
 * @return the number of domains, which may exceed `max`; WATTLE_E_REGION if there is no such region, WATTLE_E_OPEN
 *         if it was never ended.
 */
int wattle_region_joules(const wattle_energy_t *e, const char *name, wattle_joules_t *out, size_t max);

/**
 * Adds figures of one handle up, nested ones left out. Uncertainties add up linearly, because figures of one source err
 * together. Provenance is the weakest of the parts; if a part is unavailable the sum is.
 */
int wattle_joules_sum(const wattle_joules_t *figures, size_t n, wattle_joules_t *sum);

/**
 * Writes a figure as one line, "cpu 12.3 J +- 1.8 J (modelled: model sandybridge-e5-2670; process; 1.02 s)", without
 * newline.
 * @return what snprintf would, or WATTLE_E_ARGUMENT.
 */
int wattle_joules_text(const wattle_joules_t *figure, char *buf, size_t size);

/** Prints the meter, the figures since open and all regions, for people. WATTLE_OK or WATTLE_E_ARGUMENT. */
int wattle_energy_print(wattle_energy_t *e, FILE *out);

/** "measured", "modelled", "unavailable"; "unknown" for any other value. Static storage. */
const char *wattle_provenance_name(wattle_provenance_t provenance);

/** "process", "core", "package", "dram", "node", "device"; "unknown" for any other value. Static storage. */
const char *wattle_scope_name(wattle_scope_t scope);

/** What a wattle_error_t means. Static storage. */
const char *wattle_strerror(int error);

/** What went wrong in this thread's last failed call; "" if none has. Valid until this thread's next failed call. */
const char *wattle_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
