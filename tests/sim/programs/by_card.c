/*
 * by_card.c - puts and gets of PE 0 to PE 1, except `first` after the keys of its memory have come.
 *
 * usage: by_card wait SECONDS BYTES  PE 1 waits for the last of BYTES that PE 0 puts after SECONDS, and prints how long
 *        by_card times BYTES     PE 0 prints the time of a put with its quiet from memory that is used for the first
 *                                time, of the same again, of a get into that memory, and of a blocking put alone
 *        by_card never           PE 1 waits for a word that no PE puts
 *        by_card first           PE 1 waits for bytes that PE 0 puts as soon as the keys come, which PE 1 makes meanwhile
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1 << 20 };
static long flag, other;
static _Alignas(64) char room[MOST];
static long *const last = (long *)(void *)(room + MOST - sizeof(long));

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double lap(double *since)
{
  double t = now(), took = t - *since;
  *since = t;
  return took;
}

static int print_times(size_t n)
{
  char *from = aligned_alloc(4096, MOST);
  double took[4], t = now();
  for (size_t i = 0; i < n; i++) from[i] = (char)i;
  t = now();
  shmem_putmem(room, from, n, 1);
  shmem_quiet();
  took[0] = lap(&t);
  shmem_putmem(room, from, n, 1);
  shmem_quiet();
  took[1] = lap(&t);
  memset(from, 0, n);
  t = now();
  shmem_getmem(from, room, n, 1);
  took[2] = lap(&t);
  shmem_putmem(room, from, n, 1);
  took[3] = lap(&t);
  int wrong = 0;
  for (size_t i = 0; i < n; i++) wrong |= from[i] != (char)i;
  printf("us %.4f %.4f %.4f %.4f\n", 1e6 * took[0], 1e6 * took[1], 1e6 * took[2], 1e6 * took[3]);
  free(from);
  return wrong;
}

static void wait_for(double seconds, size_t n)
{
  static char from[MOST];
  double t = now();
  if (shmem_my_pe() == 0) {
    from[n - sizeof(long)] = 1;
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)}, NULL);
    shmem_putmem(room + MOST - n, from, n, 1);
    shmem_quiet();
  } else {
    shmem_long_wait_until(last, SHMEM_CMP_EQ, 1);
    printf("us %.4f\n", 1e6 * lap(&t));
  }
}

int main(int argc, char **argv)
{
  int wrong = 0;
  shmem_init();
  const char *how = argc > 1 ? argv[1] : "";
  for (int i = 0; i < 2 && shmem_my_pe() == 0 && strcmp(how, "first"); i++) {
    shmem_putmem(room, room, 1, 1);
    shmem_long_p(&other, 1, 1);
    shmem_quiet(); /* the keys have come */
  }
  shmem_barrier_all();
  if (!strcmp(how, "wait")) wait_for(atof(argv[2]), strtoul(argv[3], NULL, 10));
  if (!strcmp(how, "times") && shmem_my_pe() == 0) wrong = print_times(strtoul(argv[2], NULL, 10));
  if (!strcmp(how, "first") && shmem_my_pe() == 0) {
    shmem_putmem_nbi(room, room, MOST, 1);
    shmem_quiet();
    *last = 1;
    shmem_putmem(room, room, MOST, 1);
  } else if (!strcmp(how, "first")) {
    shmem_long_wait_until(last, SHMEM_CMP_EQ, 1);
  }
  if (!strcmp(how, "never") && shmem_my_pe() == 1) shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
  shmem_finalize();
  return wrong;
}
