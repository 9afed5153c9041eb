/* module.h - what preload.c and a module for one MPI know of each other. No MPI is needed to include this. */
#ifndef WTL_MPI_MODULE_H
#define WTL_MPI_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* Exported by each module as wtl_mpi_module. */
typedef struct wtl_mpi_entry {
  const char *version;    /* of Wattle; both must be of the same */
  void *const *functions; /* in the order of wtl_mpi_names; NULL: this MPI has no such call */
  const size_t *n;        /* their number */
  void (*start)(void);    /* once, when the module has been loaded */
  bool (*idle)(void);     /* front.h */
} wtl_mpi_entry;

#endif
