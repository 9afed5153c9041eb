/* sigpipe.c - blocks SIGPIPE around writes and drops it. */
#include "base/sigpipe.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static sigset_t only_sigpipe(void)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

wtl_sigpipe wtl_sigpipe_hold(void)
{
  wtl_sigpipe before;
  sigset_t set = only_sigpipe(), pending;
  sigemptyset(&pending);
  pthread_sigmask(SIG_BLOCK, &set, &before.mask);
  sigpending(&pending);
  before.pending = sigismember(&pending, SIGPIPE) == 1;
  return before;
}

/* The kernel sends the signal to the thread that wrote, so this thread can take it. */
void wtl_sigpipe_release(const wtl_sigpipe *before)
{
  const struct timespec at_once = {0};
  sigset_t set = only_sigpipe();
  int error = errno;
  while (!before->pending && sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR) continue;
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
