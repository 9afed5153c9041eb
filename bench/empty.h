/*
 * empty.h - the common part of two minimal programs, empty.c for OpenSHMEM and alone.c for PMIx alone. All other
 * costs of a job are the same for both.
 *
 *   PROGRAM            start, finish; each PE prints one JSON line with its times
 *   PROGRAM hold FIFO  start, barrier, wait until FIFO has a writer, finish. Each PE prints "held PE PID" after the
 *                      barrier. It then sleeps in the kernel, so that its memory can be measured.
 *
 * It prints without stdio, whose buffers would count as the library's memory.
 */
#ifndef BENCH_EMPTY_H
#define BENCH_EMPTY_H

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "clocks.h"

enum { HOLD_SECONDS = 900 }; /* after this time the process that holds the FIFO must have failed */

/* One write, so that the lines of several PEs do not mix. */
static void say(const char *line)
{
  if (write(STDOUT_FILENO, line, strlen(line)) < 0) _exit(74);
}

static void hold(int pe, const char *fifo)
{
  char line[64];
  snprintf(line, sizeof line, "held %d %ld\n", pe, (long)getpid());
  say(line);
  alarm(HOLD_SECONDS);
  int fd = open(fifo, O_RDONLY); /* returns when a process opens it for writing */
  alarm(0);
  if (fd < 0) _exit(74);
  close(fd);
}

/* Prints when this PE began, was ready and had finished, in seconds of the machine's monotonic clock. */
static void tell_times(int pe, double began, double ready, double leaving, double finished)
{
  char line[200];
  snprintf(line, sizeof line,
           "{\"test\": \"empty\", \"pe\": %d, \"began_s\": %.6f, \"init_s\": %.6f, \"finalize_s\": %.6f, "
           "\"ended_s\": %.6f}\n",
           pe, began, ready - began, finished - leaving, finished);
  say(line);
}

#endif
