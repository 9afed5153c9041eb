/*
 * team_threads.c - splits teams in three threads of each PE at once, each thread those of its own team
 * (SHMEM_THREAD_MULTIPLE).
 *
 * The new teams are distinct, and no split fails because of another thread. A split does not wait for one of another
 * thread that other PEs may reach first.
 */
#include <shmem.h>

#include <pthread.h>
#include <time.h>

#include "pes.h"

enum { THREADS = 3, ROUNDS = 100 };

typedef struct caller {
  shmem_team_t parent;
  long *source, *dest; /* one element each */
  int thread, wrong, refused;
} caller;

/* Synchronizes a team of the parent's PEs start, start + stride, ..., and destroys it. */
static void use(caller *c, shmem_team_t team, int start, int stride, int round)
{
  int n = shmem_team_n_pes(team);
  *c->source = 1000L * round + 100L * c->thread + shmem_team_my_pe(c->parent);
  shmem_long_sum_reduce(team, c->dest, c->source, 1);
  c->wrong += *c->dest != n * (1000L * round + 100L * c->thread + start) + stride * (n * (n - 1L) / 2);
  shmem_team_destroy(team);
}

static void *split(void *arg)
{
  caller *c = arg;
  int n = shmem_team_n_pes(c->parent), me = shmem_team_my_pe(c->parent);
  for (int round = 0; round < ROUNDS; round++) {
    int start = (round + c->thread) % n, width = 1 + round % n;
    shmem_team_t some, row, column;
    c->refused += shmem_team_split_strided(c->parent, start, 1, n - start, NULL, 0, &some) != 0;
    if (some != SHMEM_TEAM_INVALID) use(c, some, start, 1, round);
    c->refused += shmem_team_split_2d(c->parent, width, NULL, 0, &row, NULL, 0, &column) != 0;
    if (row != SHMEM_TEAM_INVALID) use(c, row, me - me % width, 1, round);
    if (column != SHMEM_TEAM_INVALID) use(c, column, me % width, width, round);
  }
  return NULL;
}

static void *make_and_end(void *parent)
{
  shmem_team_t team;
  EXPECT(shmem_team_split_strided(*(shmem_team_t *)parent, 0, 1, shmem_n_pes(), NULL, 0, &team) == 0, "refused");
  shmem_team_destroy(team);
  return NULL;
}

/* Two threads of PE 0 come to two splits at once; the other PEs have one thread, which comes to the later one first. */
static void crossed(shmem_team_t *early, shmem_team_t *late)
{
  pthread_t id;
  shmem_barrier_all();
  if (shmem_my_pe() != 0) {
    make_and_end(late);
    make_and_end(early);
    return;
  }
  if (pthread_create(&id, NULL, make_and_end, early) != 0) shmem_global_exit(1);
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* it waits by then, most likely */
  make_and_end(late);
  pthread_join(id, NULL);
}

int main(void)
{
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  EXPECT(provided == SHMEM_THREAD_MULTIPLE, "level %d", provided);
  long *words = shmem_calloc(2 * THREADS, 64);
  caller callers[THREADS];
  pthread_t ids[THREADS];
  for (int i = 0; i < THREADS; i++) {
    callers[i] = (caller){.source = words + 16 * i, .dest = words + 16 * i + 8, .thread = i};
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &callers[i].parent) == 0, "%d", i);
  }
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&ids[i], NULL, split, &callers[i]) != 0) shmem_global_exit(1);
  for (int i = 0; i < THREADS; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < THREADS; i++)
    EXPECT(callers[i].wrong + callers[i].refused == 0, "thread %d: %d wrong sums, %d splits refused", i,
           callers[i].wrong, callers[i].refused);
  crossed(&callers[0].parent, &callers[1].parent);
  crossed(&callers[1].parent, &callers[0].parent);
  shmem_barrier_all();
  shmem_free(words);
  shmem_finalize();
  return failures != 0;
}
