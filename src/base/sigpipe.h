/*
 * sigpipe.h - writes without ending the program.
 *
 * A write to a pipe or socket without a reader raises SIGPIPE, and a write beyond the limit on the size of files
 * SIGXFSZ. Both end a process that does not handle them. The handling belongs to the program, so it is not changed.
 */
#ifndef WTL_BASE_SIGPIPE_H
#define WTL_BASE_SIGPIPE_H

#include <signal.h>
#include <sys/types.h>

/* The signals of a thread before wtl_sigpipe_hold. */
typedef struct wtl_sigpipe {
  sigset_t mask, pending;
} wtl_sigpipe;

/* Blocks both signals in this thread. For calls into libraries that write; all other code uses wtl_write. */
wtl_sigpipe wtl_sigpipe_hold(void);

/* Drops those that came since, and restores the thread's mask. Keeps errno. */
void wtl_sigpipe_release(const wtl_sigpipe *before);

/* For our own programs, at their start: SIGPIPE no longer ends this process. Programs that it executes or starts have
 * the default handling. So the exit code of an error arrives even if its message is not read. */
void wtl_sigpipe_outlive(void);

/* Does write(2), but with an error (EPIPE, EFBIG) in place of a signal. Also for signal handlers. */
ssize_t wtl_write(int fd, const void *from, size_t n);

#endif
