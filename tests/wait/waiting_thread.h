/*
 * waiting_thread.h - shows that a thread of another process waits: it is asleep, or it has used CPU time. Neither
 * depends on how fast the machine is.
 */
#ifndef WTL_TESTS_WAITING_THREAD_H
#define WTL_TESTS_WAITING_THREAD_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads the state letter and the CPU ticks of a thread from /proc. `thread`: its process and its thread id. Returns
 * false if they cannot be read. */
static inline bool look_at(const long thread[2], char *state, long *ticks)
{
  char path[64], text[512], *after;
  unsigned long user, system;
  snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", thread[0], thread[1]);
  FILE *f = fopen(path, "re");
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  if (f) fclose(f);
  text[n] = '\0';
  after = strrchr(text, ')');
  if (!after || sscanf(after + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", state, &user, &system) != 3)
    return false;
  *ticks = (long)(user + system);
  return true;
}

/* Returns once the thread, which has announced that it is about to wait, waits. `look` says how that looks: asleep,
 * busy, or either. Two looks, because a thread may sleep for a moment for another reason. */
static inline void await_waiting_thread(const long thread[2], const char *look)
{
  char state = '?';
  long first = 0, now = 0;
  int asleep = 0;
  if (!look_at(thread, &state, &first)) return;
  for (;;) {
    usleep(500);
    if (!look_at(thread, &state, &now)) return;
    asleep = state == 'S' ? asleep + 1 : 0;
    if (strcmp(look, "busy") != 0 && asleep >= 2) return;
    if (strcmp(look, "asleep") != 0 && now >= first + 2) return;
  }
}

#endif
