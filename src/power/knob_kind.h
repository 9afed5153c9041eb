/*
 * knob_kind.h - what every kind of knob must be able to do, the table of kinds, and a knob's inside for their files.
 */
#ifndef WTL_POWER_KNOB_KIND_H
#define WTL_POWER_KNOB_KIND_H

#include "power/knob.h"
#include "power/knob_claims.h"
#include "power/knob_files.h"

enum { WTL_KNOB_VALUE = 48 }; /* bytes of a file's text, its end included */

/* A file of a domain that is written to change the clock. */
typedef struct wtl_knob_file {
  char *path;
  wtl_knob_place place;
  int fd;                     /* -1: not open */
  char found[WTL_KNOB_VALUE]; /* what it held when the knob was opened */
} wtl_knob_file;

typedef struct wtl_knob_unit {
  wtl_clock_domain clock;
  wtl_knob_file *file;
  size_t n_files;
  uint32_t set_khz; /* the last that was set */
  bool claimed;     /* by this very process: it locked the files and will put back */
  bool lost;        /* a set failed */
} wtl_knob_unit;

typedef struct wtl_knob_ops {
  const char *name;
  /* Fills in the clocks and files of a domain whose CPUs are known. 0, or an errno with the reason in k->why. */
  int (*find)(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine);
  /* The text that file i of the domain must hold for this clock. NULL for kinds without files. */
  void (*value)(const wtl_knob_unit *d, const wtl_knob_file *f, uint32_t khz, char text[WTL_KNOB_VALUE]);
  /* Of kinds that change clocks otherwise than by files: sets it. 0 or an errno. */
  int (*set)(wtl_knob_unit *d, uint32_t khz);
  bool acts;
  bool limits; /* its files are limits on watts */
} wtl_knob_ops;

extern const wtl_knob_ops wtl_knob_cpufreq, wtl_knob_powercap, wtl_knob_record, wtl_knob_simgrid, wtl_knob_none;

struct wtl_knob {
  const wtl_knob_ops *kind;
  const wtl_knob_sys *os;
  const char *sysfs, *state; /* the settings' */
  char why[512];
  wtl_knob_unit *domain;
  size_t n_domains;
  int guard;              /* the pipe that lets it go; -1 for none */
  wtl_knob_claims claims; /* of the process that claims */
  char *saved;            /* the path of the file that keeps what was found (knob_saved.h); NULL for none */
  int saved_fd;           /* that file; -1 for none */
  wtl_clock_change note[WTL_KNOB_NOTES];
  uint64_t notes;
};

/* Adds a file to a domain and reads what it holds. 0 or an errno. */
int wtl_knob_add_file(wtl_knob *k, wtl_knob_unit *d, wtl_knob_attribute attribute, int of);

/* Reads what cpufreq says of a domain's clocks; needs no right to write. 0, or an errno with the reason in k->why. */
int wtl_cpufreq_clocks(wtl_knob *k, wtl_clock_domain *c);

/* Reads a number of a file of a CPU; NaN where there is none. */
double wtl_knob_number(const wtl_knob *k, int cpu, const char *file);

#endif
