/* busy_receiver.c - the receiver computes longer than the sender: an imbalance, of which the sends that wait are a
 * symptom. */
#include <mpi.h>
#include <stdlib.h>

enum { LENGTH = 32768, WORK = 200000, ROUNDS = 100 };
static double data[LENGTH];

int main(int argc, char **argv)
{
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, me;
  volatile double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < (me ? 4 * WORK : WORK); i++) sum = sum * 0.5 + i;
    if (me == 0) MPI_Send(data, LENGTH, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (me == 1) MPI_Recv(data, LENGTH, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
