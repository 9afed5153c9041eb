/* tcp_timeout.c - reads and limits how long TCP connections of another process wait for an acknowledgement. */
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

/* Calls `act` for the sockets of the process until it returns false. A copied descriptor refers to the same
 * socket. */
static bool for_all_sockets(pid_t pid, bool (*act)(int fd, unsigned ms), unsigned ms)
{
  char folder[64];
  bool more = true;
  snprintf(folder, sizeof folder, "/proc/%ld/fd", (long)pid);
  int process = (int)syscall(SYS_pidfd_open, pid, 0);
  DIR *d = process >= 0 ? opendir(folder) : NULL;
  for (struct dirent *e; d && more && (e = readdir(d)) != NULL;) {
    int fd = is_socket(folder, e->d_name) ? (int)syscall(SYS_pidfd_getfd, process, atoi(e->d_name), 0) : -1;
    if (fd < 0) continue;
    more = act(fd, ms);
    close(fd);
  }
  if (d) closedir(d);
  if (process >= 0) close(process);
  return more;
}

/* A socket of another protocol refuses the option. */
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
 * The age of the last acknowledgement alone is not enough: on an idle connection it is large when a first packet is
 * lost. If this node's own link is down, no packet leaves, and the kernel probes instead of sending again. Probes that
 * a peer with a full buffer answers are not counted.
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
