/*
 * Which reductions may become their non-blocking twin.
 *
 * MPI lets an implementation add in any order, and asks only that the same call gives the same result again. An MPI may
 * use another algorithm, and so another order, for MPI_Iallreduce than for MPI_Allreduce; then a sum of floating-point
 * numbers could differ in its last bits between the plain program and the same under this library. Two cases cannot:
 * integers, whose operations do not depend on the order, and two processes, of which there is one pair.
 *
 * And long ones stay as they are because twins are slower there: a sum of 2 MiB by two processes took 219 us and
 * 355 us by its twin under Open MPI 4.1.4, 261 and 349 us under MPICH 4.0.2; up to 256 KiB MPICH's were alike
 * (docs/decisions/0013-mpi-blocking-calls.md). Those of an intercommunicator do, too, whatever their length: who stands
 * beside the root may give another one, and all must do the same.
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
  if (!wtl_mpi_self->plain_reductions || comm == MPI_COMM_NULL || !comm) return false;
  if (!is_predefined(op)) return true;
  PMPI_Comm_size(comm, &n);
  return n > 2 && !is_integer(type);
}
