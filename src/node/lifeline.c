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

/* From the library's load on, so that a launcher that dies before shmem_init takes this process along too. */
__attribute__((constructor)) static void tie_to_parent(void)
{
#ifndef WTL_THREADS
  pid_t parent = getppid();
  if (!getenv("PMIX_NAMESPACE")) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(WTL_EXIT_UNAVAILABLE); /* it died between the two calls */
#endif
}

void wtl_lifeline_handed_over(bool cleaner)
{
  is_cleaner = cleaner;
  if (cleaner) prctl(PR_SET_PDEATHSIG, 0);
}

void wtl_lifeline_cut(void)
{
  is_cut = true;
}

void wtl_lifeline_launcher_lost(void)
{
  if (!is_cut) {
    wtl_say("the launcher is gone; this PE ends with it");
    /* The launcher's corpse may need a moment to be collected. */
    for (int i = 0; is_cleaner && i < 20 && !wtl_remains_remove(getenv("PMIX_SERVER_TMPDIR")); i++) usleep(50000);
  }
  _exit(WTL_EXIT_UNAVAILABLE);
}
