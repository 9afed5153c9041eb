/*
 * A tool as others are: it defines calls of MPI, counts them, and calls the MPI by PMPI_X. With BY_DLSYM it searches the
 * next MPI_X instead. Each process prints its counts in MPI_Finalize, in order of the ranks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int inits, reductions, scans, gathers, finalizes;

#ifdef BY_DLSYM
#define NEXT(name) (*(__typeof__(&MPI_##name) *)&(void *){dlsym(RTLD_NEXT, "MPI_" #name)})
#else
#define NEXT(name) PMPI_##name
#endif

int MPI_Init(int *argc, char ***argv)
{
  inits++;
  return NEXT(Init)(argc, argv);
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  reductions++;
  return NEXT(Allreduce)(in, out, n, type, op, comm);
}

int MPI_Scan(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  scans++;
  return NEXT(Scan)(in, out, n, type, op, comm);
}

int MPI_Gather(const void *in, int n, MPI_Datatype t, void *out, int n2, MPI_Datatype t2, int root, MPI_Comm comm)
{
  gathers++;
  return NEXT(Gather)(in, n, t, out, n2, t2, root, comm);
}

int MPI_Finalize(void)
{
  int mine[5] = {inits, reductions, scans, gathers, ++finalizes}, all[5 * 64], me, n;
  PMPI_Comm_rank(MPI_COMM_WORLD, &me);
  PMPI_Comm_size(MPI_COMM_WORLD, &n);
  PMPI_Gather(mine, 5, MPI_INT, all, 5, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; me == 0 && i < 5 * n; i++) printf("%d%s", all[i], i % 5 == 4 ? "\n" : " ");
  fflush(stdout);
  return NEXT(Finalize)();
}
