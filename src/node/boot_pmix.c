/*
 * boot_pmix.c - boot by PMIx: Open MPI's mpirun, prterun, srun --mpi=pmix. Loads the module that calls PMIx.
 *
 * Where the module is missing, a launcher's offer of PMIx is not accepted, and boot by MPI is tried next.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library_module.h"
#include "node/boot_mpi.h"
#include "node/boot_pmix.h"
#include "node/lifeline.h"
#include "node/stale_files.h"

static char reason[512]; /* why there is no module */

/* One thread boots, so this needs no lock. */
static const wtl_boot_ops *module_ops(void)
{
  static const wtl_boot_ops *ops;
  if (ops || *reason) return ops;
  const wtl_pmix_entry *entry = wtl_library_module_load("boot-pmix", reason, sizeof reason);
  if (entry && strcmp(entry->version, WTL_VERSION) != 0) {
    snprintf(reason, sizeof reason, "libwattle-boot-pmix.so is of Wattle %s, not %s", entry->version, WTL_VERSION);
  } else if (entry) {
    entry->on_launcher_lost(wtl_lifeline_launcher_lost);
    ops = entry->ops;
  }
  return ops;
}

static bool offered(void)
{
  return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK") && module_ops();
}

static const char *note(void)
{
  return reason;
}

static int start(wtl_boot *b, char *error, size_t size)
{
  const char *session = getenv("PMIX_SERVER_TMPDIR");
  if (wtl_stale_files_foreign(session)) {
    snprintf(error, size,
             "the launcher's folder %s lies in one of another user, or one that others may write to: remove that, or "
             "name a folder of your own on all nodes with --mca orte_tmpdir_base FOLDER (docs/security.md)",
             session);
    return -1;
  }
  b->ops = module_ops(); /* for the rest of this start */
  int rc = b->ops->start(b, error, size);
  if (rc == 0) wtl_lifeline_handed_over(b->local_rank == 0);
  return rc;
}

/*
 * Open MPI 5 asks PMIx whether it has been started, and if so goes on without the number of its process, which only a
 * start returns. PMIx may be started several times. So this answers no to MPI libraries, and to others what PMIx says.
 */
int PMIx_Initialized(void)
{
  Dl_info caller;
  if (dladdr(__builtin_return_address(0), &caller) && caller.dli_fname && strstr(caller.dli_fname, "/libmpi.so"))
    return 0;
  int (*answer)(void) = (int (*)(void))dlsym(RTLD_NEXT, "PMIx_Initialized");
  return answer ? answer() : 0;
}

const wtl_boot_ops wtl_boot_pmix = {
    .name = "pmix", .offered = offered, .start = start, .is_skipped = wtl_boot_mpi_hydra_is_nearest, .note = note};
