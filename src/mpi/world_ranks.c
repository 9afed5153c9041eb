/* world_ranks.c - translates ranks of communicators to ranks of MPI_COMM_WORLD, for the counts by partner and for the
 * governor's groups. */
#include <stdlib.h>

#include "base/hash.h"
#include "mpi/mpi_front.h"

/* The ranks of a communicator's processes in MPI_COMM_WORLD; of an intercommunicator, those of the other group. It is
 * an attribute of the communicator, so MPI frees it with that. */
typedef struct wtl_mpi_ranks {
  uint64_t key; /* their hash */
  int n;
  int world[]; /* -1: of another MPI_COMM_WORLD */
} ranks;

static _Atomic uint32_t freed; /* communicators so far */

static int free_ranks(MPI_Comm comm, int keyval, void *value, void *state)
{
  (void)comm, (void)keyval, (void)state;
  atomic_fetch_add(&freed, 1);
  free(value);
  return MPI_SUCCESS;
}

static ranks *translate(MPI_Comm comm)
{
  MPI_Group group, world;
  int n = 0;
  if ((wtl_mpi_is_inter(comm) ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS)
    return NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_size(group, &n);
  ranks *found = malloc(sizeof *found + (size_t)n * sizeof(int));
  int *own = calloc((size_t)n + 1, sizeof *own);
  for (int i = 0; own && i < n; i++) own[i] = i;
  if (found && own && PMPI_Group_translate_ranks(group, n, own, world, found->world) == MPI_SUCCESS) {
    found->n = n;
    for (int i = 0; i < n; i++)
      if (found->world[i] == MPI_UNDEFINED) found->world[i] = -1;
    found->key = wtl_hash(WTL_HASH_NONE, found->world, (size_t)n * sizeof(int));
  } else {
    free(found);
    found = NULL;
  }
  free(own);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return found;
}

static const ranks *ranks_of(MPI_Comm comm)
{
  static int keyval = MPI_KEYVAL_INVALID;
  void *known = NULL;
  int found = 0;
  if (keyval == MPI_KEYVAL_INVALID &&
      PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_ranks, &keyval, NULL) != MPI_SUCCESS)
    return NULL;
  if (PMPI_Comm_get_attr(comm, keyval, &known, &found) != MPI_SUCCESS) return NULL;
  if (found) return known;
  ranks *made = translate(comm);
  if (made && PMPI_Comm_set_attr(comm, keyval, made) == MPI_SUCCESS) return made;
  free(made);
  return NULL;
}

/* The thread keeps the last ones. Another communicator may get the handle of one that was freed. */
static const ranks *last_ranks(MPI_Comm comm)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  uint32_t now = atomic_load_explicit(&freed, memory_order_relaxed);
  if (t->translated != comm || t->freed != now || !t->ranks) {
    t->translated = comm;
    t->freed = now;
    t->ranks = ranks_of(comm);
  }
  return t->ranks;
}

uint64_t wtl_mpi_group_key(MPI_Comm comm)
{
  const ranks *all = last_ranks(comm);
  return all ? all->key : 0;
}

int wtl_mpi_world_rank(MPI_Comm comm, int rank)
{
  if (comm == MPI_COMM_NULL || !comm) return -1;
  const ranks *all = last_ranks(comm);
  return all && rank < all->n ? all->world[rank] : -1;
}
