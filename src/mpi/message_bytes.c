/* message_bytes.c - counts the bytes that a call passes to MPI. */
#include "mpi/mpi_front.h"

/*
 * The datatypes that most programs use, and their sizes. They exist as long as the MPI, so a handle keeps its size. A
 * call of the MPI for each size would take as long as the rest of the wrapper of a short call.
 */
enum { TYPE_BITS = 7, TYPE_SLOTS = 1 << TYPE_BITS };
static struct known_type {
  MPI_Datatype type;     /* 0: free */
  _Atomic uint32_t size; /* 0: not asked yet */
} known_types[TYPE_SLOTS];

/* Returns the slot of the datatype, or a free one. Less than half of the slots are in use. */
static struct known_type *slot_of(MPI_Datatype type)
{
  uint32_t i = (uint32_t)((uint64_t)(uintptr_t)type * 0x9e3779b97f4a7c15u >> (64 - TYPE_BITS));
  while (known_types[i].type && known_types[i].type != type) i = (i + 1) % TYPE_SLOTS;
  return &known_types[i];
}

void wtl_mpi_note_types(void)
{
  /* clang-format off */
  const MPI_Datatype types[] = {
#ifndef WTL_MPI_ABI /* its header has those that this library uses */
    MPI_PACKED, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_FLOAT, MPI_DOUBLE, MPI_C_BOOL,
    MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_2INT, MPI_DOUBLE_INT,
    MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
    MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_CHARACTER, MPI_LOGICAL, MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION,
    MPI_COMPLEX, MPI_DOUBLE_COMPLEX,
#endif
    MPI_BYTE, MPI_CHAR, MPI_INT, MPI_UNSIGNED, MPI_INT64_T, MPI_UINT64_T};
  /* clang-format on */
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i] != MPI_DATATYPE_NULL) slot_of(types[i])->type = types[i];
}

uint64_t wtl_mpi_type_size(MPI_Datatype type)
{
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL || !type) return 0;
  struct known_type *known = slot_of(type);
  uint32_t bytes = known->type ? atomic_load_explicit(&known->size, memory_order_relaxed) : 0;
  if (WTL_LIKELY(bytes)) return bytes;
  PMPI_Type_size_x(type, &size);
  if (known->type && size > 0) atomic_store_explicit(&known->size, (uint32_t)size, memory_order_relaxed);
  return size > 0 ? (uint64_t)size : 0;
}

bool wtl_mpi_is_inter(MPI_Comm comm)
{
  int inter = 0;
  if (comm != MPI_COMM_NULL && comm) PMPI_Comm_test_inter(comm, &inter);
  return inter != 0;
}

/*
 * Open MPI 4.1's MPI_Ialltoallv and MPI_Ialltoallw decide by values that only the calling process knows. With
 * MPI_IN_PLACE, a process that exchanges no data returns without taking a tag, and later operations hang because tags
 * differ. A block with a count but no bytes is received and never sent, or the reverse, if the other side's count is 0.
 * The non-blocking neighbourhood collectives deliver the data of the wrong edge if a process is a neighbour twice, as
 * in a ring of one or two.
 */
bool wtl_mpi_counterpart_may_fail(MPI_Comm comm)
{
  return WTL_MPI_IS_OPEN_MPI || wtl_mpi_is_inter(comm);
}

uint64_t wtl_mpi_size(MPI_Comm comm)
{
  int n = 0;
  if (comm == MPI_COMM_NULL || !comm) return 0;
  if (wtl_mpi_is_inter(comm))
    PMPI_Comm_remote_size(comm, &n);
  else
    PMPI_Comm_size(comm, &n);
  return (uint64_t)n;
}

static int rank_of(MPI_Comm comm)
{
  int rank = -1;
  if (comm != MPI_COMM_NULL && comm) PMPI_Comm_rank(comm, &rank);
  return rank;
}

bool wtl_mpi_is_root(int root, MPI_Comm comm)
{
  if (root == MPI_ROOT) return true;
  return root >= 0 && comm != MPI_COMM_NULL && comm && !wtl_mpi_is_inter(comm) && rank_of(comm) == root;
}

bool wtl_mpi_is_leaf(int root, MPI_Comm comm)
{
  return root >= 0 && !wtl_mpi_is_root(root, comm);
}

static MPI_Count at(wtl_mpi_array counts, uint64_t i)
{
  return counts.large ? ((const MPI_Count *)counts.at)[i] : ((const int *)counts.at)[i];
}

static uint64_t sum(wtl_mpi_array counts, uint64_t n)
{
  uint64_t total = 0;
  for (uint64_t i = 0; counts.at && i < n; i++) {
    MPI_Count count = at(counts, i);
    if (count < 0) return 0;
    total += (uint64_t)count;
  }
  return total;
}

static uint64_t sum_types(wtl_mpi_array counts, wtl_mpi_types types, uint64_t n)
{
  uint64_t total = 0;
  for (uint64_t i = 0; counts.at && types.at && i < n; i++) {
    MPI_Count count = at(counts, i);
    if (count < 0) return 0;
    if (count == 0) continue; /* its datatype is not significant */
    MPI_Datatype type =
        types.fortran ? PMPI_Type_f2c(((const MPI_Fint *)types.at)[i]) : ((const MPI_Datatype *)types.at)[i];
    total += (uint64_t)count * wtl_mpi_type_size(type);
  }
  return total;
}

uint64_t wtl_mpi_sum(wtl_mpi_array counts, MPI_Comm comm)
{
  return sum(counts, wtl_mpi_size(comm));
}

uint64_t wtl_mpi_own_count(wtl_mpi_array counts, MPI_Comm comm)
{
  int rank = rank_of(comm);
  return counts.at && rank >= 0 && !wtl_mpi_is_inter(comm) ? wtl_mpi_count(at(counts, (uint64_t)rank)) : 0;
}

uint64_t wtl_mpi_sum_types(wtl_mpi_array counts, wtl_mpi_types types, MPI_Comm comm)
{
  return sum_types(counts, types, wtl_mpi_size(comm));
}

uint64_t wtl_mpi_degree(MPI_Comm comm)
{
  int kind = MPI_UNDEFINED, n = 0, in, weighted;
  if (comm == MPI_COMM_NULL || !comm || PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) return 0;
  if (kind == MPI_CART && PMPI_Cartdim_get(comm, &n) == MPI_SUCCESS) n *= 2;
  if (kind == MPI_GRAPH) PMPI_Graph_neighbors_count(comm, rank_of(comm), &n);
  if (kind == MPI_DIST_GRAPH) PMPI_Dist_graph_neighbors_count(comm, &in, &n, &weighted);
  return (uint64_t)n;
}

uint64_t wtl_mpi_sum_degree(wtl_mpi_array counts, MPI_Comm comm)
{
  return sum(counts, wtl_mpi_degree(comm));
}

uint64_t wtl_mpi_sum_types_degree(wtl_mpi_array counts, wtl_mpi_types types, MPI_Comm comm)
{
  return sum_types(counts, types, wtl_mpi_degree(comm));
}
