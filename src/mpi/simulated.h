/*
 * simulated.h - MPI programs in simulation (oshcc --sim): src/mpi over SimGrid's MPI.
 *
 * The MPI process that a rank is to SimGrid is not the rank's thread but its companion (src/sim/companions.h). So every
 * call is carried out there, those of this room, too: PMPI_ names that hand over are in generated/simulated/mpi.h. A
 * counted call of the program's is waited for at the door, as a whole, whose bell its end rings: it needs no twin, and
 * no tests.
 *
 * A function of the program's that MPI calls (MPI_Op_create, MPI_Comm_create_keyval) runs on the companion's stack, in
 * no thread of the PE's; what it computes is added up and becomes the rank's time when that goes on.
 */
#ifndef WTL_MPI_SIMULATED_H
#define WTL_MPI_SIMULATED_H

#include <smpi/smpi.h>

#include "mpi/mpi_front.h"
#include "sim/simulator.h"

/* Has the companion run call(arguments); the rank's core looks on meanwhile, and nobody counts it. */
void wtl_mpi_hand_over(void (*call)(void *), void *arguments);
/* The same for a call of the program's: a wait at its site. */
void wtl_mpi_carry_out(wtl_mpi_frame *f, void (*call)(void *), void *arguments);
/* Such a call over `comm` returned an error: does what the communicator's handler says, which ends the job if the
 * program has set none. (SimGrid's MPI_ names would do it; its PMPI_ names, which are called here, only return.) */
void wtl_mpi_failed(wtl_mpi_frame *f, MPI_Comm comm, int code);

/* SimGrid's own entry of that name, for Fortran. To be cast; ends the job where there is none. */
typedef void wtl_mpi_fortran(void);
wtl_mpi_fortran *wtl_mpi_fortran_of(const char *name);

#endif
