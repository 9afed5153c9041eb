/*
 * communicators.c - makes the MPI communicators of groups. Programs that call MPI beside ARMCI take them from a group's
 * handle. The calls of MPI are in boot's module for the MPI that the program has loaded (node/boot_mpi.h).
 */
#include <string.h>

#include "armci/armci_front.h"
#include "base/error.h"
#include "base/loaded_mpi.h"
#include "node/boot_mpi.h"
#include "os/os.h"

void armci_comm_world(void *comm, size_t bytes)
{
  wtl_mpi mpi;
  memset(comm, 0, bytes);
  if (wtl_boot_mpi_of_program(&mpi)) mpi.ops->comm_world(comm);
}

bool armci_comm_is_wanted(void)
{
  wtl_mpi mpi;
  return wtl_boot_mpi_of_program(&mpi) && mpi.ops->in_use();
}

void armci_comm_make(const int *pes, int n, void *comm, size_t bytes)
{
  wtl_mpi mpi;
  memset(comm, 0, bytes);
  if (armci_comm_is_wanted() && wtl_boot_mpi_of_program(&mpi) && mpi.ops->comm_make(pes, n, comm) != 0)
    wtl_pe_fail(WTL_EXIT_UNAVAILABLE, "ARMCI: %s does not make a communicator for a group of %d processes", mpi.library,
                n);
}

void armci_comm_free(void *comm)
{
  wtl_mpi mpi;
  if (wtl_boot_mpi_of_program(&mpi) && mpi.ops->in_use()) mpi.ops->comm_free(comm);
}

bool armci_comm_confine(const WTL_MPI_COMM *comm)
{
  wtl_mpi mpi;
  if (!WTL_OS_PES_ARE_PROCESSES) return true; /* without MPI there is nothing that it could name */
  if (!wtl_boot_mpi_of_program(&mpi) || !mpi.ops->in_use()) return false;
  mpi.ops->confine(comm);
  return true;
}

bool armci_comm_place(int *me, int *n)
{
  wtl_mpi mpi;
  if (!wtl_boot_mpi_of_program(&mpi) || (*n = mpi.ops->in_use()) == 0) return false;
  *me = mpi.ops->rank();
  return true;
}

bool armci_mpi_is_threaded(void)
{
  wtl_mpi mpi;
  return wtl_boot_mpi_of_program(&mpi) && mpi.ops->is_threaded();
}

static bool mpi_begin(int *argc, char ***argv)
{
  wtl_mpi mpi;
  char why[512];
  if (!WTL_OS_PES_ARE_PROCESSES || !wtl_loaded_mpi()) return false;
  if (wtl_boot_mpi_load(&mpi, why, sizeof why) != 0) {
    wtl_message_print("armci_msg_init: starts no MPI, though the program is linked with one: %s", why);
    return false;
  }
  mpi.ops->init(argc, argv);
  return true;
}

static void mpi_end(void)
{
  wtl_mpi mpi;
  if (wtl_boot_mpi_of_program(&mpi)) mpi.ops->finalize();
}

/* Starts MPI, if the program uses one, or else the runtime, since then only the runtime knows the processes. */
void armci_msg_init(int *argc, char ***argv)
{
  armci_state *s = wtl_self ? armci_of(wtl_self) : NULL;
  if ((s && s->begun_by_messages) || mpi_begin(argc, argv)) return;
  ARMCI_Init();
  armci_of(wtl_self)->begun_by_messages = true;
}

void armci_msg_init_comm(WTL_MPI_COMM comm)
{
  if (!wtl_self && !armci_comm_confine(&comm))
    wtl_pe_fail(WTL_EXIT_USAGE, "armci_msg_init_comm: call it between MPI_Init and MPI_Finalize");
}

void armci_msg_finalize(void)
{
  armci_state *s = wtl_self ? armci_of(wtl_self) : NULL;
  if (s && s->begun_by_messages) {
    s->begun_by_messages = false;
    ARMCI_Finalize();
  }
  mpi_end();
}
