/* own_names.c - an MPI program with a library that has functions of its own with names of MPI's (own_names_library.c).
 * The library is linked, or loaded from the argument. Prints the results of the library's calls of its own functions. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifdef LINKED
int use_own_names(void);
#endif

int main(int argc, char **argv)
{
  int rank, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef LINKED
  int result = use_own_names();
#else
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  int (*use)(void) = library ? (int (*)(void))dlsym(library, "use_own_names") : NULL;
  int result = use ? use() : -1;
#endif
  MPI_Allreduce(&result, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
