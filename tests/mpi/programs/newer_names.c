/* Says which calls of MPI 4 the MPI of the process has, as a program that is built for several MPIs asks: by weak
 * references and by dlsym. It makes the call that it finds. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION < 4
int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
#endif
#pragma weak MPI_Bcast_c
#pragma weak MPI_Session_flush_buffer_c
extern int MPI_Session_flush_buffer_c(void);

int main(int argc, char **argv)
{
  static int (*volatile broadcast)(void *, MPI_Count, MPI_Datatype, int, MPI_Comm);
  int rank, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) value = 7;
  broadcast = MPI_Bcast_c;
  if (broadcast)
    broadcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  else
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const char *names[] = {"MPI_Bcast", "MPI_Bcast_c", "MPI_Isendrecv", "MPI_Session_init", "MPI_Session_flush_buffer_c"};
  for (int i = 0; rank == 1 && i < 5; i++) printf("%s %d\n", names[i], dlsym(RTLD_DEFAULT, names[i]) != NULL);
  if (rank == 1) printf("weak %d %d, value %d\n", broadcast != NULL, MPI_Session_flush_buffer_c != NULL, value);
  MPI_Finalize();
  return 0;
}
