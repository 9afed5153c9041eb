/*
 * mpi_words.h - the words of calls.toml for the bytes of a call, and for the cases in which a call stays unchanged.
 *
 * The arguments of a wrapper have the form of its language: Fortran passes addresses, and its handles are numbers. The
 * generated code defines four macros for each language, by which the words read an argument: WTL_VALUE(argument),
 * WTL_HANDLE(kind, argument), WTL_IS_FORTRAN and WTL_IS_LARGE (counts are MPI_Count).
 */
#ifndef WTL_MPI_MPI_WORDS_H
#define WTL_MPI_MPI_WORDS_H

#include "mpi/mpi_front.h"

#ifndef WTL_MPI_F2C /* simulated programs define their own */
#define WTL_MPI_F2C(kind, number) PMPI_##kind##_f2c(number)
#endif

/* The definitions of WTL_VALUE and WTL_HANDLE for Fortran. */
#define WTL_FORTRAN_VALUE(argument) *(const MPI_Fint *)argument
#define WTL_FORTRAN_HANDLE(kind, argument) WTL_MPI_F2C(kind, WTL_FORTRAN_VALUE(argument))

/* A number of elements; the size of a datatype; the number of processes of a communicator; of neighbours to send to. */
#define COUNT(count) wtl_mpi_count(WTL_VALUE(count))
#define SIZE(type) wtl_mpi_type_size(WTL_HANDLE(Type, type))
#define PROCESSES(comm) wtl_mpi_size(WTL_HANDLE(Comm, comm))
#define NEIGHBORS(comm) wtl_mpi_degree(WTL_HANDLE(Comm, comm))

#define IS_ROOT(root, comm) wtl_mpi_is_root(WTL_VALUE(root), WTL_HANDLE(Comm, comm))
#define IS_LEAF(root, comm) wtl_mpi_is_leaf(WTL_VALUE(root), WTL_HANDLE(Comm, comm))

/* For an array with a number for each process: the sum, and the number of this process. */
#define WTL_COUNTS(counts) wtl_mpi_counts(counts, WTL_IS_LARGE)
#define SUM(counts, comm) wtl_mpi_sum(WTL_COUNTS(counts), WTL_HANDLE(Comm, comm))
#define OWN_COUNT(counts, comm) wtl_mpi_own_count(WTL_COUNTS(counts), WTL_HANDLE(Comm, comm))
#define NEIGHBOR_SUM(counts, comm) wtl_mpi_sum_degree(WTL_COUNTS(counts), WTL_HANDLE(Comm, comm))

/* For two arrays, with a number and a datatype for each process: the sum of the products. */
#define WTL_TYPES(types) ((wtl_mpi_types){types, WTL_IS_FORTRAN})
#define SUM_TYPES(counts, types, comm) wtl_mpi_sum_types(WTL_COUNTS(counts), WTL_TYPES(types), WTL_HANDLE(Comm, comm))
#define NEIGHBOR_SUM_TYPES(counts, types, comm)                                                                        \
  wtl_mpi_sum_types_degree(WTL_COUNTS(counts), WTL_TYPES(types), WTL_HANDLE(Comm, comm))

/* The target of a send; of a receive; of a reduction. Only a noted call needs the last two, so they cost a few
 * instructions and no call. Fortran's MPI_IN_PLACE is no input, so nothing is known of it. */
#define SEND_TO(comm, dest) WTL_TARGET_PE(wtl_mpi_partner(WTL_HANDLE(Comm, comm), WTL_VALUE(dest)))
#define RECEIVE_FROM(source) ((wtl_target){-1, NULL, NULL, false, WTL_VALUE(source) == MPI_ANY_SOURCE})
#define REDUCTION(sendbuf, recvbuf, type, op, comm)                                                                    \
  wtl_mpi_reduction(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, (uintptr_t)WTL_VALUE(type), (uintptr_t)WTL_VALUE(op), \
                    (uintptr_t)WTL_VALUE(comm))
static inline wtl_target wtl_mpi_reduction(const void *input, uintptr_t type, uintptr_t op, uintptr_t comm)
{
  uint64_t kind = (type << 42 | type >> 22) ^ (op << 21 | op >> 43) ^ comm;
  return (wtl_target){-1, NULL, input, true, kind | 1};
}

/* Conditions under which a call stays unchanged. */
#define IS_INTER(comm) wtl_mpi_is_inter(WTL_HANDLE(Comm, comm))
#define COUNTERPART_MAY_FAIL(comm) wtl_mpi_counterpart_may_fail(WTL_HANDLE(Comm, comm))
#define ORDER_MATTERS(op, type, comm, bytes)                                                                           \
  wtl_mpi_order_matters(WTL_HANDLE(Op, op), WTL_HANDLE(Type, type), WTL_HANDLE(Comm, comm), bytes)

#endif
