/* MPI calls of many kinds: each has the result that it must have, else the job ends with 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void must(int holds, const char *what)
{
  if (holds) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* MPI calls it, on a stack that does not belong to the rank. */
static void larger(void *in, void *inout, int *n, MPI_Datatype *type)
{
  int bytes;
  MPI_Type_size(*type, &bytes);
  for (int i = 0; i < *n; i++)
    if (((int *)in)[i] > ((int *)inout)[i]) ((int *)inout)[i] = ((int *)in)[i] + bytes - (int)sizeof(int);
}

static void messages(void)
{
  int got = -1, left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Status status;
  MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
  must(got == left && status.MPI_SOURCE == left, "Sendrecv");
  if (rank == 0)
    for (int i = 1; i < size; i++) {
      MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      must(got == status.MPI_SOURCE && status.MPI_TAG == 2 + got, "Recv from any source");
    }
  else
    MPI_Ssend(&rank, 1, MPI_INT, 0, 2 + rank, MPI_COMM_WORLD);
  enum { LONG = 200000 }; /* bytes: its sender waits for its receiver */
  char *there = calloc(LONG, 1), *back = calloc(LONG, 1);
  MPI_Request request[2];
  there[LONG - 1] = (char)rank;
  MPI_Irecv(back, LONG, MPI_CHAR, left, 3, MPI_COMM_WORLD, &request[0]);
  MPI_Isend(there, LONG, MPI_CHAR, right, 3, MPI_COMM_WORLD, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  must(back[LONG - 1] == (char)left, "a long message");
  free(there);
  free(back);
}

static void tests(void)
{
  int got = -1, flag = 0;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  must(got == (rank + size - 1) % size, "Test");
}

static void collectives(void)
{
  int sum = 0, most = 0, root = rank == 0 ? 42 : 0, *all = calloc((size_t)size, sizeof *all);
  MPI_Op op;
  MPI_Op_create(larger, 1, &op);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&rank, &most, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Bcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  must(sum == size * (size - 1) / 2 && most == size - 1 && root == 42, "Allreduce, Bcast");
  for (int i = 0; i < size; i++) must(all[i] == i, "Allgather");
  MPI_Op_free(&op);
  free(all);
}

static void communicators(void)
{
  MPI_Comm half, ring;
  int in_half, n_half, periodic = 1, source, dest, alone;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_rank(half, &in_half);
  MPI_Comm_size(half, &n_half);
  must(in_half == rank / 2 && n_half == (size + 1 - rank % 2) / 2, "Comm_split");
  MPI_Comm_size(MPI_COMM_SELF, &alone);
  must(alone == 1, "MPI_COMM_SELF");
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Cart_shift(ring, 0, 1, &source, &dest);
  must(source == (rank + size - 1) % size && dest == (rank + 1) % size, "Cart_shift");
  MPI_Comm_free(&half);
  MPI_Comm_free(&ring);
}

static void windows(void)
{
  int *mine;
  MPI_Win window;
  MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  *mine = -1;
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  must(*mine == (rank + size - 1) % size, "Put");
  MPI_Win_free(&window);
}

static void datatypes(void)
{
  double grid[4][4], column[4];
  MPI_Datatype type;
  for (int i = 0; i < 16; i++) grid[i / 4][i % 4] = i + 100 * rank;
  MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Sendrecv(&grid[0][1], 1, type, (rank + 1) % size, 5, column, 4, MPI_DOUBLE, (rank + size - 1) % size, 5,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; i++) must(column[i] == 4 * i + 1 + 100 * ((rank + size - 1) % size), "a column");
  MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  must(level == MPI_THREAD_SERIALIZED, "one call at a time");
  messages();
  tests();
  collectives();
  communicators();
  windows();
  datatypes();
  double now = MPI_Wtime();
  MPI_Finalize();
  if (rank == 0) printf("good at %.9f\n", now);
  return 0;
}
