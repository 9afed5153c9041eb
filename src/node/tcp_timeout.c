#include "node/tcp_timeout.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_socket(const char *folder, const char *name)
{
  char path[320], target[16] = "";
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return readlink(path, target, sizeof target - 1) > 0 && strncmp(target, "socket:", 7) == 0;
}

/* A copy of the descriptor is the same socket. One that is not TCP's refuses the option. */
static void set_one(int process, int descriptor, unsigned ms)
{
  int fd = (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
  if (fd < 0) return;
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
  close(fd);
}

void wtl_tcp_timeout_set(pid_t pid, unsigned ms)
{
  char folder[64];
  snprintf(folder, sizeof folder, "/proc/%ld/fd", (long)pid);
  int process = (int)syscall(SYS_pidfd_open, pid, 0);
  DIR *d = process >= 0 ? opendir(folder) : NULL;
  for (struct dirent *e; d && (e = readdir(d)) != NULL;)
    if (is_socket(folder, e->d_name)) set_one(process, atoi(e->d_name), ms);
  if (d) closedir(d);
  if (process >= 0) close(process);
}
