/*
 * reduction_order.c - decides which reductions may become their non-blocking counterpart.
 *
 * MPI lets an implementation add in any order. It only requires that the same call gives the same result again. An MPI
 * may use another algorithm, and so another order, for MPI_Iallreduce than for MPI_Allreduce. The last bits of a
 * floating-point sum could then differ from those of the plain program. Two cases are safe: integers, whose operations
 * do not depend on the order, and two processes, which have only one order.
 *
 * Long reductions stay unchanged because their counterparts are slower. A sum of 2 MiB by two processes took 219 us
 * under Open MPI 4.1.4, and 355 us by its counterpart. Under MPICH 4.0.2 it took 261 us and 349 us; up to 256 KiB there
 * was no difference (docs/decisions/0013-mpi-blocking-calls.md).
 *
 * Reductions of an intercommunicator always stay unchanged. Processes in the root's group may pass another length than
 * the others, but all processes must decide alike.
 */
#include "mpi/mpi_front.h"

enum { LONG_BYTES = 131072 };

static bool is_integer(MPI_Datatype type)
{
  const MPI_Datatype integers[] = {
      MPI_INT,     MPI_LONG,     MPI_LONG_LONG, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
      MPI_INT32_T, MPI_INT64_T,  MPI_UINT32_T,  MPI_UINT64_T, MPI_SHORT,         MPI_UNSIGNED_SHORT,
      MPI_INT8_T,  MPI_INT16_T,  MPI_UINT8_T,   MPI_UINT16_T, MPI_SIGNED_CHAR,   MPI_UNSIGNED_CHAR,
      MPI_C_BOOL,  MPI_BYTE,     MPI_AINT,      MPI_OFFSET,   MPI_COUNT,         MPI_INTEGER,
      MPI_LOGICAL, MPI_INTEGER1, MPI_INTEGER2,  MPI_INTEGER4, MPI_INTEGER8};
  for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
    if (type == integers[i]) return true;
  return false;
}

static bool is_predefined(MPI_Op op)
{
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN,  MPI_PROD, MPI_LAND,   MPI_BAND,
                        MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
    if (op == ops[i]) return true;
  return false;
}

bool wtl_mpi_order_matters(MPI_Op op, MPI_Datatype type, MPI_Comm comm, uint64_t bytes)
{
  int n = 0;
  if (wtl_mpi_is_inter(comm) || bytes > LONG_BYTES) return true;
  if (comm == MPI_COMM_NULL || !comm) return false;
  if (!is_predefined(op)) return true;
  PMPI_Comm_size(comm, &n);
  return n > 2 && !is_integer(type);
}
