/*
 * ARMCI, OpenSHMEM and MPI in one process, each with work under way while the others communicate.
 *
 * usage: beside_mpi [armci|mpi|shmem [armci|mpi|shmem]]: which is initialised first, and which is finalised first
 */
#include <armci.h>
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(int good, const char *what)
{
  if (!good) ARMCI_Error(what, 3);
}

int main(int argc, char **argv)
{
  const char *first = argc > 1 ? argv[1] : "mpi", *gone = argc > 2 ? argv[2] : "shmem";
  if (strcmp(first, "armci") == 0) ARMCI_Init();
  if (strcmp(first, "shmem") == 0) shmem_init();
  MPI_Init(&argc, &argv);
  if (strcmp(first, "armci") != 0) ARMCI_Init();
  if (strcmp(first, "shmem") != 0) shmem_init();
  int me, n, value, rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  need(armci_msg_me() == me && shmem_my_pe() == me && armci_msg_nproc() == n, "processes are numbered differently");
  int to = (me + 1) % n, from = (me + n - 1) % n;
  double *sum[64], one = 1, ones[500];
  long *word = shmem_calloc(1, sizeof *word);
  ARMCI_Malloc((void **)sum, sizeof ones);
  for (int i = 0; i < 500; i++) ones[i] = 1, sum[me][i] = 0;
  ARMCI_Barrier();
  for (int round = 0; round < 20; round++) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, from, round, MPI_COMM_WORLD, &request);
    for (int q = 0; q < n; q++) ARMCI_Acc(ARMCI_ACC_DBL, &one, ones, sum[q], sizeof ones, q);
    shmem_long_atomic_inc(word, to);
    MPI_Send(&me, 1, MPI_INT, to, round, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    need(value == from, "MPI's message is another one");
  }
  ARMCI_Barrier();
  shmem_barrier_all();
  for (int i = 0; i < 500; i++) need(sum[me][i] == 20.0 * n, "accumulates were lost");
  need(*word == 20, "increments were lost");
  ARMCI_Group odd_ones;
  int members[64], k = 0;
  for (int i = me % 2; i < n; i += 2) members[k++] = i;
  ARMCI_Group_create(k, members, &odd_ones);
  MPI_Comm_rank(odd_ones.comm, &rank);
  MPI_Comm_size(odd_ones.comm, &size);
  need(rank == me / 2 && size == k, "the group's communicator has other members");
  MPI_Barrier(odd_ones.comm);
  ARMCI_Group_free(&odd_ones);
  ARMCI_Free(sum[me]);
  shmem_free(word);
  if (strcmp(gone, "mpi") == 0) MPI_Finalize();
  if (strcmp(gone, "shmem") == 0) shmem_finalize();
  int mine = me + 1; /* there is still ARMCI, or there is MPI */
  if (strcmp(gone, "armci") != 0)
    armci_msg_igop(&mine, 1, "+");
  else if (ARMCI_Finalize(), 1)
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (mine != n * (n + 1) / 2) return 4;
  if (strcmp(gone, "shmem") != 0) shmem_finalize();
  if (strcmp(gone, "armci") != 0) ARMCI_Finalize();
  if (strcmp(gone, "mpi") != 0) MPI_Finalize();
  if (me == 0) puts("all is there");
  return 0;
}
