/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file mp3.h
 * MPI calls under the names that test programs of ARMCI and Global Arrays use, by Wattle. Each macro is the MPI, ARMCI
 * or
 * Global Arrays call in its definition. Since version 0.1.0.
 */
#ifndef ARMCI_MP3_H
#define ARMCI_MP3_H

#ifdef __cplusplus
extern "C++" { /* this header may be included within extern "C", and MPI's header may have classes */
#endif
#include <mpi.h>
#ifdef __cplusplus
}
#endif

#define MP_INIT(argc, argv) MPI_Init(&(argc), &(argv))
#define MP_FINALIZE() MPI_Finalize()
#define MP_BARRIER() MPI_Barrier(MPI_COMM_WORLD)
#define MP_PROCS(n) MPI_Comm_size(MPI_COMM_WORLD, n)
#define MP_MYID(me) MPI_Comm_rank(MPI_COMM_WORLD, me)
#define MP_TIMER() MPI_Wtime()

#define ARMCI_INIT(argc, argv) ARMCI_Init()
#define GA_INIT(argc, argv) GA_Initialize()

#endif
