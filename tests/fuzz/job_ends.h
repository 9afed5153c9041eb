/* job_ends.h - a PE that ends its job, which is one way to refuse a message: the run of the target goes on behind it. */
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

/* Its process would be gone, and with it who holds the lock. */
static inline void let_go(pthread_mutex_t *lock)
{
  pthread_mutex_trylock(lock);
  pthread_mutex_unlock(lock);
}

/* The same cookie in each run. */
ssize_t getrandom(void *to, size_t n, unsigned flags)
{
  (void)flags;
  memset(to, 0x5c, n);
  return (ssize_t)n;
}

#endif
