/* error.c - writes messages to standard error. */
#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/sigpipe.h"
#include "os/guest.h"
#include "os/locale.h"

static _Thread_local int thread_pe = -1; /* threads build: each PE is a thread */
static _Atomic int process_pe = -1;
static _Atomic bool names_ranks;

void wtl_message_pe(int pe)
{
  thread_pe = pe;
  process_pe = pe;
  names_ranks = false;
}

void wtl_message_rank(int rank)
{
  if (process_pe >= 0) return;
  wtl_message_pe(rank);
  names_ranks = true;
}

const char *wtl_message_noun(void)
{
  return names_ranks ? "rank" : "PE";
}

void wtl_message_print(const char *format, ...)
{
  WTL_LOCALE_APART;
  WTL_AS_GUEST;
  char line[2048];
  int pe = thread_pe >= 0 ? thread_pe : process_pe;
  int at = pe >= 0 ? snprintf(line, sizeof line, "wattle: %s %d: ", wtl_message_noun(), pe)
                   : snprintf(line, sizeof line, "wattle: ");
  va_list args;
  va_start(args, format);
  vsnprintf(line + at, sizeof line - (size_t)at - 1, format, args);
  va_end(args);
  size_t length = strlen(line);
  line[length++] = '\n';
  /* One write, so that lines of several PEs do not mix. A failed write cannot be reported. */
  if (wtl_write(STDERR_FILENO, line, length) < 0) return;
}

void wtl_message_linger(void)
{
  const struct timespec step = {.tv_nsec = 1000000};
  struct stat s;
  int unread;
  if (fstat(STDERR_FILENO, &s) != 0 || !S_ISFIFO(s.st_mode)) return;
  for (int steps = 0; steps < 500 && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; steps++)
    nanosleep(&step, NULL);
}
