/*
 * gathers.c - fcollect and collect of more bytes than the leaders combine in one message. Each PE checks all bytes.
 *
 * usage: gathers N   (rounds of one call of each)
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 24 };

static long word(int pe, int i, int round)
{
  return pe * 1000003L + i * 1009L + round;
}

int main(int argc, char **argv)
{
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes(), rounds = argc > 1 ? atoi(argv[1]) : 1;
  long *from = shmem_malloc(WORDS * sizeof *from), *to = shmem_malloc((size_t)n * WORDS * sizeof *to);
  for (int round = 0; round < rounds; round++) {
    int mine = me % 3 == 0 ? 0 : 1 + (me + round) % WORDS; /* words of this PE in the collect; some have none */
    for (int i = 0; i < WORDS; i++) from[i] = word(me, i, round);
    shmem_barrier_all(); /* all have checked `to` */
    shmem_long_fcollect(SHMEM_TEAM_WORLD, to, from, WORDS);
    for (int pe = 0; pe < n; pe++)
      for (int i = 0; i < WORDS; i++)
        if (to[pe * WORDS + i] != word(pe, i, round)) {
          fprintf(stderr, "PE %d: fcollect: word %d of PE %d is %ld\n", me, i, pe, to[pe * WORDS + i]);
          shmem_global_exit(1);
        }
    shmem_barrier_all();
    shmem_long_collect(SHMEM_TEAM_WORLD, to, from, (size_t)mine);
    for (int pe = 0, at = 0; pe < n; pe++)
      for (int i = 0, count = pe % 3 == 0 ? 0 : 1 + (pe + round) % WORDS; i < count; i++, at++)
        if (to[at] != word(pe, i, round)) {
          fprintf(stderr, "PE %d: collect: word %d of PE %d is %ld\n", me, i, pe, to[at]);
          shmem_global_exit(1);
        }
  }
  shmem_finalize();
  return 0;
}
