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

static bool is_socket(const char *folder, const char *name)
{
  char path[320], target[16] = "";
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return readlink(path, target, sizeof target - 1) > 0 && strncmp(target, "socket:", 7) == 0;
}

/* Until `visit` says false of a socket of the process. A copy of a descriptor is the same socket. */
static bool for_all_sockets(pid_t pid, bool (*visit)(int fd, unsigned ms), unsigned ms)
{
  char folder[64];
  bool goes_on = true;
  snprintf(folder, sizeof folder, "/proc/%ld/fd", (long)pid);
  int process = (int)syscall(SYS_pidfd_open, pid, 0);
  DIR *d = process >= 0 ? opendir(folder) : NULL;
  for (struct dirent *e; d && goes_on && (e = readdir(d)) != NULL;) {
    int fd = is_socket(folder, e->d_name) ? (int)syscall(SYS_pidfd_getfd, process, atoi(e->d_name), 0) : -1;
    if (fd < 0) continue;
    goes_on = visit(fd, ms);
    close(fd);
  }
  if (d) closedir(d);
  if (process >= 0) close(process);
  return goes_on;
}

/* A socket that is not TCP's refuses the option. */
static bool set_one(int fd, unsigned ms)
{
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
  return true;
}

void wtl_tcp_timeout_set(pid_t pid, unsigned ms)
{
  for_all_sockets(pid, set_one, ms);
}

/*
 * On a connection that was idle, nothing has come for long when a first try is lost. Where this node's own link is down,
 * nothing leaves, and the kernel probes instead of sending again; probes that are answered, by one who takes nothing at
 * present, are not counted.
 */
enum { TRIES = 5 };

static bool is_answered(int fd, unsigned ms)
{
  struct tcp_info info;
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return true;
  bool is_tried = info.tcpi_retransmits >= TRIES || info.tcpi_probes >= TRIES;
  return !is_tried || info.tcpi_last_ack_recv < ms;
}

bool wtl_tcp_is_unanswered(pid_t pid, unsigned ms)
{
  return !for_all_sockets(pid, is_answered, ms);
}
