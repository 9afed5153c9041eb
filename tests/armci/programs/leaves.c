/*
 * Programs that end without ARMCI_Finalize.
 *
 * usage: leaves mpi|exit: after MPI_Finalize, or without anything
 */
#include <armci.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
  void *p[64];
  armci_msg_init(&argc, &argv);
  ARMCI_Init_args(&argc, &argv);
  ARMCI_Malloc(p, 100);
  ARMCI_PutValueInt(1, p[armci_msg_nproc() - 1], armci_msg_nproc() - 1);
  ARMCI_Barrier();
  if (argc > 1 && strcmp(argv[1], "mpi") == 0) armci_msg_finalize();
  exit(0);
}
