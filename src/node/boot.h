/*
 * boot.h - how the processes of a job find each other. One interface, one file for each kind, one table (boot_kinds.c).
 *
 * Kinds: pmix (any launcher that serves PMIx), mpi (any launcher whose MPI starts, boot_mpi.h), single (a program
 * started bare is one PE), and in the threads build threads (PEs are threads of one process; tests/threads_main.h
 * starts them), and in simulation sim (docs/simulation.md).
 *
 * Invariants: after wtl_boot_start, 0 <= pe < n_pes and 0 <= local_rank < n_local; local_pe[0..n_local) lists the PEs
 * of this node in rising order, local_pe[local_rank] == pe. slot_of[pe] is the local rank of a PE of this node and -1
 * for the others. The nodes of the job are numbered from 0; leader_pe[node] is the PE that speaks for a node, the first
 * of its PEs. A launcher that promises more PEs than boot delivers is an error. `one_program` is the same on all PEs:
 * false where they run executables that differ, as far as boot knows (the arena compares those of a node once more).
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
  bool (*offered)(void); /* does the environment offer this kind? */
  /* Fills pe, n_pes, local_rank, n_local, local_pe, node, n_nodes, leader_pe, and one_program where it is false. 0, or
   * non-zero with the reason in `error`. */
  int (*start)(wtl_boot *b, char *error, size_t size);
  /* Says `value` under `key` to all PEs; readable after the next fence. */
  int (*publish)(wtl_boot *b, const char *key, const char *value);
  /* Waits for all PEs of the job. */
  int (*fence)(wtl_boot *b);
  /* What `pe` published under `key`. From any thread, but not beside a fence. */
  int (*lookup)(wtl_boot *b, int pe, const char *key, char *value, size_t size);
  /* Ends the job with `status`; may return, the caller then ends this process. */
  void (*abort)(wtl_boot *b, int status, const char *message);
  /* Leaves the job in good order; collective. */
  void (*stop)(wtl_boot *b);
  /* The following may be NULL. Is this kind for those alone who ask for it by name, although it is offered? */
  bool (*is_passed_over)(void);
  /* Has the program selected this kind by its calls? Then no other is tried. */
  bool (*is_selected)(void);
  /* Why this kind did not serve, for a message; "" where there is nothing to say. */
  const char *(*note)(void);
} wtl_boot_ops;

struct wtl_boot {
  const wtl_boot_ops *ops;
  int pe, n_pes, local_rank, n_local;
  int *local_pe; /* n_local entries, owned by the boot, as are the next two */
  int *slot_of;  /* n_pes entries */
  int node, n_nodes, *leader_pe;
  uint64_t program; /* which executable this process runs (statics.h) */
  bool one_program;
  void *state; /* of the kind */
};

/* The kinds of this build, the best first, ended by NULL: boot_kinds.c, boot_threads.c or boot_sim.c. */
extern const wtl_boot_ops *const wtl_boot_kinds[];
extern const wtl_boot_ops wtl_boot_pmix, wtl_boot_mpi, wtl_boot_single;

/* Chooses a kind by the setting and the environment and starts it. 0, or an exit code with the reason in `error`. */
int wtl_boot_start(wtl_boot *b, const wtl_settings *settings, char *error, size_t size);

/* Leaves the job in good order; collective. Gives back what wtl_boot_start took. */
void wtl_boot_stop(wtl_boot *b);

/* The rank that the launcher's variables give this process, before any boot; 0 where there are none. */
int wtl_boot_env_rank(void);

#endif
