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

/*
 * The calling thread serves others, a moment at a time: it asks for the shortest time slices the scheduler gives, 0.1 ms,
 * and so for a core before those who compute, when it is woken. It gets no more of the core than before. Linux 6.12 and
 * later; others do not know of it, and it changes nothing.
 */
void wtl_thread_be_prompt(void);

#endif
