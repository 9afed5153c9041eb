/*
 * boot_mpi_comm.h - gives the network by MPI (fabric/mpi/transport_mpi.c) the communicator of the boot, inside one
 * module.
 */
#ifndef WTL_NODE_BOOT_MPI_COMM_H
#define WTL_NODE_BOOT_MPI_COMM_H

#include <mpi.h>

#include "node/boot_mpi.h"

/* Returns the communicator of the job's processes. Do not send on it; duplicate it. MPI_COMM_NULL before
 * wtl_mpi_module.start and after stop. */
MPI_Comm wtl_boot_mpi_comm(void);

/* Returns whether the communicator belongs to a session, which the program's MPI_Finalize does not end. */
bool wtl_boot_mpi_comm_is_apart(void);

extern const wtl_mpi_ops wtl_mpi_module;

#endif
