/* boot_mpi_comm.h - within a module for one MPI: what the network by MPI (fabric/mpi/transport_mpi.c) has of the boot. */
#ifndef WTL_NODE_BOOT_MPI_COMM_H
#define WTL_NODE_BOOT_MPI_COMM_H

#include <mpi.h>

#include "node/boot_mpi.h"

/* The communicator of the job's processes; MPI_COMM_NULL before wtl_mpi_module.start and after stop. Not to be used to
 * send, only to be duplicated. */
MPI_Comm wtl_boot_mpi_comm(void);

/* It is a session's, which the program's MPI_Finalize does not end. */
bool wtl_boot_mpi_comm_is_apart(void);

extern const wtl_mpi_ops wtl_mpi_module;

#endif
