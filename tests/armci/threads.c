/*
 * threads.c - calls ARMCI from several threads of each process at once (MPI_THREAD_MULTIPLE).
 *
 * The calls of each thread must be in order and fenced. No update of words that all threads add to may be lost.
 *
 * usage: threads ROUNDS
 */
#include <pthread.h>

#include "armci_tests.h"

enum { THREADS = 4, N = 600, ROWS = 30, MULTIPLE = 3 };

/* Memory of each process: words that all add to, and a part for each thread of each process. */
typedef struct memory {
  double sums[N];
  long counter;
  long own[][N];
} memory;

static struct {
  int me, n, rounds;
  memory **m;
  _Atomic int failed;
} job;

#define NEED(condition, ...)                                                                                           \
  do {                                                                                                                 \
    if (!(condition) && atomic_fetch_add(&job.failed, 1) < 20) {                                                       \
      fprintf(stderr, "%s:%d: process %d: not true: %s: ", __FILE__, __LINE__, job.me, #condition);                    \
      fprintf(stderr, __VA_ARGS__);                                                                                    \
      fputc('\n', stderr);                                                                                             \
    }                                                                                                                  \
  } while (0)

/* In every second column, without blocking; then as one block. */
static void work_alone(int proc, long *there, int round)
{
  enum { WIDTH = N / ROWS, HALF = WIDTH / 2 };
  long here[N], got[N], twos[N], one = 1;
  int apart[1] = {WIDTH * 8}, packed[1] = {HALF * 8}, count[2] = {HALF * 8, ROWS};
  armci_hdl_t put, fetched;
  for (int i = 0; i < N; i++) here[i] = round * N + i, twos[i] = 2;
  ARMCI_INIT_HANDLE(&put);
  ARMCI_INIT_HANDLE(&fetched);
  ARMCI_NbPutS(here, packed, there, apart, count, 1, proc, &put);
  ARMCI_Wait(&put);
  ARMCI_Fence(proc);
  ARMCI_AccS(ARMCI_ACC_LNG, &one, twos, packed, there, apart, count, 1, proc);
  ARMCI_NbGetS(there, apart, got, packed, count, 1, proc, &fetched);
  ARMCI_Wait(&fetched);
  for (int i = 0; i < HALF * ROWS; i++) NEED(got[i] == here[i] + 2, "%d is %ld, not %ld", i, got[i], here[i] + 2);
  ARMCI_Put(here, there, N * 8, proc);
  ARMCI_Get(there, got, N * 8, proc);
  NEED(memcmp(here, got, sizeof got) == 0, "not what was put");
}

static void *work(void *arg)
{
  int thread = (int)(intptr_t)arg;
  double ones[N], one = 1;
  long old;
  for (int i = 0; i < N; i++) ones[i] = 1;
  for (int round = 0; round < job.rounds; round++)
    for (int k = 0; k < job.n; k++) {
      int proc = (job.me + thread + k) % job.n;
      memory *there = job.m[proc];
      ARMCI_Acc(ARMCI_ACC_DBL, &one, ones, there->sums, sizeof ones, proc);
      ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, &there->counter, 1, proc);
      work_alone(proc, there->own[job.me * THREADS + thread], round);
    }
  ARMCI_AllFence();
  return NULL;
}

int main(int argc, char **argv)
{
  pthread_t threads[THREADS];
  job.rounds = argc > 1 ? atoi(argv[1]) : 10;
  ARMCI_Init_thread(MULTIPLE);
  job.me = armci_msg_me();
  job.n = armci_msg_nproc();
  size_t bytes = sizeof(memory) + sizeof(long[N]) * THREADS * (size_t)job.n;
  REQUIRE(job.m = calloc((size_t)job.n, sizeof *job.m));
  NEED(ARMCI_Malloc((void **)job.m, (armci_size_t)bytes) == 0, "no memory");
  memset(job.m[job.me], 0, bytes);
  ARMCI_Barrier();
  for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  ARMCI_Barrier();
  long want = (long)job.rounds * THREADS * job.n;
  for (int i = 0; i < N; i++)
    NEED(job.m[job.me]->sums[i] == (double)want, "%d: %g of %ld", i, job.m[job.me]->sums[i], want);
  NEED(job.m[job.me]->counter == want, "%ld of %ld", job.m[job.me]->counter, want);
  ARMCI_Free(job.m[job.me]);
  ARMCI_Finalize();
  free(job.m);
  return job.failed != 0;
}
