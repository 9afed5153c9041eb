/*
 * machine.h - a machine profile in memory. Only the power room uses its members; other rooms use power.h.
 *
 * DESIGN. Every number has a unit, a half-width and a tag: `cited` (a source prints it), `derived` (computed from cited
 * numbers; `how` has the computation) or `assumed` (never published; `how` has the reason for the value).
 * wtl_machine_parse accepts nothing else. Numbers are finite and not negative, units are the expected ones, and exactly
 * one clock is the base clock.
 */
#ifndef WTL_POWER_MACHINE_H
#define WTL_POWER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "power/power.h"
#include "power/machine/power_limit.h"

enum wtl_tag { WTL_TAG_CITED, WTL_TAG_DERIVED, WTL_TAG_ASSUMED };

typedef struct wtl_number {
  double value, plus_minus; /* in `unit`; plus_minus: half-width of the range that should hold the truth */
  char *unit;               /* "W" or "J/B" */
  enum wtl_tag tag;
  char *source; /* where it is printed; NULL unless cited */
  char *how;    /* how it was found; NULL if the source suffices */
} wtl_number;

/* Watts that one core adds to those of an idle node, or of a woken one, by the state of its PE, at one clock. */
typedef struct wtl_clock {
  double ghz;
  bool base; /* the clock of a program that requests none */
  wtl_number active, spin, yield, asleep;
} wtl_clock;

/* The CPUs of a profile. Each member that is given must agree with /proc/cpuinfo. */
typedef struct wtl_match {
  char *vendor;        /* equals vendor_id, or on Arm "CPU implementer" */
  int *family, *model; /* "cpu family", "model"; on Arm "CPU architecture", "CPU part" */
  char *name;          /* part of "model name" */
} wtl_match;

/*
 * A profile of machines/ as it was when the library was built, so that its rules need no parser. The hash is that of
 * the file (base/hash.h), which a user may have changed since.
 */
typedef struct wtl_shipped_profile {
  const char *file; /* its name without the folder */
  uint64_t hash;
  const wtl_match *match;
  unsigned n_match;
} wtl_shipped_profile;

extern const wtl_shipped_profile wtl_shipped_profiles[];
extern const size_t wtl_n_shipped_profiles;

typedef struct wtl_idle {
  wtl_number cpu, dram; /* W per socket while no program runs; dram draws this also while bytes move */
} wtl_idle;

typedef struct wtl_dram {
  wtl_number per_byte; /* J per payload byte, which is read once and written once */
} wtl_dram;

struct wtl_machine {
  char *name, *title, *about;
  unsigned sockets, cores_per_socket; /* cores: 0 if unknown; sockets at least 1 */
  wtl_match *match;
  unsigned n_match;
  wtl_number *tdp;  /* W per socket; NULL if unknown */
  wtl_number *wake; /* W per socket while any core of the node is busy, beyond those of the cores; NULL: in `clocks` */
  /*
   * W that a busy thread adds on a core whose other thread is busy, at the base clock; NULL: as the first thread. Needs
   * cores_per_socket.
   */
  wtl_number *second;
  wtl_idle idle;
  wtl_dram dram;
  wtl_clock *clocks;
  unsigned n_clocks;
  /* Set by the loader, not from the file: */
  double table_tdp_w; /* of a package, by the table of CPUs; 0: not known */
  double wake_up_j;   /* at most, of one wake-up beyond its CPU time; 0: not known, and `asleep` has a usual rate */
  wtl_power_limit limit[WTL_POWER_LIMITS]; /* of each package of this machine */
  char *file;                              /* path of the file */
  char *matched; /* the CPU that it matched; NULL if it was requested by name, or if none matched */
};

/*
 * Parses the text of a profile. `file` is kept for messages. Returns NULL on failure, with file, line and key in
 * `error`.
 */
wtl_machine *wtl_machine_parse(const char *file, const char *text, size_t length, char *error, size_t size);

/* Returns whether profiles can be read from files, for which libcyaml is needed (machine_module.c). */
bool wtl_machine_has_parser(void);

/* wtl_machine_load with the given text of /proc/cpuinfo and any clock under load, for tests. */
wtl_machine *wtl_machine_load_for(const char *name, const char *cpuinfo, char *error, size_t size);

/* Is the profile for this CPU? `cpuinfo` is the text of /proc/cpuinfo, of which the first processor counts. */
bool wtl_machine_matches(const wtl_machine *m, const char *cpuinfo);

const char *wtl_tag_name(enum wtl_tag tag);

/*
 * Calls visit(arg, key, number) for every number of the profile, with a key such as "clocks[1].spin". Stops at the
 * first result other than 0 and returns it.
 */
int wtl_machine_numbers(const wtl_machine *m, int (*visit)(void *arg, const char *key, const wtl_number *n), void *arg);

#endif
