/* module.h - the interface between preload.c and a module for one MPI. It needs no header of an MPI. */
#ifndef WTL_MPI_MODULE_H
#define WTL_MPI_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/region_mark.h"

/* Calls that the module does not know. They pass to the MPI unchanged and are counted (mpi_stubs.c). */
typedef struct wtl_mpi_passed_calls {
  const char *const *names;
  const unsigned long *counts; /* other threads may be in such calls */
  size_t n;
} wtl_mpi_passed_calls;

/* Exported by each module as wtl_mpi_module. */
typedef struct wtl_mpi_entry {
  const char *version;    /* of Wattle; both sides must have the same */
  void *const *functions; /* in the order of wtl_mpi_names; NULL: this MPI has no such call */
  const size_t *n;        /* their number */
  void (*start)(const wtl_mpi_passed_calls *passed); /* called once, after the module is loaded; `passed` stays */
  bool (*idle)(void);                                /* wtl_mpi_idle (mpi_front.h) */
  wtl_mark_sink *mark;                               /* wtl_user_region_mark (profile/user_region.h) */
} wtl_mpi_entry;

#endif
