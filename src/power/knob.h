/*
 * knob.h - hertz out: the clocks that this process may set.
 *
 * A knob has clock domains, the hardware threads that can only change together, each with a range of clocks. One
 * process of a node claims a domain: it locks the files for the job (another job's claim fails with EBUSY), keeps what
 * they hold, and starts a guard, a small process of its own that puts it back once all PEs are gone, however they went.
 * Any process of the job may then set the clock.
 *
 * Invariants. Clocks are in kHz and lie within what the domain's files allowed when it was claimed: a knob never
 * exceeds a limit it found. A failed set leaves the domain lost: it is not touched again, but what was found is put
 * back. Nothing here ends the program or speaks; errors are errno values, and the reason is text for the caller to say.
 *
 * Kinds: cpufreq (sysfs), powercap (a limit on watts in the clock's place), record (notes what it would do), none.
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

/* What a knob needs of the operating system beyond reading, so that tests can plant faults. Functions return 0 (open: a
 * descriptor) or a negative errno. */
typedef struct wtl_knob_sys {
  void *arg;
  const wtl_sys *sys;
  int (*open)(void *arg, const char *path);
  int (*write)(void *arg, int fd, const char *text);
  int (*lock)(void *arg, int fd); /* for this open file, at once or not at all */
} wtl_knob_sys;

extern const wtl_knob_sys wtl_knob_sys_real;

typedef struct wtl_clock_domain {
  cpu_set_t cpus;
  uint32_t min_khz, base_khz,
      max_khz;        /* base: what the maker states, or the highest that is no turbo; min <= base <= max */
  uint32_t found_khz; /* the clock it was limited to, or set to, when the knob was opened */
  double latency_s;   /* of a change, as the driver states it; NaN if it does not */
  double write_s;     /* that a change keeps its caller, where the knob knows it (simulation); NaN: to be measured */
  uint32_t step[64];  /* the clocks there are, rising; n_steps 0: any in the range */
  size_t n_steps;
  bool hint; /* setting it only suggests one, or limits watts: nobody knows the clock that comes of it */
} wtl_clock_domain;

/* One change, as the knob record notes it. */
typedef struct wtl_clock_change {
  uint64_t tick;
  uint32_t domain, khz;
} wtl_clock_change;

typedef struct wtl_knob wtl_knob;

/*
 * Opens the knob that the settings ask for, for the domains of `cpus`. Changes nothing yet. `machine` (may be NULL)
 * tells the knob record about clocks where sysfs has none. Never fails for lack of a knob: it is then `none`, and
 * wtl_knob_why says why. NULL without memory.
 */
wtl_knob *wtl_knob_open(const wtl_settings *settings, const cpu_set_t *cpus, const wtl_machine *machine);
wtl_knob *wtl_knob_open_with(const wtl_settings *settings, const cpu_set_t *cpus, const wtl_machine *machine,
                             const wtl_knob_sys *os);

/* Closes its files. Puts nothing back: wtl_knob_restore and the guard do. */
void wtl_knob_close(wtl_knob *k);

const char *wtl_knob_name(const wtl_knob *k); /* "cpufreq", "powercap", "record", "simgrid", "none" */
const char *
wtl_knob_why(const wtl_knob *k);       /* why it is none, or why a domain could not be had; "" if nothing is amiss */
bool wtl_knob_acts(const wtl_knob *k); /* it changes the machine: not record, not none */

/* The domains, in the same order in every process that asks for the same CPUs. */
size_t wtl_knob_domains(const wtl_knob *k);
const wtl_clock_domain *wtl_knob_domain(const wtl_knob *k, size_t d);

/* Locks a domain's files and keeps what they hold. 0, or an errno: EBUSY (another job has it), EACCES, ... */
int wtl_knob_claim(wtl_knob *k, size_t d);

/*
 * Starts the guard over all that is claimed: once every process of `pids` has ended, it puts back what was found. Keeps
 * that in a file, too, for the node's next job, should the guard be killed with them (knob_saved.h). 0 or an errno;
 * without a guard nothing must be set. Needs nothing and does nothing where the knob does not act.
 */
int wtl_knob_guard(wtl_knob *k, const pid_t *pids, size_t n);

/* Puts back what was found in every claimed domain, and lets the guard go. */
void wtl_knob_restore(wtl_knob *k);

/* Sets a domain's clock; found_khz puts back exactly what was found. 0 or an errno. Not from two threads at once. */
int wtl_knob_set(wtl_knob *k, size_t d, uint32_t khz);

/* The lowest clock there is that is at least `khz`. */
uint32_t wtl_clock_at_least(const wtl_clock_domain *d, double khz);

/* What the knob record noted: the last of the changes, oldest first, and how many there were in all. */
enum { WTL_KNOB_NOTES = 256 };
size_t wtl_knob_notes(const wtl_knob *k, wtl_clock_change out[WTL_KNOB_NOTES], uint64_t *all);

#endif
