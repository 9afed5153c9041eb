/* loaded.c - prints the names of the MPI libraries and of Wattle's modules that the process has loaded. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  char line[4096], last[4096] = "";
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE *f = rank == 0 ? fopen("/proc/self/maps", "r") : NULL;
  while (f && fgets(line, sizeof line, f)) {
    char *name = strrchr(line, '/');
    if (!name || strcmp(name, last) == 0) continue;
    strcpy(last, name);
    if (strncmp(name, "/libmpi", 7) == 0 || strncmp(name, "/libwattle-mpi-", 15) == 0) fputs(name + 1, stdout);
  }
  if (f) fclose(f);
  MPI_Finalize();
  return 0;
}
