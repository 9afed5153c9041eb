/* module.h - the interface between preload.c and a module for one MPI. It needs no header of an MPI. */
#ifndef WTL_MPI_MODULE_H
#define WTL_MPI_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* Exported by each module as wtl_mpi_module. */
typedef struct wtl_mpi_entry {
  const char *version;    /* of Wattle; both sides must have the same */
  void *const *functions; /* in the order of wtl_mpi_names; NULL: this MPI has no such call */
  const size_t *n;        /* their number */
  void (*start)(void);    /* called once, after the module is loaded */
  bool (*idle)(void);     /* wtl_mpi_idle (mpi_front.h) */
} wtl_mpi_entry;

#endif
