/* own_loops.c - a program that polls in a loop of its own, on a core that it shares, yields to the PE that it waits
 * for; one that finds new values does not. */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <shmem.h>

static long yields; /* of this PE, by the library */

int sched_yield(void)
{
  yields++;
  return (int)syscall(SYS_sched_yield);
}

enum { CALLS = 10000000, ENOUGH = 5 };
static long *word;
static int me, failures;

static void get(void)
{
  shmem_long_g(word, me);
}
static void fetch(void)
{
  shmem_long_atomic_fetch(word, me);
}
static void fence(void)
{
  shmem_fence();
}
static void quiet(void)
{
  shmem_quiet();
}
static void count(void)
{
  shmem_long_p(word, shmem_long_g(word, me) + 1, me);
}

static void expect(const char *name, void (*poll)(void), bool yields_there)
{
  long before = yields;
  for (long i = 0; i < (yields_there ? CALLS : CALLS / 100) && yields < before + ENOUGH; i++) poll();
  if ((yields >= before + ENOUGH) == yields_there) return;
  fprintf(stderr, "PE %d, %s: %ld yields\n", me, name, yields - before);
  failures++;
}

int main(void)
{
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) {
    printf("skipped: this machine does not let its programs use core 0\n");
    return 77;
  }
  shmem_init();
  me = shmem_my_pe();
  word = shmem_calloc(1, sizeof *word);
  if (me == 0) {
    expect("shmem_long_g of a word that stays", get, true);
    expect("shmem_long_atomic_fetch of a word that stays", fetch, true);
    expect("shmem_fence", fence, true);
    expect("shmem_quiet", quiet, true);
    expect("a word that changes", count, false);
  }
  shmem_barrier_all();
  shmem_finalize();
  return failures > 0;
}
