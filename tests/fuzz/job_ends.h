/* job_ends.h - replaces the end of the job, by which a PE refuses a message, with a jump back to the fuzz target. */
#ifndef WTL_TESTS_JOB_ENDS_H
#define WTL_TESTS_JOB_ENDS_H

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/random.h>

static jmp_buf where_jobs_end;

static void job_ends(int code) __attribute__((noreturn));
static void job_ends(int code)
{
  (void)code;
  longjmp(where_jobs_end, 1);
}

/* Unlocks a lock that the PE may have held at the end of its job. The process of a real PE would have ended. */
static inline void let_go(pthread_mutex_t *lock)
{
  pthread_mutex_trylock(lock);
  pthread_mutex_unlock(lock);
}

/* Makes the job's cookie the same in each run. */
ssize_t getrandom(void *to, size_t n, unsigned flags)
{
  (void)flags;
  memset(to, 0x5c, n);
  return (ssize_t)n;
}

#endif
