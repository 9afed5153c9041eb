/*
 * transport_names.h - names the MPI library of this process, and what carries its messages, as far as the process shows
 * it.
 *
 * MPI has no call for this. Open MPI keeps the components that it uses loaded (PML, BTL and MTL) and unloads all
 * others. Where they are linked in, variables of the library describe its PML and MTL, and the BTLs cannot be seen.
 * MPICH loads UCX or libfabric. Devices are those of the connected sockets to other machines, and the InfiniBand
 * devices that are open. Nothing shows the transport of a program that contains its MPI.
 */
#ifndef WTL_MPI_TRANSPORT_NAMES_H
#define WTL_MPI_TRANSPORT_NAMES_H

#include <stdio.h>

/* To be called before MPI_Init: open sockets are the launcher's. */
void wtl_mpi_transport_start(void);

/* Writes a JSON object: `library` with its version; `transport`, such as "ob1 (self, tcp, vader)", "ob1" or "UCX", null
 * where nothing shows it, with the reason in `why`; `paths`, such as "tcp/eth0,verbs/mlx5_0": connections and devices
 * to other nodes, "" for none; `shows_idle` of the calling process (mpi_front.h). To be called before MPI_Finalize.
 * `sysfs`: the root of the tree that names InfiniBand devices. */
void wtl_mpi_transport_write(FILE *f, const void *sysfs);

#endif
