/* Process 0 comes late to a group that it makes together with process 1. */
#include <armci.h>
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  ARMCI_Group g;
  int size;
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  ARMCI_Barrier();
  if (armci_msg_me() == 0) usleep(300000);
  ARMCI_Group_create(2, (int[]){1, 0}, &g);
  MPI_Comm_size(g.comm, &size);
  ARMCI_Group_free(&g);
  ARMCI_Finalize();
  MPI_Finalize();
  return size != 2;
}
