/*
 * simulated.h - MPI programs in simulation (oshcc --sim): src/mpi over SimGrid's MPI.
 *
 * DESIGN. The MPI process that SimGrid knows is not the rank's thread but its companion (src/sim/companions.h). So the
 * companion carries out every call, including those that this room makes. generated/simulated/mpi.h defines PMPI_ names
 * that pass a call to it. A counted call of the program is one wait at the door, and its end rings the bell. So it
 * needs no counterpart and no tests.
 *
 * MPI calls functions of the program (MPI_Op_create, MPI_Comm_create_keyval) on the companion's stack, outside the PE's
 * threads. The time that they compute is summed and added to the rank's time when the rank continues.
 */
#ifndef WTL_MPI_SIMULATED_H
#define WTL_MPI_SIMULATED_H

#include <smpi/smpi.h>

#include "mpi/mpi_front.h"
#include "sim/simulator.h"

/* Lets the companion run call(arguments) and waits for its end. No call site records the wait. */
void wtl_mpi_hand_over(void (*call)(void *), void *arguments);
/* Does the same for a call of the program, as a wait at its site. */
void wtl_mpi_carry_out(wtl_mpi_frame *f, void (*call)(void *), void *arguments);
/* Handles an error of such a call over `comm` by the communicator's handler. The default handler ends the job.
 * (SimGrid's MPI_ names would do this. The PMPI_ names, which are called here, only return.) */
void wtl_mpi_failed(wtl_mpi_frame *f, MPI_Comm comm, int code);

/* Fortran's MPI_STATUS_IGNORE in SimGrid's library, which is recognized by its address. */
extern const MPI_Fint mpi_status_ignore_ __attribute__((weak));

/* Returns SimGrid's own Fortran entry of that name, to be cast. Ends the job if there is none. */
typedef void wtl_mpi_fortran(void);
wtl_mpi_fortran *wtl_mpi_fortran_of(const char *name);

#endif
