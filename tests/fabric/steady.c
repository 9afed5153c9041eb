/*
 * steady.c - exchanges data with all other PEs and checks them until a file exists. usage: steady FILE
 *
 * PE 0 prints "under way" when the job runs, and the number of rounds at the end.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 200000, WARM = 10 };
static long counter, enough;
static unsigned char block[BLOCK], here[BLOCK];

static unsigned char pattern(int pe, long round, size_t i)
{
  return (unsigned char)(pe * 31 + round * 7 + (long)i + (long)(i >> 8));
}

static int is_right(const unsigned char *found, int pe, long round)
{
  for (size_t i = 0; i < BLOCK; i++)
    if (found[i] != pattern(pe, round, i)) return fprintf(stderr, "wrong data of PE %d in round %ld\n", pe, round), 0;
  return 1;
}

static int one_round(int me, int n, long round)
{
  int right = (me + 1) % n, left = (me + n - 1) % n, good;
  for (size_t i = 0; i < BLOCK; i++) here[i] = pattern(me, round, i);
  shmem_putmem_nbi(block, here, BLOCK / 2, right);
  shmem_putmem(block + BLOCK / 2, here + BLOCK / 2, BLOCK - BLOCK / 2, right);
  shmem_barrier_all();
  good = is_right(block, left, round);
  memset(here, 0, BLOCK);
  shmem_getmem(here, block, BLOCK, right);
  good &= is_right(here, me, round);
  for (int pe = 0; pe < n; pe++) shmem_long_atomic_add(&counter, 1, pe);
  shmem_barrier_all();
  good &= shmem_long_atomic_fetch(&counter, right) == (round + 1) * n;
  if (me == 0 && round == WARM) puts("under way"), fflush(stdout);
  return good;
}

int main(int argc, char **argv)
{
  long round = 0;
  int good = argc == 2;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  for (; good && !enough; round++) {
    good &= one_round(me, n, round);
    if (me == 0 && round > WARM && access(argv[1], F_OK) == 0)
      for (int pe = 0; pe < n; pe++) shmem_long_p(&enough, 1, pe);
    shmem_barrier_all();
  }
  if (me == 0) printf("%ld rounds\n", round);
  if (!good) shmem_global_exit(1);
  shmem_finalize();
  return 0;
}
