/* passed.c - calls of files that the preload library only counts: two of set_size, one of the others. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  MPI_File file;
  MPI_Offset size = 0;
  int rank, number, seen = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  number = rank;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_size(file, 100);
  MPI_File_set_size(file, 0);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_at_all_begin(file, rank, &number, 1, MPI_INT);
  MPI_File_write_at_all_end(file, &number, MPI_STATUS_IGNORE);
  MPI_File_read_at(file, rank, &seen, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_get_size(file, &size);
  if (seen != rank || size < (rank + 1) * (MPI_Offset)sizeof number) printf("rank %d read %d\n", rank, seen);
  MPI_File_close(&file);
  if (rank == 0) puts("all as it should be");
  MPI_Finalize();
  return 0;
}
