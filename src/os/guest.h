/*
 * guest.h - keeps what a call of the library may not change in the program's thread: errno, and where it may end.
 *
 * DESIGN. The program may cancel a thread (pthread_cancel) that is in a call. The thread would end at the first sleep
 * or write in the library, with its part of a barrier undone or with a lock, and other PEs would wait for ever.
 * OpenSHMEM and MPI name none of their calls as a cancellation point. So a function that declares WTL_AS_GUEST is
 * left before the thread ends. The guard takes some nanoseconds, so it belongs to functions that sleep, write or
 * call a network.
 */
#ifndef WTL_OS_GUEST_H
#define WTL_OS_GUEST_H

#include <errno.h>
#include <pthread.h>

typedef struct wtl_guest {
  int error, cancel;
} wtl_guest;

static inline wtl_guest wtl_guest_enter(void)
{
  wtl_guest found = {.error = errno};
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &found.cancel);
  return found;
}

static inline void wtl_guest_leave(const wtl_guest *found)
{
  pthread_setcancelstate(found->cancel, NULL);
  errno = found->error;
}

/* As a declaration at the beginning of a function. */
#define WTL_AS_GUEST                                                                                                   \
  __attribute__((cleanup(wtl_guest_leave), unused)) const wtl_guest wtl_guest_found = wtl_guest_enter()

#endif
