/*
 * passive.c - tests that operations on a PE that computes make progress.
 *
 * The last PE computes until a put of PE 0 stops it. Meanwhile PE 0 puts, adds, swaps and gets: without a progress
 * agent this program hangs. Then PE 0 computes after each series of small operations, of any length, until it sees the
 * reply: the held ones must have left without a call of PE 0. Then PE 0 sleeps until a late reply comes. At the end
 * all PEs do nothing, and the CPU time and the length of both are printed.
 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LATE_S = 2, LONGEST_ROW = 40 };
static long counter, stop, answered;
static char block[4 << 20], here[sizeof block];

static double read_clock(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_seconds(void)
{
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static double seconds(void)
{
  return read_clock(CLOCK_MONOTONIC);
}

static int is_all(const char *bytes, size_t n, char value)
{
  for (size_t i = 0; i < n; i++)
    if (bytes[i] != value) return 0;
  return 1;
}

/* Sizes of every way to travel: with others, alone, and in pieces; blocking or not. */
static int transfers(int pe)
{
  int wrong = 0;
  for (size_t n = 1; n <= sizeof block; n *= 8)
    for (char nbi = 0; nbi < 2; nbi++) {
      char value = (char)(n + (size_t)nbi + 1);
      memset(here, value, n);
      (nbi ? shmem_putmem_nbi : shmem_putmem)(block, here, n, pe);
      shmem_quiet();
      memset(here, 0, n);
      (nbi ? shmem_getmem_nbi : shmem_getmem)(here, block, n, pe);
      shmem_quiet();
      wrong |= !is_all(here, n, value);
    }
  return wrong;
}

static int reach_it(int pe)
{
  int wrong = 0;
  for (int i = 0; i < 100; i++) wrong |= shmem_long_atomic_fetch_add(&counter, 1, pe) != i;
  wrong |= shmem_long_atomic_compare_swap(&counter, 100, 7, pe) != 100;
  wrong |= shmem_long_atomic_swap(&counter, 8, pe) != 7 || shmem_long_g(&counter, pe) != 8;
  wrong |= transfers(pe);
  shmem_long_p(&stop, 1, pe);
  return wrong;
}

static double compute_until(volatile long *word, long value)
{
  volatile double x = 0;
  while (*word < value) x += 1; /* no call of the library */
  return x;
}

static void send_rows(int pe)
{
  long sent = 0;
  for (int row = 1; row <= LONGEST_ROW; row++) {
    for (int i = 0; i < row; i++, sent++)
      if (row % 2)
        shmem_long_p(&counter, sent + 1, pe);
      else
        shmem_long_atomic_inc(&counter, pe);
    (void)compute_until(&answered, sent);
  }
}

static void answer_rows(void)
{
  long sent = 0;
  for (int row = 1; row <= LONGEST_ROW; row++) {
    sent += row;
    shmem_long_wait_until(&counter, SHMEM_CMP_GE, sent);
    shmem_long_p(&answered, sent, 0);
  }
}

int main(void)
{
  int wrong = 0;
  shmem_init();
  int me = shmem_my_pe(), last = shmem_n_pes() - 1;
  wrong = me == 0 && shmem_ptr(&counter, last) != NULL; /* no address reaches another node */
  shmem_barrier_all();
  if (me == 0) wrong |= reach_it(last);
  if (me == last) (void)compute_until(&stop, 1), counter = 0;
  shmem_barrier_all();
  if (me == 0) send_rows(last);
  if (me == last) answer_rows();
  shmem_barrier_all();
  double before = cpu_seconds(), start = seconds();
  if (me == last) nanosleep(&(struct timespec){.tv_sec = LATE_S}, NULL);
  shmem_barrier_all();
  if (me == 0) printf("cpu barrier %.4f in %.4f\n", cpu_seconds() - before, seconds() - start);
  before = cpu_seconds(), start = seconds();
  nanosleep(&(struct timespec){.tv_sec = LATE_S}, NULL);
  if (me == 0) printf("cpu idle %.4f in %.4f\n", cpu_seconds() - before, seconds() - start);
  shmem_finalize();
  if (wrong) fprintf(stderr, "wrong data\n");
  return wrong;
}
