/*
 * boot_mpi.h - boot by MPI, in three parts: the kind (boot_mpi.c), the search for the MPI that this process uses or
 * should use (boot_mpi_load.c), and a module for each MPI (boot_mpi_module.c), which alone calls it.
 *
 * The runtime links no MPI: a process has one, and which one is known only when it runs. MPIs differ in their binary
 * interface, so the module is compiled once for each: libwattle-boot-mpi-openmpi.so, libwattle-boot-mpi-mpich.so (which
 * serves MPICH's descendants too: they have agreed on one binary interface).
 *
 * All calls but `abort` are made by the thread that calls shmem_init or shmem_finalize.
 */
#ifndef WTL_NODE_BOOT_MPI_H
#define WTL_NODE_BOOT_MPI_H

#include <stdbool.h>
#include <stddef.h>

enum { WTL_MPI_OPS_VERSION = 4 };

/* What a module does. It exports one object of this type, wtl_mpi. */
typedef struct wtl_mpi_ops {
  unsigned version; /* WTL_MPI_OPS_VERSION */

  /* How many processes the job has by the program's own MPI, if that is in use: initialised and not finalised. 0
   * otherwise. */
  int (*in_use)(void);

  /* This process's number among them, while MPI is in use. */
  int (*rank)(void);

  /*
   * From the next start to its stop the job is the processes of the program's communicator `comm` alone, in its order;
   * it must be there until the start. False, and nothing changes, where it has all processes in the order of
   * MPI_COMM_WORLD. MPI must be in use.
   */
  bool (*confine)(const void *comm);
  bool (*is_confined)(void);

  /*
   * Collective. Starts MPI where the program has not, and makes a communicator of our own. `shared`: the program may
   * call MPI itself. 0, or non-zero with the reason in `error`.
   */
  int (*start)(bool shared, int *rank, int *n, char *error, size_t size);

  /*
   * Collective. Gives every process the bytes of all: process i's are (*all)[at[i]] to (*all)[at[i + 1]]; `at` has n +
   * 1 places. *all is the caller's to free; NULL where nobody has anything. Sleeps while it waits. 0, or non-zero if
   * MPI refuses.
   */
  int (*exchange)(const void *mine, size_t bytes, char **all, size_t *at);

  /* Ends the job with `status`, from any thread. Returns where MPI cannot any more. */
  void (*abort)(int status);

  /* Collective. MPI stays until the process ends; a program that has begun it itself gets the communicator back. */
  void (*stop)(void);

  /*
   * For a program that uses MPI itself, whether boot does or not. A communicator is as long as this MPI's; `comm` has
   * room for a pointer. comm_world: the job's, which is MPI_COMM_WORLD unless it is confined. comm_make: of the job's
   * processes ranks[0..n), by those alone; 0, or -1 if MPI refuses. comm_free takes one that is all zeros for none.
   */
  void (*comm_world)(void *comm);
  int (*comm_make)(const int *ranks, int n, void *comm);
  void (*comm_free)(void *comm);

  /* MPI_Init where the program has not called it; MPI_Finalize where that is so, and once. */
  void (*init)(int *argc, char ***argv);
  void (*finalize)(void);

  /* Has the program itself asked for MPI_THREAD_MULTIPLE, and got it? */
  bool (*is_threaded)(void);
} wtl_mpi_ops;

/* --- which MPI --- */

typedef struct wtl_mpi {
  const wtl_mpi_ops *ops; /* NULL: none */
  void *module;           /* where they are from, for dlsym: it has the network by MPI too */
  bool shared;            /* the program itself has it loaded */
  char library[64];       /* its name and version, for messages: "MPICH 4.0.2" */
} wtl_mpi;

/*
 * Looks for the MPI that the program has loaded, else for the one that belongs to the launcher, and loads its module.
 * 0, or an exit code with the reason in `error`. Once found it stays.
 */
int wtl_boot_mpi_load(wtl_mpi *mpi, char *error, size_t size);

/* The module for the MPI that the program has loaded; false where it has none, or there is no module for it. */
bool wtl_boot_mpi_of_program(wtl_mpi *mpi);

/*
 * Is MPICH's launcher, Hydra, the one that started this process as one of several? Within an allocation of Slurm's it
 * has srun start its proxies, so that the processes inherit the variables by which Slurm offers PMIx to the proxies.
 */
bool wtl_boot_mpi_hydra_is_nearest(void);

/* Does MPI's own interface say that this process is one of several? Loads no module but that of an MPI in use. */
bool wtl_boot_mpi_is_offered(void);

/* Is the job to be a part of the program's processes (wtl_mpi_ops.confine)? */
bool wtl_boot_mpi_is_confined(void);

/* For errors about the number of PEs: why there is no MPI, or which it was; "" where nobody asked for one. */
const char *wtl_boot_mpi_note(void);

/* --- the launcher --- */

/*
 * Watches the process that launched this one, from a thread of its own: when it dies, so does this process
 * (lifeline.h). True if there is one to watch.
 */
bool wtl_boot_mpi_watch_launcher(void);

#endif
