/* mpi.h - for MPI programs that oshcc --sim compiles: SimGrid's, whose calls Wattle makes for the program. */
#ifndef WATTLE_SIMULATED_MPI_H
#define WATTLE_SIMULATED_MPI_H

#include <smpi/smpi.h>

#ifdef __cplusplus
extern "C" {
#endif
/* SimGrid's names are weak, so that alone they would not have the linker look for anybody. */
extern const char wtl_mpi_simulated;
__attribute__((used)) static const char *const wtl_mpi_wanted = &wtl_mpi_simulated;
#ifdef __cplusplus
}
#endif

#endif
