/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h - MPI for programs that oshcc --sim compiles. It has SimGrid's declarations; Wattle makes the calls. */
#ifndef WATTLE_SIMULATED_MPI_H
#define WATTLE_SIMULATED_MPI_H

#include <smpi/smpi.h>

#ifdef __cplusplus
extern "C" {
#endif
/* SimGrid's names are weak, so the linker would search no library for them. This symbol makes it link Wattle's. */
extern const char wtl_mpi_simulated;
__attribute__((used)) static const char *const wtl_mpi_wanted = &wtl_mpi_simulated;
#ifdef __cplusplus
}
#endif

#endif
