/*
 * boot.h - the processes of a job find each other. One interface, one file for each kind, one table (boot_kinds.c).
 *
 * DESIGN. These are the kinds:
 *
 *   pmix     launchers that serve PMIx
 *   mpi      launchers whose MPI starts (boot_mpi.h)
 *   single   a program without a launcher, which is one PE
 *   threads  the threads build, whose PEs are threads of one process (tests/threads_main.h)
 *   sim      simulation (docs/simulation.md)
 *
 * After wtl_boot_start, 0 <= pe < n_pes and 0 <= local_rank < n_local. The array local_pe[0..n_local) lists the PEs of
 * this node in rising order, and local_pe[local_rank] == pe.
 *
 * The entry slot_of[pe] is the local rank of a near PE and -1 for a far one. Nodes are numbered from 0, and
 * leader_pe[node] is the first PE of a node.
 *
 * A launcher that promises more PEs than boot finds is an error. `one_program` is the same on all PEs. It is false if
 * boot knows that PEs run different executables. The arena compares those of a node once more.
 */
#ifndef WTL_NODE_BOOT_H
#define WTL_NODE_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"

typedef struct wtl_boot wtl_boot;

typedef struct wtl_boot_ops {
  const char *name;
  bool (*offered)(void); /* returns whether the environment offers this kind */
  /* Fills pe, n_pes, local_rank, n_local, local_pe, node, n_nodes and leader_pe, and clears one_program if PEs
   * differ. Returns 0, or non-zero with the reason in `error`. */
  int (*start)(wtl_boot *b, char *error, size_t size);
  /* Publishes `value` under `key` to all PEs. It is readable after the next fence. */
  int (*publish)(wtl_boot *b, const char *key, const char *value);
  /* Waits for all PEs of the job. */
  int (*fence)(wtl_boot *b);
  /* Reads the value that `pe` published under `key`. Any thread may call it, but not during a fence. */
  int (*lookup)(wtl_boot *b, int pe, const char *key, char *value, size_t size);
  /* Leaves the job in good order; collective. */
  void (*stop)(wtl_boot *b);
  /* The members below may be NULL. This one asks the launcher to end the job with `status`. It may return before the
   * job ends. */
  void (*abort)(wtl_boot *b, int status, const char *message);
  /* Returns whether only the setting selects this kind, although it is offered. */
  bool (*is_skipped)(void);
  /* Returns whether the program has selected this kind by its calls. No other kind is tried then. */
  bool (*is_selected)(void);
  /* Returns the reason why this kind did not serve, for a message; "" if there is none. */
  const char *(*note)(void);
  /* Returns `bytes` of zeroed memory for the node, which all its PEs reach, and its place in a file: the job owns both.
   * NULL: the node makes its own. */
  void *(*memory)(wtl_boot *b, size_t bytes, int *fd, size_t *place);
} wtl_boot_ops;

struct wtl_boot {
  const wtl_boot_ops *ops;
  int pe, n_pes, local_rank, n_local;
  int *local_pe; /* n_local entries; the boot owns this array and the next two */
  int *slot_of;  /* n_pes entries */
  int node, n_nodes, *leader_pe;
  uint64_t program; /* number of the executable of this process (statics.h) */
  bool one_program;
  void *state; /* belongs to the kind */
};

/* The kinds of this build in order of preference, ended by NULL: boot_kinds.c, boot_threads.c or boot_sim.c. */
extern const wtl_boot_ops *const wtl_boot_kinds[];
extern const wtl_boot_ops wtl_boot_pmix, wtl_boot_mpi, wtl_boot_single;

/* Selects a kind by the setting and the environment and starts it. Returns 0, or an exit code with the reason in
 * `error`. */
int wtl_boot_start(wtl_boot *b, const wtl_settings *settings, char *error, size_t size);

/* Leaves the job in good order and frees what wtl_boot_start allocated; collective. */
void wtl_boot_stop(wtl_boot *b);

/*
 * Ends this process with exit code `status` in ten seconds, if it has not ended by then. To be called before the
 * launcher is asked for anything at the end of a job: a daemon of it that is cut off may never answer. At a limit of
 * threads it does nothing.
 */
void wtl_boot_must_end(int status);

/* Ends the job, and this process with exit code `status`. Any thread may call it. Calls wtl_boot_must_end. */
void wtl_boot_abort(wtl_boot *b, int status, const char *message) __attribute__((noreturn));

/* Returns the rank in the launcher's variables. It needs no boot. Returns 0 if there is no such variable. */
int wtl_boot_env_rank(void);

#endif
