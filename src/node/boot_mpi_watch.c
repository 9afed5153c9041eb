/*
 * A PE that MPI booted ends with its launcher: MPICH's proxies, killed, leave their processes alone.
 *
 * The kernel's parent-death signal (lifeline.c) misses PEs that were started through a shell. The launcher is the
 * nearest ancestor that lacks the variable by which it numbered this process.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "node/boot_mpi.h"
#include "node/lifeline.h"

static pid_t parent_of(pid_t pid)
{
  char path[64], line[512], *rest;
  int parent = 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
  FILE *f = fopen(path, "re");
  if (f && fgets(line, sizeof line, f) && (rest = strrchr(line, ')')) != NULL) sscanf(rest, ") %*c %d", &parent);
  if (f) fclose(f);
  return parent;
}

/* Had process `pid` the variable when it was started? One that hides its environment is none of the job's. */
static bool has_variable(pid_t pid, const char *name)
{
  char path[64], *line = NULL;
  size_t room = 0, length = strlen(name);
  bool found = false;
  snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
  FILE *f = fopen(path, "re");
  while (f && !found && getdelim(&line, &room, '\0', f) > 0)
    found = strncmp(line, name, length) == 0 && line[length] == '=';
  if (f) fclose(f);
  free(line);
  return found;
}

static pid_t find_launcher(void)
{
  static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
  pid_t pid = getppid();
  size_t i = 0;
  while (i < sizeof names / sizeof names[0] && !getenv(names[i])) i++;
  if (i == sizeof names / sizeof names[0]) return 0;
  while (pid > 1 && has_variable(pid, names[i])) pid = parent_of(pid);
  return pid > 1 ? pid : 0;
}

static void *watch(void *arg)
{
  struct pollfd p = {.fd = (int)(intptr_t)arg, .events = POLLIN};
  while (poll(&p, 1, -1) <= 0) continue;
  wtl_lifeline_launcher_lost();
}

bool wtl_mpi_watch_launcher(void)
{
  static bool watching;
  pid_t launcher = watching ? 0 : find_launcher();
  int fd = launcher ? (int)syscall(SYS_pidfd_open, launcher, 0) : -1;
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  if (fd < 0) return watching;
  sigfillset(&all); /* the program's signals are for its own threads */
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  watching = pthread_create(&thread, &attributes, watch, (void *)(intptr_t)fd) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (!watching) close(fd);
  return watching;
}
