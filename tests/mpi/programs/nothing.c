/*
 * Exchanges among all where some of it is nothing: the last process hands over nothing at all, and what has a count on
 * one side has no bytes. Then what all of them say to each other must still arrive where it belongs.
 */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 64, LENGTH = 1000, ROUNDS = 20 };
static int buffer[MOST * LENGTH], many[MOST], zero[MOST], one[MOST], at[MOST];
static MPI_Datatype ints[MOST], empty[MOST];
static int me, n, wrong;

static void fill(void)
{
  for (int i = 0; i < n * LENGTH; i++) buffer[i] = me * n + i / LENGTH;
}

/* In place, among all but the last. */
static void check(void)
{
  for (int i = 0; i < n * LENGTH; i++) {
    int from = i / LENGTH, away = me == n - 1 || from == n - 1;
    wrong += buffer[i] != (away ? me * n + from : from * n + me);
  }
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Datatype none;
  MPI_Type_contiguous(0, MPI_INT, &none);
  MPI_Type_commit(&none);
  for (int i = 0; i < n; i++) {
    many[i] = me == n - 1 || i == n - 1 ? 0 : LENGTH;
    at[i] = i * LENGTH;
    one[i] = 1;
    ints[i] = MPI_INT;
    empty[i] = none;
  }
  for (int round = 0; round < ROUNDS; round++) {
    int said = round, bytes[MOST], all[MOST];
    fill();
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, buffer, many, at, MPI_INT, MPI_COMM_WORLD);
    check();
    fill();
    for (int i = 0; i < n; i++) bytes[i] = at[i] * (int)sizeof(int);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buffer, many, bytes, ints, MPI_COMM_WORLD);
    check();
    MPI_Alltoallv(buffer, zero, zero, MPI_INT, buffer + LENGTH, one, zero, none, MPI_COMM_WORLD);
    MPI_Alltoallv(buffer, one, zero, none, buffer + LENGTH, zero, zero, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(buffer, zero, zero, ints, buffer + LENGTH, one, zero, empty, MPI_COMM_WORLD);
    MPI_Alltoallw(buffer, one, zero, empty, buffer + LENGTH, zero, zero, ints, MPI_COMM_WORLD);
    MPI_Bcast(&said, 1, MPI_INT, round % n, MPI_COMM_WORLD);
    said += me;
    MPI_Allgather(&said, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) wrong += all[i] != round + i;
  }
  printf("%d wrong\n", wrong);
  MPI_Type_free(&none);
  MPI_Finalize();
  return wrong != 0;
}
