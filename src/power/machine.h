/*
 * machine.h - a machine profile in memory. Only the power room looks inside; others use power.h.
 *
 * Every number has a unit, a half-width and a tag: `cited` (a source prints it), `derived` (computed from cited
 * numbers; `how` says the sum) or `assumed` (nobody published it; `how` says why this value). wtl_machine_parse lets
 * nothing else through: numbers are finite and not negative, units are the expected ones, exactly one clock is the base
 * clock.
 */
#ifndef WTL_POWER_MACHINE_H
#define WTL_POWER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "power/power.h"

enum wtl_tag { WTL_TAG_CITED, WTL_TAG_DERIVED, WTL_TAG_ASSUMED };

typedef struct wtl_number {
  double value, plus_minus; /* in `unit`; plus_minus is the half-width of the range that should hold the truth */
  char *unit;               /* "W" or "J/B" */
  enum wtl_tag tag;
  char *source; /* where it is printed; NULL unless cited */
  char *how;    /* how it was found; NULL where cited says all */
} wtl_number;

/* Watts one core adds to the idle draw, by what its PE does, at one clock. */
typedef struct wtl_clock {
  double ghz;
  bool base; /* the clock at which a program runs that asks for none */
  wtl_number active, spin, yield, asleep;
} wtl_clock;

/* Which CPUs a profile is for; every member that is given must agree with /proc/cpuinfo. */
typedef struct wtl_match {
  char *vendor;        /* vendor_id, exactly */
  int *family, *model; /* "cpu family", "model" */
  char *name;          /* part of "model name" */
} wtl_match;

typedef struct wtl_idle {
  wtl_number cpu, dram; /* W per socket with nobody running; dram draws as much whether or not bytes move */
} wtl_idle;

typedef struct wtl_dram {
  wtl_number per_byte; /* J per payload byte: one read and one write */
} wtl_dram;

struct wtl_machine {
  char *name, *title, *about;
  unsigned sockets, cores_per_socket; /* cores: 0 if unknown; sockets at least 1 */
  wtl_match *match;
  unsigned n_match;
  wtl_number *tdp; /* W per socket; NULL if unknown */
  wtl_idle idle;
  wtl_dram dram;
  wtl_clock *clocks;
  unsigned n_clocks;
  /* The loader's, not the file's: */
  char *file;    /* path it was read from */
  char *matched; /* the CPU it matched; NULL if it was asked for by name, or if none matched */
};

/* Parses a profile's text. `file` is for messages and is kept. NULL on failure, with file, line and key in `error`. */
wtl_machine *wtl_machine_parse(const char *file, const char *text, size_t length, char *error, size_t size);

/* wtl_machine_load with the text of /proc/cpuinfo given, for tests. */
wtl_machine *wtl_machine_load_for(const char *name, const char *cpuinfo, char *error, size_t size);

/* Does the profile claim this CPU? `cpuinfo` is the text of /proc/cpuinfo, of which the first processor counts. */
bool wtl_machine_matches(const wtl_machine *m, const char *cpuinfo);

const char *wtl_tag_name(enum wtl_tag tag);

/*
 * Calls visit(arg, key, number) for every number of the profile, key like "clocks[1].spin". Stops at the first non-
 * zero.
 */
int wtl_machine_numbers(const wtl_machine *m, int (*visit)(void *arg, const char *key, const wtl_number *n), void *arg);

#endif
