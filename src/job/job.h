/*
 * job.h - the life of a PE: its start, its end, and the end of the whole job.
 *
 * DESIGN. Start and end are collective. A PE starts in this order: settings, boot, arena, wait door, active messages,
 * teams, network between nodes, governor, record. Between start and end wtl_self (pgas/pe.h) points to it. At the end
 * it completes its operations, and all PEs close their records together. Only then the parts end, about in reverse
 * order.
 *
 * Until boot is complete an error ends only this process, with a message. Later errors end the whole job
 * (wtl_pe_fail). A program that exits with status 0 and without shmem_finalize is finalized at exit.
 */
#ifndef WTL_JOB_JOB_H
#define WTL_JOB_JOB_H

#include "pgas/pe.h"

/* Starts this PE. `calls` is the front end's table of calls, for the profile. A further call only increases a count. On
 * an error the function prints a message and ends the process. */
void wtl_job_start(int thread_level, enum wtl_front front, const wtl_call_info *calls);

/* Ends this PE when it has been called as often as wtl_job_start: writes the profile and leaves the job. */
void wtl_job_stop(void);

/* Ends this PE on account of `call`, which does not belong to the front end, without regard to the number of starts.
 * The front end accepts its own end call afterwards. */
void wtl_job_stop_with(const char *call);

/* Ends the whole job with `status`. Not collective. */
void wtl_job_exit(int status) __attribute__((noreturn));

#endif
