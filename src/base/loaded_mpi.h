/*
 * loaded_mpi.h - the MPI that this process has loaded already, whichever it is.
 */
#ifndef WTL_BASE_LOADED_MPI_H
#define WTL_BASE_LOADED_MPI_H

/* A handle for dlsym; NULL where there is none. What a plugin of the program has loaded for itself alone is visible to
 * all from then on: a module that is linked with MPI binds to it. */
void *wtl_loaded_mpi(void);

#endif
