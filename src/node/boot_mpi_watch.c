/*
 * boot_mpi_watch.c - ends a PE that MPI booted when its launcher ends. MPICH's proxies leave their processes behind
 * when they are killed.
 *
 * The kernel's parent-death signal (lifeline.c) misses PEs that were started through a shell.
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "node/ancestor.h"
#include "node/boot_mpi.h"
#include "node/lifeline.h"
#include "os/os.h"

static void *watch(void *arg)
{
  struct pollfd p = {.fd = (int)(intptr_t)arg, .events = POLLIN};
  while (poll(&p, 1, -1) <= 0) continue;
  wtl_lifeline_launcher_lost();
}

bool wtl_boot_mpi_watch_launcher(void)
{
  static bool watching;
  pid_t launcher = watching ? 0 : wtl_ancestor_launcher();
  int fd = launcher ? (int)syscall(SYS_pidfd_open, launcher, 0) : -1;
  pthread_attr_t attributes;
  pthread_t thread;
  if (fd < 0) return watching;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  watching = wtl_thread_start(&thread, &attributes, watch, (void *)(intptr_t)fd) == 0;
  pthread_attr_destroy(&attributes);
  if (!watching) close(fd);
  return watching;
}
