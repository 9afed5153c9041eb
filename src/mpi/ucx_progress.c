/*
 * ucx_progress.c - observes the MPI's progress in UCX.
 *
 * An MPI over UCX makes progress by ucp_worker_progress, which returns whether anything happened. A library calls
 * functions of another one through slots of its own. The MPI's slots for that name lead to this file instead. Other
 * users of UCX in the process, perhaps with another copy of it, are left alone.
 *
 * After an event the rest of the call is another wait, under either MPI. So the target of many small one-sided calls
 * polls for the next one. It does not serve a batch of them at the end of each sleep.
 *
 * Without an event MPICH over UCX, as Debian has it, is idle. It polls its own shared memory separately, so this may be
 * wrong, as the result of a test may be. The door notices that by the time until the next call. Open MPI also uses
 * other networks, and reports that it is idle by sched_yield (yield_hook.c).
 *
 * MPICH spins. In its start and end, where no wait door is, an idle process yields the core here, as those of Open MPI
 * do. Where ranks outnumber cores, each of their collective calls there took some time slices.
 */
#include "mpi/mpi_front.h"

#ifndef WTL_SIM

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/call_slot.h"

typedef unsigned progress(void *worker);

static unsigned observed_progress(void *worker);
static wtl_call_slot slot = {.name = "ucp_worker_progress", .replacement = (void *)observed_progress};

/* With MPI_THREAD_MULTIPLE MPICH holds a lock here that its other threads need, so no thread sleeps then. */
static unsigned observed_progress(void *worker)
{
  unsigned events = ((progress *)slot.own)(worker);
  if (events && wtl_mpi_here.is_unchanged)
    wtl_mpi_progressed();
  else if (events)
    wtl_mpi_here.result = WTL_TEST_PROGRESS;
  else if (WTL_MPI_IS_MPICH && wtl_mpi_here.is_unchanged && wtl_mpi_self && !wtl_mpi_self->door.is_shared)
    wtl_mpi_idle();
  else if (WTL_MPI_IS_MPICH && wtl_mpi_here.yields)
    syscall(SYS_sched_yield);
  return events;
}

/* --- the objects --- */

/* Returns whether the object is the library with MPI's calls, at `mpi`, or a component of Open MPI, which Open MPI
 * loads for itself alone. */
static bool is_of_mpi(const struct dl_phdr_info *object, const void *mpi)
{
  const char *slash = strrchr(object->dlpi_name, '/'), *file = slash ? slash + 1 : object->dlpi_name;
  if (mpi && mpi == (const void *)object->dlpi_addr) return true;
  return WTL_MPI_IS_OPEN_MPI && (strncmp(file, "mca_", 4) == 0 || strncmp(file, "libmca_", 7) == 0);
}

static int hook_object(struct dl_phdr_info *object, size_t size, void *mpi)
{
  (void)size;
  if (is_of_mpi(object, mpi)) wtl_slot_redirect(object, &slot, 1);
  return 0;
}

void wtl_mpi_hook_ucx_progress(void)
{
  Dl_info where = {0};
  void *init = dlsym(RTLD_DEFAULT, "PMPI_Initialized");
  if (init) dladdr(init, &where);
  dl_iterate_phdr(hook_object, where.dli_fbase);
}

#else

void wtl_mpi_hook_ucx_progress(void) {}

#endif
