/*
 * spawn.c - starts two processes of itself, makes one communicator of all, and calls collectives on it, on a copy and
 * on the parents' own. Prints "sum S" for each round from the first parent.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int sum_on(MPI_Comm comm)
{
  int one = 1, sum = 0, rank;
  MPI_Comm_rank(comm, &rank);
  usleep(rank == 0 ? 2000 : 0); /* the others wait */
  MPI_Barrier(comm);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Bcast(&sum, 1, MPI_INT, 0, comm);
  return sum;
}

int main(int argc, char **argv)
{
  MPI_Comm parent, between, all, copy, part;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  else
    between = parent;
  MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
  MPI_Comm_dup(all, &copy);
  MPI_Comm_split(all, parent != MPI_COMM_NULL, 0, &part); /* the parents' own, and the children's */
  MPI_Comm_rank(all, &rank);
  for (int round = 0; round < 20; round++) {
    int sum = 1000 * sum_on(all) + 100 * sum_on(copy) + 10 * sum_on(part) + sum_on(MPI_COMM_WORLD);
    if (rank == 0 && round == 19) printf("sum %d\n", sum);
  }
  MPI_Comm_free(&part);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&between);
  MPI_Finalize();
  return 0;
}
