/* loaded_mpi.h - finds the MPI that this process has loaded already. */
#ifndef WTL_BASE_LOADED_MPI_H
#define WTL_BASE_LOADED_MPI_H

/* A handle for dlsym; NULL if no MPI is loaded. An MPI that a plugin of the program loaded for itself becomes visible
 * to all, because a module that is linked with MPI binds to it. */
void *wtl_loaded_mpi(void);

#endif
