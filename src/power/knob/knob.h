/*
 * knob.h - knobs: interfaces by which this process may set clocks and power limits.
 *
 * DESIGN. A knob has clock domains, each with a range of clocks. One process of a node claims a domain. It locks the
 * domain's files for the job (the claim of another job fails with EBUSY), keeps their values, and starts a guard. The
 * guard is a small process that restores these values when all PEs have ended, also if they were killed. Once the guard
 * runs, any process of the job may set the clock.
 *
 * A knob is for the clocks of cores, for the clock of a package's uncore, or for a package's power limit. A domain of
 * the last two is a package.
 *
 * Clocks are in kHz and within the limits that the files had at the claim, so a knob never exceeds a limit that it
 * found. A set that fails marks the domain as lost: it is not set again, but its values are restored. No function here
 * ends the program or prints. Errors are errno values, and wtl_knob_why has the reason as text.
 *
 * Kinds for cores: cpufreq (sysfs), powercap (a power limit in place of a clock), record (counts changes only), simgrid
 * (simulation), none. Kinds for packages: uncore; limit, whose "clocks" are limits in mW.
 */
#ifndef WTL_POWER_KNOB_H
#define WTL_POWER_KNOB_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/settings.h"
#include "power/power.h"
#include "power/sys.h"

/*
 * The operating system as a knob uses it beyond reading files. Tests replace it to inject faults. Functions return 0
 * (open: a descriptor) or a negative errno.
 */
typedef struct wtl_knob_sys {
  void *arg;
  const wtl_sys *sys;
  int (*open)(void *arg, const char *path);
  int (*write)(void *arg, int fd, const char *text);
  int (*lock)(void *arg, int fd); /* locks this open file without waiting */
} wtl_knob_sys;

extern const wtl_knob_sys wtl_knob_sys_real;

typedef struct wtl_clock_domain {
  cpu_set_t cpus;
  uint32_t min_khz, base_khz,
      max_khz;        /* base: as the maker states it, or the highest that is no turbo; min <= base <= max */
  uint32_t found_khz; /* the clock that it was limited or set to when the knob was opened */
  double latency_s;   /* time of a change as the driver states it; NaN: unknown */
  double write_s;     /* time that a change blocks its caller, if the knob knows it (simulation); NaN: to be measured */
  uint32_t step[64];  /* the possible clocks in rising order; n_steps 0: any in the range */
  size_t n_steps;
  bool hint; /* setting it only suggests a clock or limits watts; the resulting clock is unknown */
} wtl_clock_domain;

/* One change of a clock. */
typedef struct wtl_clock_change {
  uint64_t tick;
  uint32_t domain, khz;
} wtl_clock_change;

typedef struct wtl_knob wtl_knob;

/*
 * Opens the knob that the settings ask for, for the domains of `cpus`. Changes nothing. `machine` (may be NULL) gives
 * the knob `record` clocks if sysfs has none. If no knob can be opened, the result is the knob `none`, and wtl_knob_why
 * has the reason. Returns NULL without memory.
 */
wtl_knob *wtl_knob_open(const wtl_settings *settings, const cpu_set_t *cpus, const wtl_machine *machine);
wtl_knob *wtl_knob_open_with(const wtl_settings *settings, const cpu_set_t *cpus, const wtl_machine *machine,
                             const wtl_knob_sys *os);

/*
 * Does the same for the packages of `cpus` and what the knob sets there, which depends on no setting. Where only some
 * packages have it, there is no knob.
 */
enum wtl_package_knob { WTL_PACKAGE_UNCORE, WTL_PACKAGE_LIMIT };
wtl_knob *wtl_knob_open_package(const wtl_settings *settings, enum wtl_package_knob what, const cpu_set_t *cpus,
                                const wtl_knob_sys *os);

/* Closes the files and restores nothing. wtl_knob_restore and the guard restore. */
void wtl_knob_close(wtl_knob *k);

const char *
wtl_knob_name(const wtl_knob *k);            /* "cpufreq", "powercap", "record", "simgrid", "uncore", "limit", "none" */
const char *wtl_knob_why(const wtl_knob *k); /* why it is `none`, or why a claim failed; "" without an error */
bool wtl_knob_is_none(const wtl_knob *k);    /* no knob could be opened */
bool wtl_knob_is_uncore(const wtl_knob *k);
bool wtl_knob_acts(const wtl_knob *k); /* false for `record` and `none`, which do not change the machine */

/* The domains. Their order is the same in every process that asks for the same CPUs. */
size_t wtl_knob_domains(const wtl_knob *k);
const wtl_clock_domain *wtl_knob_domain(const wtl_knob *k, size_t d);

/* Locks the files of a domain and keeps their values. Returns 0 or an errno: EBUSY (another job has it), EACCES, ... */
int wtl_knob_claim(wtl_knob *k, size_t d);

/*
 * Starts the guard for all claimed domains. It restores their values when all processes of `pids` have ended. Also
 * keeps the values in a file for the node's next job, in case that the guard is killed, too (knob_saved.h). Returns 0
 * or an errno. No clock may be set without a guard. Does nothing if the knob does not act.
 */
int wtl_knob_guard(wtl_knob *k, const pid_t *pids, size_t n);

/* Restores all claimed domains and ends the guard. */
void wtl_knob_restore(wtl_knob *k);

/*
 * Sets a domain's clock. found_khz restores exactly the values that were found. Returns 0 or an errno. Not from two
 * threads at once.
 */
int wtl_knob_set(wtl_knob *k, size_t d, uint32_t khz);

/* Returns the lowest possible clock that is at least `khz`, or the highest one. */
uint32_t wtl_knob_clock_at_least(const wtl_clock_domain *d, double khz);

/* Copies the last changes, oldest first, and sets *all to the number of all changes. */
enum { WTL_KNOB_NOTES = 256 };
size_t wtl_knob_notes(const wtl_knob *k, wtl_clock_change out[WTL_KNOB_NOTES], uint64_t *all);

#endif
