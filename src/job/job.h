/*
 * job.h - the life of a PE: its start, its end, and the end of the whole job.
 *
 * The start and the end are collective. Between them the PE is found through wtl_self (pgas/pe.h).
 */
#ifndef WTL_JOB_JOB_H
#define WTL_JOB_JOB_H

#include "pgas/pe.h"

/* Starts this PE. `calls`: the front end's table of calls, for the profile. Ends the process with a message if it
 * cannot. Each further call is counted. */
void wtl_job_start(int thread_level, enum wtl_front front, const wtl_call_info *calls);

/* Ends this PE at the last of as many calls as there were starts: writes the profile and leaves the job. */
void wtl_job_stop(void);

/* Ends this PE by a call of the program other than the front end's, whatever the number of starts. A later call of the
 * front end's own is no mistake then. */
void wtl_job_stop_with(const char *call);

/* Ends the whole job with `status`. */
void wtl_job_exit(int status) __attribute__((noreturn));

#endif
