/* lifeline.c - ends this process when its launcher has ended, and ends a launcher that hangs. */
#include "node/lifeline.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "node/ancestor.h"
#include "node/stale_files.h"
#include "node/tcp_timeout.h"
#include "os/os.h"

static bool is_cleaner;
static _Atomic bool is_cut;
static pid_t parent;

/* Returns whether this is the first process of its node in an Open MPI job of several nodes. */
static bool answers_for_daemon(void)
{
  const char *n = getenv("OMPI_COMM_WORLD_SIZE"), *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE"),
             *rank = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  return n && here && rank && strcmp(n, here) != 0 && strcmp(rank, "0") == 0;
}

static void limit_daemon(unsigned ms)
{
  pid_t daemon = answers_for_daemon() ? wtl_ancestor_launcher() : 0;
  if (daemon) wtl_tcp_timeout_set(daemon, ms);
}

/* Runs when the library is loaded. So a launcher that ends before shmem_init ends this process, too. */
__attribute__((constructor)) static void tie_to_parent(void)
{
  if (WTL_OS_PES_ARE_THREADS) return; /* a test, which no launcher started */
  parent = getppid();
  if (!getenv("PMIX_NAMESPACE") && !(getenv("PMI_RANK") && getenv("PMI_FD"))) return; /* no launcher */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  /* The launcher ended between the two calls, or before the first one. */
  if (getppid() != parent || wtl_stale_files_orphaned(getenv("PMIX_SERVER_TMPDIR"))) {
    wtl_message_print("the launcher that started this process has ended");
    _exit(WTL_EXIT_UNAVAILABLE);
  }
  limit_daemon(WTL_TCP_UNANSWERED_MS);
}

void wtl_lifeline_network_is_up(void)
{
  if (!WTL_OS_PES_ARE_THREADS) limit_daemon(0);
}

void wtl_lifeline_handed_over(bool cleaner)
{
  is_cut = false;
  is_cleaner = cleaner;
  if (cleaner) prctl(PR_SET_PDEATHSIG, 0);
}

void wtl_lifeline_cut(void)
{
  is_cut = true;
}

void wtl_lifeline_back(void)
{
  if (!is_cleaner) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(WTL_EXIT_UNAVAILABLE); /* the launcher ended in between */
}

void wtl_lifeline_launcher_lost(void)
{
  if (!is_cut) {
    wtl_message_print("the launcher has ended; this PE ends, too");
    /* The parent of the dead launcher may need a moment to collect it. */
    for (int i = 0; is_cleaner && i < 20 && !wtl_stale_files_remove(getenv("PMIX_SERVER_TMPDIR")); i++) usleep(50000);
  }
  _exit(WTL_EXIT_UNAVAILABLE);
}

/* Sends no SIGTERM first: Open MPI's mpirun crashes on it while it is aborting. */
void wtl_lifeline_end_launcher(void)
{
  pid_t launcher = WTL_OS_PES_ARE_THREADS ? 0 : wtl_ancestor_launcher();
  int fd = launcher ? (int)syscall(SYS_pidfd_open, launcher, 0)
                    : -1; /* the process number may soon belong to another process */
  if (fd < 0 || fork() != 0) return;
  setsid(); /* the launcher ends its PEs by their process groups */
  sleep(3);
  syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
  _exit(0);
}
