/*
 * streams.c - runs small collectives one after the other, without synchronization between them.
 *
 * Each must return its own bytes, however far apart the PEs are. At moments that common random numbers choose, a PE
 * sleeps or all PEs call a barrier. Before that, a root goes on while no other PE has arrived.
 *
 * usage: streams SEED ROUNDS
 */
#include <shmem.h>
#include <unistd.h>

#include "rounds.h"

enum { MOST_WORDS = 8, NAP_US = 300 }; /* 48 bytes and less go by a cache line, more go another way */

/* A word of PE `pe` in a round. */
static uint64_t word_of(uint64_t round, int pe, int i)
{
  uint64_t state = round * 1000003 + (uint64_t)pe * 101 + (uint64_t)i + 1;
  return next_random(&state);
}

static uint64_t sum_of(uint64_t round, int pes, int i)
{
  uint64_t sum = 0;
  for (int pe = 0; pe < pes; pe++) sum += word_of(round, pe, i);
  return sum;
}

/* Random numbers that all PEs draw alike. */
typedef struct draw {
  uint64_t round;
  int words, root, late; /* late: the PE that sleeps, or -1 */
  bool sums, meets;
} draw;

static draw next_draw(uint64_t *random, uint64_t round, int pes)
{
  uint64_t what = next_random(random) % 400; /* mostly a broadcast from PE 0, which runs ahead */
  draw d = {.round = round, .late = -1, .sums = what < 6, .meets = what == 6};
  d.words = what == 7 ? MOST_WORDS : 1 + (int)(next_random(random) % 6);
  if (what >= 8 && what < 20) d.root = (int)(next_random(random) % (uint64_t)pes);
  if (what >= 20 && what < 24) d.late = (int)(next_random(random) % (uint64_t)pes);
  return d;
}

static void go_through(const draw *d, uint64_t *dest, uint64_t *source)
{
  int me = shmem_my_pe(), pes = shmem_n_pes();
  unsigned long long round = d->round;
  if (d->late == me) usleep(NAP_US);
  if (d->meets) shmem_barrier_all();
  for (int i = 0; i < d->words; i++) source[i] = word_of(round, me, i);
  if (d->sums)
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, dest, source, (size_t)d->words);
  else
    shmem_uint64_broadcast(SHMEM_TEAM_WORLD, dest, source, (size_t)d->words, d->root);
  for (int i = 0; i < d->words; i++) {
    if (d->sums)
      EXPECT(dest[i] == sum_of(round, pes, i), "round %llu: word %d of the sum", round, i);
    else
      EXPECT(dest[i] == word_of(round, d->root, i), "round %llu: word %d from PE %d", round, i, d->root);
  }
}

static void one(uint64_t *random, uint64_t round, uint64_t *dest, uint64_t *source)
{
  draw d = next_draw(random, round, shmem_n_pes());
  go_through(&d, dest, source);
}

/* The others begin when the root has reported its end. */
static void the_root_goes_on(void)
{
  uint64_t *words = shmem_calloc(3, sizeof *words), *told = words + 2;
  words[0] = 42;
  if (shmem_my_pe() != 0) shmem_uint64_wait_until(told, SHMEM_CMP_EQ, 1);
  shmem_uint64_broadcast(SHMEM_TEAM_WORLD, words + 1, words, 1, 0);
  for (int pe = 1; shmem_my_pe() == 0 && pe < shmem_n_pes(); pe++) shmem_uint64_p(told, 1, pe);
  EXPECT(words[1] == 42, "the root's word is %llu", (unsigned long long)words[1]);
  shmem_barrier_all();
  shmem_free(words);
}

int main(int argc, char **argv)
{
  shmem_init();
  the_root_goes_on();
  return in_rounds(argc, argv, 1000, MOST_WORDS, one);
}
