/*
 * abort_beside.c - ends the job by one thread of rank 0 while its other threads wait.
 *
 * They wait in a call without a counterpart, in a call with one, and in test loops of their own.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static MPI_Comm comm[3];
static atomic_int began;

static void *splits(void *arg)
{
  MPI_Comm part;
  atomic_fetch_add(&began, 1);
  MPI_Comm_split(comm[0], 0, 0, &part);
  return arg;
}

static void *receives(void *arg)
{
  int word;
  atomic_fetch_add(&began, 1);
  MPI_Recv(&word, 1, MPI_INT, 0, 0, comm[1], MPI_STATUS_IGNORE);
  return arg;
}

static void *tests(void *arg)
{
  int word, found = 0;
  MPI_Request request;
  MPI_Irecv(&word, 1, MPI_INT, 0, 0, comm[2], &request);
  atomic_fetch_add(&began, 1);
  while (!found) MPI_Test(&request, &found, MPI_STATUS_IGNORE);
  return arg;
}

int main(int argc, char **argv)
{
  void *(*const all[])(void *) = {splits, receives, tests};
  int me, level;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  for (int i = 0; i < 3; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
  for (int i = 0; me == 0 && i < 3; i++) pthread_create(&thread, NULL, all[i], NULL);
  while (me == 0 && atomic_load(&began) < 3) usleep(1000);
  usleep(200000); /* by then they wait, most likely */
  if (me == 0) MPI_Abort(MPI_COMM_WORLD, 9);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
