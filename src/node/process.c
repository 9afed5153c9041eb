/* process.c - reads the state of a process and the moment of its start from /proc. */
#include "node/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

long wtl_process_in_proc(void)
{
  char number[32] = "";
  return readlink("/proc/self", number, sizeof number - 1) > 0 ? atol(number) : 0;
}

uint64_t wtl_process_namespace(void)
{
  struct stat st;
  return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

uint64_t wtl_process_start_of(long pid)
{
  char path[64], line[1024], *rest;
  unsigned long long start = 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  FILE *f = fopen(path, "re");
  if (f && fgets(line, sizeof line, f) && (rest = strrchr(line, ')')) != NULL)
    sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &start);
  if (f) fclose(f);
  return start;
}

bool wtl_process_is_gone(int pid)
{
  char path[64], line[1024], *rest, state = '?';
  FILE *f;
  if (kill(pid, 0) != 0) return errno == ESRCH;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  if ((f = fopen(path, "re")) == NULL) return false;
  if (fgets(line, sizeof line, f) && (rest = strrchr(line, ')')) != NULL) sscanf(rest, ") %c", &state);
  fclose(f);
  return state == 'Z' || state == 'X';
}

bool wtl_process_sees_all(void)
{
  char name[64] = ""; /* the first namespace has a fixed name */
  return readlink("/proc/self/ns/pid", name, sizeof name - 1) > 0 && strcmp(name, "pid:[4026531836]") == 0;
}
