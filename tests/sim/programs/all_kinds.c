/*
 * Each kind of communication once, checked, between PEs that all are on other nodes. Prints the simulated time at which
 * PE 0 is done; the program's own variables are symmetric, and each PE's own.
 */
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BIG = 300000 };

static long counter, slots[4];
static int private_number; /* that PEs share nothing else is shown by it */
static char from_neighbour[BIG];
static uint64_t signal_word;
static long heard;
static int me, n;

static void check(int good, const char *what)
{
  if (good) return;
  fprintf(stderr, "PE %d: %s is wrong\n", me, what);
  exit(1);
}

static void on_request(void *data, size_t bytes, int from, shmemx_am_token_t token)
{
  heard += *(long *)data;
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *in_thread(void *arg)
{
  *(int *)arg = me + 1;
  return NULL;
}

int main(int argc, char **argv)
{
  check(argv[0][0] != 0 && !argv[argc], "the command line");
  argv[0][0] = 0; /* each PE may write into its own */
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  int next = (me + 1) % n, before = (me + n - 1) % n;
  private_number = me;
  shmem_barrier_all();
  check(private_number == me, "a variable of its own");

  long mine = 100 + me;
  shmem_long_put(&slots[0], &mine, 1, next);
  shmem_barrier_all();
  check(slots[0] == 100 + before, "put of a static");
  check(shmem_long_g(&slots[0], next) == 100 + me, "get of a static");

  char *big = malloc(BIG);
  memset(big, me, BIG);
  shmem_putmem_signal(from_neighbour, big, BIG, &signal_word, 7, SHMEM_SIGNAL_SET, next);
  shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 7);
  check(from_neighbour[0] == (char)before && from_neighbour[BIG - 1] == (char)before, "a long put with a signal");

  for (int i = 0; i < 10; i++) shmem_long_atomic_add(&counter, 1, 0);
  shmem_barrier_all();
  if (me == 0) check(counter == 10L * n, "atomic additions");

  long *heap = shmem_malloc(64 * sizeof *heap), *sum = shmem_malloc(64 * sizeof *sum);
  for (int i = 0; i < 64; i++) heap[i] = me + i;
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum, heap, 64);
  check(sum[3] == (long)n * (n - 1) / 2 + 3L * n, "a sum");

  shmemx_am_attach(5, on_request);
  shmem_barrier_all();
  mine = me;
  shmemx_am_request(next, 5, &mine, sizeof mine);
  shmemx_am_quiet();
  shmem_barrier_all();
  check(heard == before, "an active message");

  static long lock, guarded;
  shmem_set_lock(&lock);
  shmem_long_p(&guarded, shmem_long_g(&guarded, 0) + 1, 0);
  shmem_quiet();
  shmem_clear_lock(&lock);
  shmem_barrier_all();
  if (me == 0) check(guarded == n, "what a lock guards");

  pthread_t thread;
  int told = 0;
  pthread_create(&thread, NULL, in_thread, &told);
  pthread_join(thread, NULL);
  check(told == me + 1, "a thread");

  shmem_barrier_all();
  if (me == 0) printf("good at %.9f\n", seconds());
  shmem_finalize();
  free(big);
  return 0;
}
