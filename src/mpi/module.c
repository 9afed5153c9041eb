/* module.c - the object that a module for one MPI exports to preload.c. */
#include "mpi/module.h"

#include "mpi/mpi_front.h"

extern void *const wtl_mpi_functions[];
extern const size_t wtl_mpi_n_functions;

#ifdef WTL_MPI_ABI
#include <string.h>

bool wtl_mpi_abi_is_mpich(void)
{
  static _Atomic int known; /* 0: not asked yet; 1: no; 2: yes */
  if (!known) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    PMPI_Get_library_version(text, &length);
    known = strstr(text, "Open MPI") ? 1 : 2;
  }
  return known == 2;
}
#endif

__attribute__((visibility("default"))) const wtl_mpi_entry wtl_mpi_module = {
    WTL_VERSION, wtl_mpi_functions, &wtl_mpi_n_functions, wtl_mpi_find_fortran, wtl_mpi_idle};
