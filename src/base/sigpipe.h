/*
 * sigpipe.h - writes that cannot end the program. A write to a pipe or socket without a reader raises SIGPIPE, which
 * ends a process that does not handle it. The program's handling of the signal is its own, so it is not changed.
 */
#ifndef WTL_BASE_SIGPIPE_H
#define WTL_BASE_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* How a thread stood to SIGPIPE before it was held. */
typedef struct wtl_sigpipe {
  sigset_t mask;
  bool pending;
} wtl_sigpipe;

/* Blocks SIGPIPE in this thread. Around calls into libraries that write; everything else uses wtl_write. */
wtl_sigpipe wtl_sigpipe_hold(void);

/* Drops a SIGPIPE that came since, and sets the thread's mask back. Keeps errno. */
void wtl_sigpipe_release(const wtl_sigpipe *before);

/*
 * For programs of our own, at their start: SIGPIPE ends this process no more, and a program that it becomes or starts has
 * the signal as by default again. So the exit code of an error arrives where nobody reads the error.
 */
void wtl_sigpipe_outlive(void);

/* write(2), but for a reader that is gone there is only the error EPIPE. In a signal handler, too. */
ssize_t wtl_write(int fd, const void *from, size_t n);

#endif
