/* Threads that wait in MPI at the same time, and how far MPI lets them. Each prints what it got. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 200 };
static int me, sums[THREADS];

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
    sums[id] += got;
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
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, talk, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  }
  printf("%d: level %d %d, sums %d %d %d\n", me, provided, asked, sums[0], sums[1], sums[2]);
  MPI_Finalize();
  return 0;
}
