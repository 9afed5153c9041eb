/*
 * lengths.c - runs collectives of all lengths one after the other, without synchronization between them.
 *
 * Each uses the algorithm for its length. It must not lose bytes and not leave any for the next one. All PEs draw the
 * same sequence.
 *
 * usage: lengths SEED ROUNDS
 */
#include <shmem.h>
#include <unistd.h>

#include "rounds.h"

enum { BROADCAST, FCOLLECT, COLLECT, ALLTOALL, SUM, SUM_IN_PLACE, KINDS, MOST = 40000, NAP_US = 300 };

/* Words. The ways change after 48, 504, 512, 2048, 8192, 32768 bytes, 256 KiB. */
static const size_t lengths[] = {1,    6,    7,    63,   64,   65,   250,   256,   257,
                                 1024, 1025, 4095, 4096, 4097, 8192, 32768, 32769, MOST};

typedef struct draw {
  uint64_t round;
  int kind, root, late;
  size_t n;
} draw;

static draw next_draw(uint64_t *random, uint64_t round, int pes)
{
  uint64_t bits = next_random(random);
  draw d = {.round = round, .kind = (int)(bits % KINDS), .root = (int)(bits / 16 % (uint64_t)pes), .late = -1};
  d.n = lengths[bits / 4096 % (sizeof lengths / sizeof *lengths)];
  if (bits >> 60 < 2) d.late = (int)((bits >> 40) % (uint64_t)pes);
  return d;
}

/* Word `i` of what PE `from` has, in an alltoall for PE `to`. */
static uint64_t word_of(const draw *d, int from, int to, size_t i)
{
  return (d->round * 64 + (uint64_t)from) * 0x9e3779b97f4a7c15u + (uint64_t)to * 0x94d049bb133111ebu + i;
}

/* Of a collect each PE brings a different number, and some in every other round nothing. */
static size_t brings(const draw *d, int pe)
{
  if (d->kind == COLLECT && d->round % 2 && (d->round / 2 + (uint64_t)pe) % 3 == 0) return 0;
  return d->kind == COLLECT ? d->n - d->n * (size_t)pe / 16 : d->n;
}

static void check(const draw *d, const uint64_t *dest, int from, size_t n)
{
  int me = shmem_my_pe();
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++) wrong += dest[i] != word_of(d, from, d->kind == ALLTOALL ? me : 0, i);
  EXPECT(wrong == 0, "round %llu: kind %d, %zu words from PE %d, %zu of them wrong", (unsigned long long)d->round,
         d->kind, n, from, wrong);
}

static void check_sum(const draw *d, const uint64_t *sums)
{
  size_t wrong = 0;
  for (size_t i = 0; i < d->n; i++) {
    uint64_t sum = 0;
    for (int pe = 0; pe < shmem_n_pes(); pe++) sum += word_of(d, pe, 0, i);
    wrong += sums[i] != sum;
  }
  EXPECT(wrong == 0, "round %llu: kind %d, %zu sums, %zu of them wrong", (unsigned long long)d->round, d->kind, d->n,
         wrong);
}

static void go_through(const draw *d, uint64_t *dest, uint64_t *source)
{
  int me = shmem_my_pe(), pes = shmem_n_pes();
  size_t mine = brings(d, me);
  if (d->late == me) usleep(NAP_US);
  for (int to = 0; to < (d->kind == ALLTOALL ? pes : 1); to++)
    for (size_t i = 0; i < mine; i++) source[(size_t)to * d->n + i] = word_of(d, me, to, i);
  switch (d->kind) {
  case BROADCAST: shmem_uint64_broadcast(SHMEM_TEAM_WORLD, dest, source, d->n, d->root); break;
  case FCOLLECT: shmem_uint64_fcollect(SHMEM_TEAM_WORLD, dest, source, d->n); break;
  case COLLECT: shmem_uint64_collect(SHMEM_TEAM_WORLD, dest, mine ? source : NULL, mine); break;
  case ALLTOALL: shmem_uint64_alltoall(SHMEM_TEAM_WORLD, dest, source, d->n); break;
  case SUM: shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, dest, source, d->n); break;
  default: shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, source, source, d->n);
  }
  if (d->kind == BROADCAST) check(d, dest, d->root, d->n);
  if (d->kind >= SUM) check_sum(d, d->kind == SUM ? dest : source);
  for (int pe = 0; d->kind > BROADCAST && d->kind < SUM && pe < pes; dest += brings(d, pe++))
    check(d, dest, pe, brings(d, pe));
}

static void one(uint64_t *random, uint64_t round, uint64_t *dest, uint64_t *source)
{
  draw d = next_draw(random, round, shmem_n_pes());
  go_through(&d, dest, source);
}

int main(int argc, char **argv)
{
  shmem_init();
  return in_rounds(argc, argv, 100, MOST * (size_t)shmem_n_pes(), one);
}
