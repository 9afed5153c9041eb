/*
 * empty.h - what the two emptiest programs share (empty.c for OpenSHMEM, alone.c for PMIx by itself), so that whatever
 * else a job costs is the same on both sides.
 *
 *   PROGRAM            start, finish; each PE prints one JSON line with its times
 *   PROGRAM hold FIFO  start, meet, stay until FIFO has a writer, finish; each PE prints "held PE PID" once it is past
 *                      the meeting. It then sleeps in the kernel: its memory can be looked at in peace.
 *
 * No stdio: its buffers would be counted as the library's memory.
 */
#ifndef BENCH_EMPTY_H
#define BENCH_EMPTY_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_SECONDS = 900 }; /* longer, and whoever holds is gone */

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One write, so that the lines of several PEs never mix. */
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
  int fd = open(fifo, O_RDONLY); /* returns when somebody opens it for writing */
  alarm(0);
  if (fd < 0) _exit(74);
  close(fd);
}

/* When this PE began, was ready and had finished; seconds of the machine's monotonic clock. */
static void tell(int pe, double began, double ready, double leaving, double finished)
{
  char line[200];
  snprintf(line, sizeof line,
           "{\"test\": \"empty\", \"pe\": %d, \"began_s\": %.6f, \"init_s\": %.6f, \"finalize_s\": %.6f, "
           "\"ended_s\": %.6f}\n",
           pe, began, ready - began, finished - leaving, finished);
  say(line);
}

#endif
