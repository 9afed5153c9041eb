/* job_mpi.c - implements job.h by MPI. */
#include "job.h"

#include <mpi.h>

void job_begin(int *argc, char ***argv)
{
  MPI_Init(argc, argv);
}

void job_end(void)
{
  MPI_Finalize();
}

int job_me(void)
{
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  return me;
}

int job_n_pes(void)
{
  int n;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

void job_barrier(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
}

void job_gather(const void *mine, size_t bytes, void *all)
{
  MPI_Gather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void job_broadcast(void *data, size_t bytes)
{
  MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

int64_t job_sum(int64_t mine)
{
  int64_t all;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

void *job_shared(size_t count, size_t size)
{
  return job_calloc(count, size);
}

void job_shared_free(void *p)
{
  free(p);
}

void job_abort(int code)
{
  MPI_Abort(MPI_COMM_WORLD, code);
  abort();
}
