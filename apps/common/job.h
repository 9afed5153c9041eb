/*
 * job.h - the operations of a job that every mini-app needs apart from the messages that it demonstrates.
 *
 * job_shmem.c and job_mpi.c implement it. All calls but job_calloc and job_abort are collective over all PEs.
 */
#ifndef APPS_JOB_H
#define APPS_JOB_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void job_begin(int *argc, char ***argv);
void job_end(void);
int job_me(void);
int job_n_pes(void);
void job_barrier(void);

/* Gathers `mine` of every PE, in order, in PE 0's `all`. On other PEs `all` may be NULL. */
void job_gather(const void *mine, size_t bytes, void *all);

/* Copies PE 0's data to every PE. */
void job_broadcast(void *data, size_t bytes);

/* The sum of `mine` over all PEs, on every PE. */
int64_t job_sum(int64_t mine);

/* Ends every PE at once. The caller has printed the reason. */
_Noreturn void job_abort(int code);

/* Zeroed memory that other PEs can access, where the versions have such. Ends the job where it runs out. */
void *job_shared(size_t count, size_t size);
void job_shared_free(void *p);

/* Zeroed memory of this PE. Ends the job where it runs out. */
static inline void *job_calloc(size_t count, size_t size)
{
  void *p = calloc(count ? count : 1, size);
  if (p) return p;
  fprintf(stderr, "PE %d: no memory for %zu x %zu bytes\n", job_me(), count, size);
  job_abort(1);
}

#endif
