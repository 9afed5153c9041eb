/*
 * Several threads of a PE wait at once (SHMEM_THREAD_MULTIPLE): they share a bell, and none may be forgotten. Thread t
 * of each PE plays with thread t of the next: a token goes round the ring of PEs, each thread waiting for its own, and
 * all threads count into one AMO.
 *
 * usage: threads ROUNDS
 */
#include <shmem.h>

#include <pthread.h>

#include "pes.h"

enum { THREADS = 4 };

typedef struct shared {
  _Alignas(64) uint64_t token[THREADS][8]; /* a cache line each */
  _Alignas(64) uint64_t count;
} shared;

typedef struct player {
  shared *s;
  int thread, me, n;
  uint64_t rounds, wrong;
  pthread_t id;
} player;

static void *play(void *arg)
{
  player *p = arg;
  uint64_t *token = p->s->token[p->thread];
  for (uint64_t round = 1; round <= p->rounds; round++) {
    if (p->me == 0) shmem_uint64_p(token, round, (p->me + 1) % p->n);
    shmem_uint64_wait_until(token, SHMEM_CMP_GE, round);
    p->wrong += shmem_uint64_g(token, p->me) != round;
    if (p->me != 0) shmem_uint64_p(token, round, (p->me + 1) % p->n);
    shmem_uint64_atomic_inc(&p->s->count, 0);
  }
  return NULL;
}

int main(int argc, char **argv)
{
  player players[THREADS];
  int provided, joined = 0;
  uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  EXPECT(provided == SHMEM_THREAD_MULTIPLE, "level %d", provided);
  int me = shmem_my_pe(), n = shmem_n_pes();
  shared *s = shmem_align(64, sizeof *s);
  memset(s, 0, sizeof *s);
  shmem_barrier_all();
  for (int t = 0; t < THREADS; t++) {
    players[t] = (player){.s = s, .thread = t, .me = me, .n = n, .rounds = rounds};
    joined += pthread_create(&players[t].id, NULL, play, &players[t]) == 0;
  }
  EXPECT(joined == THREADS, "%d threads", joined);
  for (int t = 0; t < THREADS; t++) {
    pthread_join(players[t].id, NULL);
    EXPECT(players[t].wrong == 0, "thread %d saw %llu wrong tokens", t, (unsigned long long)players[t].wrong);
  }
  shmem_barrier_all();
  EXPECT(shmem_uint64_g(&s->count, 0) == rounds * THREADS * (uint64_t)n, "%llu counted",
         (unsigned long long)shmem_uint64_g(&s->count, 0));
  shmem_free(s);
  shmem_finalize();
  return failures != 0;
}
