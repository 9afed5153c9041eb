/* loaded_mpi.h - finds the MPI that this process has loaded already. */
#ifndef WTL_BASE_LOADED_MPI_H
#define WTL_BASE_LOADED_MPI_H

/* A handle for dlsym; NULL if no MPI is loaded. An MPI that a plugin of the program loaded for itself becomes visible
 * to all, because a module that is linked with MPI binds to it. */
void *wtl_loaded_mpi(void);

/*
 * Returns the binary interface of the MPI with this handle: "abi" (the standard interface of MPI 5, libmpi_abi),
 * "openmpi" (Open MPI 4 and 5), or "mpich" (MPICH and its descendants: Intel MPI, Cray MPICH, MVAPICH, ParaStation).
 * Returns NULL if it is another one. The library that the program calls decides, not its version.
 */
const char *wtl_loaded_mpi_interface(void *mpi);

#endif
