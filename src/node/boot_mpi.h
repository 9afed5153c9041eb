/*
 * boot_mpi.h - boot by MPI: the kind, the search for an MPI, and a module for each MPI.
 *
 * DESIGN. boot_mpi.c is the kind. boot_mpi_load.c finds the MPI that this process uses or should use. boot_mpi_module.c
 * alone calls MPI. The runtime links no MPI, because the MPI of a process is known only when it runs. MPIs differ in
 * their binary interface, so the module is compiled once for each: libwattle-boot-mpi-openmpi.so, -mpich.so (also for
 * MPICH's descendants, which share its interface) and -abi.so (the standard interface of MPI 5).
 *
 * Only the thread that calls shmem_init or shmem_finalize makes these calls. Any thread may call `abort`.
 */
#ifndef WTL_NODE_BOOT_MPI_H
#define WTL_NODE_BOOT_MPI_H

#include <stdbool.h>
#include <stddef.h>

enum { WTL_MPI_OPS_VERSION = 4 };

/* The operations of a module. Each module exports one object of this type, wtl_mpi_module. */
typedef struct wtl_mpi_ops {
  unsigned version; /* WTL_MPI_OPS_VERSION */

  /* Returns the number of processes of the job if the program uses its own MPI: initialized and not finalized.
   * Otherwise 0. */
  int (*in_use)(void);

  /* Returns the rank of this process among them. MPI must be in use. */
  int (*rank)(void);

  /*
   * Restricts the job to the processes of the program's communicator `comm`, in its order, from the next start to its
   * stop. MPI must be in use, and `comm` must exist until the start. Returns false and changes nothing if `comm` has
   * all processes in the order of MPI_COMM_WORLD.
   */
  bool (*confine)(const void *comm);
  bool (*is_confined)(void);

  /* Starts MPI unless the program has, and makes a communicator of the runtime; collective. `shared`: the program
   * may call MPI itself. Returns 0, or non-zero with the reason in `error`. */
  int (*start)(bool shared, int *rank, int *n, char *error, size_t size);

  /*
   * Gives every process the bytes of all; collective. The bytes of process i are (*all)[at[i]] to (*all)[at[i + 1]];
   * `at` has n + 1 entries. The caller frees *all, which is NULL if no process sent a byte. Sleeps while it waits.
   * Returns 0, or non-zero if MPI fails.
   */
  int (*exchange)(const void *mine, size_t bytes, char **all, size_t *at);

  /* Ends the job with `status`; any thread may call it. It returns if MPI cannot end the job any more. */
  void (*abort)(int status);

  /* Leaves the job; collective. MPI stays until the process ends. A program that started MPI itself keeps it, and
   * boot's communicator is freed. */
  void (*stop)(void);

  /*
   * Communicators for a program that uses MPI itself, also if another kind booted it. `comm` points to an MPI_Comm of
   * this MPI; memory for a pointer is enough. comm_world returns the job's communicator: MPI_COMM_WORLD unless the job
   * is confined. comm_make makes one of the job's processes ranks[0..n); only those call it. It returns 0, or -1 if MPI
   * fails. comm_free ignores one that is all zeros.
   */
  void (*comm_world)(void *comm);
  int (*comm_make)(const int *ranks, int n, void *comm);
  void (*comm_free)(void *comm);

  /* init calls MPI_Init if the program has not. finalize then calls MPI_Finalize once. */
  void (*init)(int *argc, char ***argv);
  void (*finalize)(void);

  /* Returns whether the program itself has asked for MPI_THREAD_MULTIPLE and got it. */
  bool (*is_threaded)(void);
} wtl_mpi_ops;

/* --- selection of an MPI --- */

typedef struct wtl_mpi {
  const wtl_mpi_ops *ops; /* NULL: none */
  void *module;           /* the handle for dlsym; the module also has the network by MPI */
  bool shared;            /* the program itself has loaded it */
  char library[64];       /* its name and version for messages: "MPICH 4.0.2" */
} wtl_mpi;

/* Finds the MPI that the program has loaded, or else the one of the launcher, and loads its module. Returns 0, or an
 * exit code with the reason in `error`. A second call returns the same MPI. */
int wtl_boot_mpi_load(wtl_mpi *mpi, char *error, size_t size);

/* Finds the module for the MPI that the program has loaded. Returns false if it has loaded none, or if no module
 * fits. */
bool wtl_boot_mpi_of_program(wtl_mpi *mpi);

/* Returns whether MPICH's launcher, Hydra, started this process as one of several. In a Slurm allocation Hydra lets
 * srun start its proxies. The processes then inherit variables by which Slurm offers PMIx to the proxies. */
bool wtl_boot_mpi_hydra_is_nearest(void);

/* Returns whether MPI's own interface says that this process is one of several. Loads a module only for an MPI in
 * use. */
bool wtl_boot_mpi_is_offered(void);

/* Returns whether the job is restricted to a part of the program's processes (wtl_mpi_ops.confine). */
bool wtl_boot_mpi_is_confined(void);

/* Returns a note for errors about the number of PEs: the MPI in use, or the reason why there is none. "" if none was
 * asked for. */
const char *wtl_boot_mpi_note(void);

/* --- the launcher --- */

/* Watches the launcher's process from a thread and ends this process when the launcher ends (lifeline.h). Returns
 * true if there is a launcher to watch. */
bool wtl_boot_mpi_watch_launcher(void);

#endif
