/*
 * job.h - the little that every mini-app needs of its library besides what it shows: begin, end, meet, gather on PE 0.
 * job_shmem.c and job_mpi.c are the two that do it. Every call is made by all PEs together.
 */
#ifndef APPS_JOB_H
#define APPS_JOB_H

#include <stddef.h>
#include <stdint.h>

void job_begin(int *argc, char ***argv);
void job_end(void);
int job_me(void);
int job_n_pes(void);
void job_barrier(void);

/* Everyone's `mine`, one after the other, to PE 0's `all`; on others `all` may be NULL. */
void job_gather(const void *mine, size_t bytes, void *all);

/* PE 0's on every PE. */
void job_broadcast(void *data, size_t bytes);

/* The sum of everyone's, on every PE. */
int64_t job_sum(int64_t mine);

/* Ends every PE, at once; the caller has said why. */
_Noreturn void job_abort(int code);

#endif
