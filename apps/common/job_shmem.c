/* job_shmem.c - implements job.h by OpenSHMEM. */
#include "job.h"

#include <shmem.h>
#include <string.h>

void job_begin(int *argc, char ***argv)
{
  shmem_init();
}

void job_end(void)
{
  shmem_finalize();
}

int job_me(void)
{
  return shmem_my_pe();
}

int job_n_pes(void)
{
  return shmem_n_pes();
}

void job_barrier(void)
{
  shmem_barrier_all();
}

void *job_shared(size_t count, size_t size)
{
  void *p = shmem_calloc(count ? count : 1, size);
  if (p) return p;
  fprintf(stderr, "PE %d: no space for %zu x %zu bytes of symmetric memory; set a larger SHMEM_SYMMETRIC_SIZE\n",
          shmem_my_pe(), count, size);
  job_abort(1);
}

void job_shared_free(void *p)
{
  shmem_free(p);
}

void job_gather(const void *mine, size_t bytes, void *all)
{
  char *place = job_shared((size_t)shmem_n_pes(), bytes);
  shmem_putmem(place + bytes * (size_t)shmem_my_pe(), mine, bytes, 0);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) memcpy(all, place, bytes * (size_t)shmem_n_pes());
  shmem_free(place);
}

void job_broadcast(void *data, size_t bytes)
{
  char *place = job_shared(1, bytes);
  if (shmem_my_pe() == 0) memcpy(place, data, bytes);
  shmem_barrier_all();
  shmem_getmem(data, place, bytes, 0);
  shmem_free(place);
}

int64_t job_sum(int64_t mine)
{
  static int64_t part, total; /* symmetric */
  part = mine;
  shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, &total, &part, 1);
  return total;
}

void job_abort(int code)
{
  shmem_global_exit(code);
  abort();
}
