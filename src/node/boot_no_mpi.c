/* boot_no_mpi.c - reports that there is no MPI, in builds whose PEs are not processes. */
#include <stdio.h>

#include "base/error.h"
#include "node/boot_mpi.h"

int wtl_boot_mpi_load(wtl_mpi *mpi, char *error, size_t size)
{
  (void)mpi;
  snprintf(error, size, "this build of Wattle has no MPI");
  return WTL_EXIT_UNAVAILABLE;
}

bool wtl_boot_mpi_of_program(wtl_mpi *mpi)
{
  (void)mpi;
  return false;
}
