/* sigpipe.c - blocks SIGPIPE and SIGXFSZ around writes and drops them. */
#include "base/sigpipe.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static sigset_t of_writes(void)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigaddset(&set, SIGXFSZ);
  return set;
}

wtl_sigpipe wtl_sigpipe_hold(void)
{
  wtl_sigpipe before;
  sigset_t set = of_writes();
  sigemptyset(&before.pending);
  pthread_sigmask(SIG_BLOCK, &set, &before.mask);
  sigpending(&before.pending);
  return before;
}

/* The kernel sends both signals to the thread that wrote, so this thread can take them. */
void wtl_sigpipe_release(const wtl_sigpipe *before)
{
  const struct timespec at_once = {0};
  sigset_t set = of_writes();
  int error = errno;
  if (sigismember(&before->pending, SIGPIPE)) sigdelset(&set, SIGPIPE);
  if (sigismember(&before->pending, SIGXFSZ)) sigdelset(&set, SIGXFSZ);
  while (sigtimedwait(&set, NULL, &at_once) > 0 || errno == EINTR) continue;
  pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
  errno = error;
}

static void do_nothing(int signal)
{
  (void)signal;
}

void wtl_sigpipe_outlive(void)
{
  struct sigaction a = {.sa_handler = do_nothing, .sa_flags = SA_RESTART}; /* execve resets a handler to the default */
  sigemptyset(&a.sa_mask);
  sigaction(SIGPIPE, &a, NULL);
}

ssize_t wtl_write(int fd, const void *from, size_t n)
{
  wtl_sigpipe before = wtl_sigpipe_hold();
  ssize_t written = write(fd, from, n);
  wtl_sigpipe_release(&before);
  return written;
}
