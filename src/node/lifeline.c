#include "node/lifeline.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/error.h"
#include "node/remains.h"

static bool is_cleaner;
static _Atomic bool is_cut;
static pid_t parent;

/* From the library's load on, so that a launcher that dies before shmem_init takes this process along too. */
__attribute__((constructor)) static void tie_to_parent(void)
{
#ifndef WTL_THREADS
  parent = getppid();
  if (!getenv("PMIX_NAMESPACE") && !(getenv("PMI_RANK") && getenv("PMI_FD"))) return; /* no launcher */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  /* It died between the two calls, or even before the first. */
  if (getppid() != parent || wtl_remains_orphaned(getenv("PMIX_SERVER_TMPDIR"))) {
    wtl_say("the launcher that started this process is gone");
    _exit(WTL_EXIT_UNAVAILABLE);
  }
#endif
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
  if (getppid() != parent) _exit(WTL_EXIT_UNAVAILABLE); /* gone meanwhile */
}

void wtl_lifeline_launcher_lost(void)
{
  if (!is_cut) {
    signal(SIGPIPE, SIG_IGN); /* standard error may be a pipe to the launcher */
    wtl_say("the launcher is gone; this PE ends with it");
    /* The launcher's corpse may need a moment to be collected. */
    for (int i = 0; is_cleaner && i < 20 && !wtl_remains_remove(getenv("PMIX_SERVER_TMPDIR")); i++) usleep(50000);
  }
  _exit(WTL_EXIT_UNAVAILABLE);
}

void wtl_lifeline_end_launcher(void)
{
  pid_t launcher = getppid();
  static const int signals[] = {SIGTERM, SIGKILL}; /* a second SIGTERM makes Open MPI's mpirun crash */
  if (launcher <= 1 || fork() != 0) return;
  setsid(); /* the launcher ends its PEs by their process groups */
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    sleep(3);
    if (kill(launcher, signals[i]) != 0) break;
  }
  _exit(0);
}
