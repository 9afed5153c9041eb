/* thread.h - threads of the library's own in somebody else's program. */
#ifndef WTL_BASE_THREAD_H
#define WTL_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* pthread_create for a thread that takes no signals: they are the program's. */
static inline int wtl_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int rc = pthread_create(thread, attributes, run, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return rc;
}

#endif
