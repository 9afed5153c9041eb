/*
 * job.h - the life of a PE: its start, its end, and the end of the whole job.
 *
 * Start and end are collective. Between them wtl_self (pgas/pe.h) points to the PE.
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
