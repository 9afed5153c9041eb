/*
 * copies.c - copies memory, and prints the seconds of a copied byte on PE 0.
 *
 * usage: copies PES BYTES...    the first PES PEs copy blocks of BYTES at the same time, again and again
 *        copies swept BYTES     PE 0 copies a block by pieces of 64 bytes, then the last 4 KiB of it once more
 *        copies just BYTES      PE 0 copies a block, and then copies the result
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 4, PAGE = 4096 };
static volatile size_t piece = 64, last = 4096; /* the compiler must not know them, or it makes no call */

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Copies `n` bytes by pieces, and returns the seconds of a byte. */
static double copy(char *to, const char *from, size_t n, size_t part)
{
  double before = now();
  for (size_t at = 0; at < n; at += part) memcpy(to + at, from + at, part);
  return (now() - before) / (double)n;
}

static void print(double seconds)
{
  if (shmem_my_pe() == 0) printf("%.6g\n", 1e9 * seconds);
}

static char *block(size_t n)
{
  char *at = aligned_alloc(PAGE, n);
  if (!at) shmem_global_exit(71);
  return at;
}

int main(int argc, char **argv)
{
  shmem_init();
  for (int i = 2; i < argc; i++) {
    size_t n = strtoul(argv[i], NULL, 10);
    char *a = block(n), *b = block(n), *c = block(n);
    double took = 0;
    shmem_barrier_all();
    if (!strcmp(argv[1], "swept")) {
      copy(b, a, n, piece);
      print(copy(b, a, n, piece));
      took = copy(b + n - last, a + n - last, last, last);
    } else if (!strcmp(argv[1], "just")) {
      print(copy(b, a, n, n));
      took = copy(c, b, n, n);
    } else if (shmem_my_pe() < atoi(argv[1])) {
      copy(b, a, n, n);
      for (int k = 0; k < TIMES; k++) took += copy(b, a, n, n) / TIMES;
    }
    shmem_barrier_all();
    print(took);
    free(a), free(b), free(c);
  }
  shmem_finalize();
  return 0;
}
