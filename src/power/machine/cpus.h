/*
 * cpus.h - the table of CPU generations and their watts. It is generated from machines/cpus.toml, which
 * tools/fit_machines.py fits to public measurements. docs/appendix/table-of-cpus.md has the equations.
 *
 * DESIGN. Shares are of TDP. Each figure is the median over servers, with the standard deviation of its logarithm
 * ("spread"). Independent spreads add as squares.
 */
#ifndef WTL_POWER_CPUS_H
#define WTL_POWER_CPUS_H

#include <stdbool.h>
#include <stddef.h>

enum { WTL_CPU_MODELS = 8 };

/*
 * One processor. `threads` are those of a socket. `cache_mb`: its last-level cache, 0 if the table does not have it.
 */
typedef struct wtl_processor {
  const char *name;         /* in the name that the CPU reports */
  double tdp_w, tdp_spread; /* the spread is 0 for a TDP that was verified */
  int cores, threads, cache_mb;
} wtl_processor;

typedef struct wtl_median {
  double value, spread;
} wtl_median;

typedef struct wtl_cpu {
  const char *name, *title, *basis;
  const char *vendor; /* vendor_id, or the number of the implementer ("0x41") */
  int family;
  int n_models, models[WTL_CPU_MODELS];
  int first_stepping, last_stepping; /* -1: any */
  double tdp_w, tdp_spread;          /* W of a typical socket; the spread if only its number of cores is known */
  int cores, threads;                /* of a typical socket */
  wtl_median tdp_per_thread;         /* W, if nothing is known: of processors with many cores */
  int servers;                       /* measured at the wall socket, of this generation or of those in `basis` */
  bool is_desktop;                   /* or a notebook, or a small server with a desktop's processor */
  /* package watts over those of the measured servers: idle, one thread, full load */
  wtl_median idle_factor, low_factor, full_factor;
  int ddr;                       /* generation of its memory modules */
  wtl_median dram_idle_w_per_gb; /* of such modules */
  const wtl_processor *processors;
  size_t n_processors;
} wtl_cpu;

typedef struct wtl_mean {
  double value, plus_minus;
} wtl_mean;

/*
 * Watts of packages as shares of TDP. `idle`: an idle package. `wake`: the step that the first busy core causes.
 * `core`: one thread on each core, beyond that. `second`: the second threads of all cores, beyond that. `vcpu`: one
 * computing thread of a host of unknown load, beyond idle, times the threads of the host.
 */
typedef struct wtl_package_shares {
  int servers;
  wtl_median idle, core;
  wtl_mean wake, second;
  wtl_median vcpu;
} wtl_package_shares;

/* By the clock under load: any, above the base clock, at the base clock. */
enum wtl_clock_class { WTL_CLOCK_ANY, WTL_CLOCK_TURBO, WTL_CLOCK_BASE, WTL_CLOCK_CLASSES };

/*
 * Watts of packages of a class of machines that are no servers, as classes.py of the lab explains them. `idle` and
 * `full` are shares of TDP, or, of a full load `by_limit`, of the highest power limit. `wake` is the part of the step
 * from idle to full load that the first busy core makes. `machines` were measured.
 */
typedef struct wtl_machine_class {
  const char *name, *title;
  int machines;
  wtl_median tdp, idle, full;
  bool by_limit;
  double wake;
  wtl_median dram_factor; /* its memory over that of servers */
} wtl_machine_class;

extern const wtl_cpu wtl_cpus[];
extern const size_t wtl_n_cpus;
extern const wtl_cpu wtl_any_cpu; /* one that the table does not have */
extern const wtl_machine_class wtl_machine_classes[];
extern const size_t wtl_n_machine_classes;

/*
 * Processors by name, a line each: name, class, TDP in W (of one core if the number of cores is 0), highest power limit
 * in W (0: not known), cores, number in Arm's main ID register (0: none), with '|' in between. It is one text, which
 * needs no relocation, because few processes look at it.
 */
extern const char wtl_processor_names[];
extern const wtl_package_shares wtl_package_shares_of[WTL_CLOCK_CLASSES];

#endif
