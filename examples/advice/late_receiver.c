/* late_receiver.c - sends work before computing, to a rank that computes before it receives, and gets an answer. */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH = 32768, WORK = 2000000, ROUNDS = 100 };
static double question[LENGTH], answer[LENGTH];

static double compute(double sum)
{
  volatile double x = sum;
  for (int i = 0; i < WORK; i++) x = x * 0.5 + i;
  return x;
}

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int round = 0; round < rounds; round++) {
    if (me == 0) {
#ifdef MENDED
      MPI_Request request;
      MPI_Isend(question, LENGTH, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
      answer[1] = compute(answer[0]);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
      MPI_Send(question, LENGTH, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); /* flaw */
      answer[1] = compute(answer[0]);
#endif
      MPI_Recv(answer, LENGTH, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (me == 1) {
      answer[0] = compute(question[0]);
      MPI_Recv(question, LENGTH, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(answer, LENGTH, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
