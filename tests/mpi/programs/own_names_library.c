/* own_names_library.c - a library with functions of its own that have names of MPI's Fortran calls. As in R's Rmpi, it
 * calls them through a table, so the dynamic linker looks their names up in the whole program. */

int mpi_barrier(int x)
{
  return x + 1;
}

#ifdef ALL_NAMES
int MPI_BARRIER(int x)
{
  return x + 10;
}

int mpi_barrier_(int x)
{
  return x + 100;
}
#endif

static int (*const table[])(int) = {
    mpi_barrier,
#ifdef ALL_NAMES
    MPI_BARRIER,
    mpi_barrier_,
#endif
};

int use_own_names(void)
{
  int x = 0;
  for (unsigned i = 0; i < sizeof table / sizeof *table; i++) x = table[i](x);
  return x;
}
