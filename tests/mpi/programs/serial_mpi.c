/* serial_mpi.c - a library that replaces MPI for one process, as solvers bring it along, and with MAIN its program. */
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Comm_size(int comm, int *size);
void mpi_finalize_(int *rc);

#ifdef MAIN
int main(int argc, char **argv)
{
  int size = 0, rc = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(0, &size);
  mpi_finalize_(&rc);
  printf("size %d, rc %d\n", size, rc);
  return 0;
}
#else
int MPI_Init(int *argc, char ***argv)
{
  return 0;
}

int MPI_Comm_size(int comm, int *size)
{
  *size = 1;
  return 0;
}

void mpi_finalize_(int *rc)
{
  *rc = 0;
}
#endif
