/* module.c - the object that a module for one MPI exports to preload.c. */
#include "mpi/module.h"

#include "mpi/mpi_front.h"

extern void *const wtl_mpi_functions[];
extern const size_t wtl_mpi_n_functions;

__attribute__((visibility("default"))) const wtl_mpi_entry wtl_mpi_module = {
    WTL_VERSION, wtl_mpi_functions, &wtl_mpi_n_functions, wtl_mpi_find_fortran, wtl_mpi_idle};
