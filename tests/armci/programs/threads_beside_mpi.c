/*
 * threads_beside_mpi.c - calls ARMCI and MPI from several threads of each process at once.
 *
 * usage: threads_beside_mpi armci|mpi: the library that receives the request for threads. ARMCI takes the level from
 * MPI.
 */
#include <armci.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 3, N = 300, ROUNDS = 60 };

static int me, n, failed[THREADS];
static double *sums[64];

static void *work(void *arg)
{
  int thread = (int)(intptr_t)arg, value, to = (me + 1) % n, from = (me + n - 1) % n;
  double ones[N], one = 1;
  for (int i = 0; i < N; i++) ones[i] = 1;
  for (int round = 0; round < ROUNDS; round++) {
    int proc = (me + round) % n;
    ARMCI_Acc(ARMCI_ACC_DBL, &one, ones, sums[proc], sizeof ones, proc);
    MPI_Sendrecv(&round, 1, MPI_INT, to, thread, &value, 1, MPI_INT, from, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    failed[thread] += value != round;
  }
  ARMCI_AllFence();
  return NULL;
}

int main(int argc, char **argv)
{
  pthread_t threads[THREADS];
  int given, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  if (argc > 1 && strcmp(argv[1], "armci") == 0)
    ARMCI_Init_thread(MPI_THREAD_MULTIPLE);
  else
    ARMCI_Init();
  me = armci_msg_me();
  n = armci_msg_nproc();
  ARMCI_Malloc((void **)sums, N * sizeof(double));
  for (int i = 0; i < N; i++) sums[me][i] = 0;
  ARMCI_Barrier();
  for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  ARMCI_Barrier();
  for (int i = 0; i < N; i++) wrong += sums[me][i] != THREADS * ROUNDS;
  for (int t = 0; t < THREADS; t++) wrong += failed[t];
  if (wrong) fprintf(stderr, "process %d: %d wrong\n", me, wrong);
  ARMCI_Free(sums[me]);
  ARMCI_Finalize();
  MPI_Finalize();
  return given < MPI_THREAD_MULTIPLE || wrong;
}
