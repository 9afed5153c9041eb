/* knob_kind.h - the interface of a kind of knob, the table of kinds, and the content of a knob. */
#ifndef WTL_POWER_KNOB_KIND_H
#define WTL_POWER_KNOB_KIND_H

#include "power/knob/knob.h"
#include "power/knob/knob_state.h"

enum { WTL_KNOB_VALUE = 48 }; /* bytes of a file's text including the final NUL */

/* A file that is written to change the clock of a domain. */
typedef struct wtl_knob_file {
  char *path;
  wtl_knob_place place;
  int fd;                     /* -1: not open */
  uint32_t least;             /* the lowest clock that may be written, where the files of a domain differ in that */
  char found[WTL_KNOB_VALUE]; /* its text when the knob was opened */
} wtl_knob_file;

typedef struct wtl_knob_unit {
  wtl_clock_domain clock;
  wtl_knob_file *file;
  size_t n_files;
  uint32_t set_khz; /* the last clock that was set */
  double normal;    /* powercap: the part of the limit found that belongs to the base clock */
  bool claimed;     /* this process has locked the files and will restore them */
  bool lost;        /* a set failed */
} wtl_knob_unit;

typedef struct wtl_knob_ops {
  const char *name;
  /* Fills in the clocks and files of a domain with known CPUs. Returns 0, or an errno with the reason in k->why. */
  int (*find)(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine);
  /* Writes the text that a file of the domain must hold for this clock. NULL for kinds without files. */
  void (*value)(const wtl_knob_unit *d, const wtl_knob_file *f, uint32_t khz, char text[WTL_KNOB_VALUE]);
  /* Sets the clock, for kinds that do not use files; else NULL. Returns 0 or an errno. */
  int (*set)(wtl_knob_unit *d, uint32_t khz);
  bool acts;
  bool limits;    /* its files are power limits */
  bool of_uncore; /* its files are clocks of the uncore */
} wtl_knob_ops;

/* By the setting, the kind to try before `none`: knobs.c, or in simulation knob_simgrid.c. */
extern const wtl_knob_ops *const wtl_knob_kinds[];
extern const wtl_knob_ops *const wtl_knob_package_kinds[]; /* the same, by enum wtl_package_knob */
extern const wtl_knob_ops wtl_knob_cpufreq, wtl_knob_powercap, wtl_knob_record, wtl_knob_uncore, wtl_knob_limit,
    wtl_knob_none;

struct wtl_knob {
  const wtl_knob_ops *kind;
  const wtl_knob_sys *os;
  const char *sysfs, *state; /* from the settings */
  char why[512];
  wtl_knob_unit *domain;
  size_t n_domains;
  int guard;              /* the pipe by which the guard is ended; -1: none */
  wtl_knob_claims claims; /* only in the process that claims */
  char *saved;            /* path of the file that keeps the found values (knob_saved.h); NULL: none */
  int saved_fd;           /* that file; -1: none */
  wtl_clock_change note[WTL_KNOB_NOTES];
  uint64_t notes;
};

/* Adds a file to a domain and reads its value. Returns 0 or an errno. */
int wtl_knob_add_file(wtl_knob *k, wtl_knob_unit *d, wtl_knob_attribute attribute, int of);

/* May this process write to all files of the domain, of which there is one at least? Otherwise k->why has the
 * reason. */
bool wtl_knob_may_write(wtl_knob *k, const wtl_knob_unit *d);

/* The number of the first CPU of a domain, and of its package. */
int wtl_knob_first_cpu(const wtl_clock_domain *c);
int wtl_knob_package(const wtl_knob *k, const wtl_knob_unit *d);

/*
 * Reads a domain's clocks from cpufreq, without the right to write. Returns 0, or an errno with the reason in k->why.
 */
int wtl_cpufreq_clocks(wtl_knob *k, wtl_clock_domain *c);

/* Reads a number from a file of a CPU; NaN if there is none. */
double wtl_knob_number(const wtl_knob *k, int cpu, const char *file);

#endif
