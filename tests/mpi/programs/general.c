/* A request of the program's own that moves on only when its function is asked (MPICH's extension), and one of MPI's: both
 * are waited for at once. Prints how it was. */
#include <mpi.h>
#include <stdio.h>

static int asked;

static int query(void *of, MPI_Status *status)
{
  MPI_Status_set_elements(status, MPI_INT, *(int *)of);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

static int let_go(void *of)
{
  return MPI_SUCCESS;
}

static int cancel(void *of, int complete)
{
  return MPI_SUCCESS;
}

static MPI_Request requests[2];

static int ask(void *of, MPI_Status *status)
{
  if (++asked == 5) MPI_Grequest_complete(requests[0]);
  return MPI_SUCCESS;
}

static int wait_for(int n, void **of, double seconds, MPI_Status *status)
{
  while (asked < 5) ask(of[0], status);
  return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
  int me, other, elements, in = 0, of = 3;
  MPI_Status statuses[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  other = me ^ 1;
  MPIX_Grequest_start(query, let_go, cancel, ask, wait_for, &of, &requests[0]);
  MPI_Irecv(&in, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(&me, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, statuses);
  MPI_Get_elements(&statuses[0], MPI_INT, &elements);
  if (me == 0) printf("%d elements, %d came\n", elements, in);
  MPI_Finalize();
  return 0;
}
