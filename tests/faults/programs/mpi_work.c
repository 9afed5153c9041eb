/* An MPI program of about SECONDS, for faults to hit. usage: mpi_work PLACE SECONDS FOLDER; places as in shmem_work.c. */
#include <mpi.h>

#include "marks.h"

static void meet_until_over(const task *t, int me, int n)
{
  int over = 0, any = 0, from_left, to_right = me;
  while (!any) {
    MPI_Sendrecv(&to_right, 1, MPI_INT, (me + 1) % n, 0, &from_left, 1, MPI_INT, (me + n - 1) % n, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    over = me == 0 && is_over(t);
    MPI_Allreduce(&over, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
}

static void wait_for_the_last(const task *t, int me, int n)
{
  int word = 0;
  if (me == n - 1) {
    while (!is_over(t)) usleep(10000);
    if (is_at(t, "crash")) crash();
    for (int to = 0; is_at(t, "wait") && to < n - 1; to++) MPI_Send(&word, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
  } else if (is_at(t, "wait")) {
    MPI_Recv(&word, 1, MPI_INT, n - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  task t = task_of(argc, argv);
  int me, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  begin(&t, me);
  if (is_at(&t, "rounds"))
    meet_until_over(&t, me, n);
  else if (is_at(&t, "compute"))
    compute(&t);
  else
    wait_for_the_last(&t, me, n);
  mark(&t, "ending", me);
  MPI_Finalize();
  mark(&t, "end", me);
  return 0;
}
