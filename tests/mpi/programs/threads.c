/* Threads that wait in MPI at the same time, and how far MPI lets them. Each prints what its threads got. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 200 };
static int me, sums[THREADS];
static MPI_Comm own[THREADS]; /* collective calls of threads must not meet */

/* A value that the first process has, the sum over both, and a barrier. */
static int collect(MPI_Comm comm, int i)
{
  int value = me == 0 ? i : 0, sum;
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Barrier(comm);
  return sum;
}

/* Sent and received by requests, one of them looked for before. */
static int request(MPI_Comm comm, int i)
{
  int got[2];
  MPI_Request sent[2], came;
  MPI_Status status;
  for (int k = 0; k < 2; k++) MPI_Isend(&i, 1, MPI_INT, 1 - me, k, comm, &sent[k]);
  MPI_Probe(1 - me, 1, comm, &status);
  MPI_Recv(&got[1], 1, MPI_INT, 1 - me, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
  MPI_Irecv(&got[0], 1, MPI_INT, 1 - me, 0, comm, &came);
  MPI_Wait(&came, MPI_STATUS_IGNORE);
  MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
  return got[0] + got[1];
}

static void *talk(void *arg)
{
  int id = (int)(long)arg, got;
  for (int i = 0; i < ROUNDS; i++) {
    int value = i + id;
    if (me == 0) {
      MPI_Send(&value, 1, MPI_INT, 1, id, MPI_COMM_WORLD);
      MPI_Recv(&got, 1, MPI_INT, 1, id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&got, 1, MPI_INT, 0, id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&value, 1, MPI_INT, 0, id, MPI_COMM_WORLD);
    }
    sums[id] += got + collect(own[id], i) + request(own[id], i);
  }
  return NULL;
}

int main(void)
{
  int provided, asked;
  pthread_t threads[THREADS];
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
  MPI_Query_thread(&asked);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (provided == MPI_THREAD_MULTIPLE) {
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, talk, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&own[i]);
  }
  printf("%d: level %d %d, sums %d %d %d\n", me, provided, asked, sums[0], sums[1], sums[2]);
  MPI_Finalize();
  return 0;
}
