/*
 * apart.c - tests PEs that call on different teams or sets and so wait for each other for ever.
 *
 * With SHMEM_DEBUG they are named. PEs that are only late, or that alternate between teams, must not be named. 3 PEs
 * or more.
 */
#include <shmem.h>

#include <pthread.h>

#include "pes.h"

static _Thread_local long *syncs[4]; /* pSyncs */

static shmem_team_t team_of(int start, int stride, int size)
{
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team);
  return team;
}

static void nap(uint64_t us)
{
  nanosleep(&(struct timespec){.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000}, NULL);
}

/* --- for ever --- */

static void world_or_team(int me, int n)
{
  shmem_team_t pair = team_of(0, 1, 2);
  (void)n;
  if (me == 1)
    shmem_team_sync(pair);
  else
    shmem_barrier_all();
}

static void world_or_shared(int me, int n)
{
  (void)n;
  if (me == 0)
    shmem_sync_all();
  else
    shmem_team_sync(SHMEM_TEAM_SHARED);
}

static void three_in_a_circle(int me, int n)
{
  shmem_team_t ab = team_of(0, 1, 2), bc = team_of(1, 1, 2), ca = team_of(0, 2, 2);
  (void)n;
  if (me < 3) shmem_team_sync(me == 0 ? ab : me == 1 ? bc : ca);
  shmem_barrier_all();
}

/* Two nodes of two PEs each. PE 0 knows nothing of the other node's numbers. */
static void a_circle_through_a_node(int me, int n)
{
  shmem_team_t to_2 = team_of(0, 2, 2), to_3 = team_of(0, 3, 2);
  (void)n;
  if (me != 1) shmem_team_sync(me == 0 ? to_2 : me == 2 ? SHMEM_TEAM_SHARED : to_3);
  shmem_barrier_all();
}

static void sum_or_destroy(int me, int n)
{
  long *x = syncs[0], *sum = syncs[1];
  shmem_team_t pair = team_of(0, 1, 2);
  (void)n;
  if (me == 0)
    shmem_team_destroy(pair);
  else
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum, x, 1);
}

static void unlike_sets(int me, int n)
{
  (void)n;
  if (me == 0) shmem_barrier(0, 0, 2, syncs[0]);
  if (me == 1) shmem_barrier(1, 0, 2, syncs[1]);
  if (me == 2) shmem_barrier(0, 1, 2, syncs[2]);
  shmem_barrier_all();
}

static void unlike_words(int me, int n)
{
  (void)n;
  if (me < 2) shmem_barrier(0, 0, 2, syncs[me]);
  shmem_barrier_all();
}

static void ended(int me, int n)
{
  shmem_team_t pair = team_of(0, 1, 2);
  (void)n;
  if (me == 1) shmem_team_sync(pair);
}

/* --- right --- */

/* Each PE is late now and then, for longer than a patience; teams meet inside of others' waits. */
static void late(int me, int n)
{
  uint64_t random = 7 + (uint64_t)me;
  shmem_team_t even = team_of(0, 2, (n + 1) / 2), odd = team_of(1, 2, n / 2), first = team_of(0, 1, 2),
               rest = team_of(2, 1, n - 2), solo = team_of(me, 1, 1);
  for (int round = 0; round < 30; round++) {
    if (next_random(&random) % 4 == 0) nap(next_random(&random) % 8000);
    shmem_team_sync(me % 2 ? odd : even);
    if (next_random(&random) % 4 == 0) nap(next_random(&random) % 8000);
    if (me < 2) shmem_barrier(0, 0, 2, syncs[round % 2]);
    shmem_team_sync(me < 2 ? first : rest);
    shmem_team_sync(solo);
    if (round % 3 == 0) shmem_barrier_all();
    if (me == 0 || me == 2) shmem_barrier(0, 1, 2, syncs[2 + round % 2]);
  }
  shmem_team_destroy(first);
  shmem_barrier_all();
}

/* PE 1 computes, PE 0 waits for it with the others. */
static void one_is_late(int me, int n)
{
  shmem_team_t all = team_of(0, 1, n);
  for (int round = 0; round < 2; round++) {
    if (me == 1) nap(round ? 100000 : 700000);
    shmem_team_sync(all);
  }
}

/* The one that is late met the others in the same team before. */
static void late_again(int me, int n)
{
  (void)n;
  shmem_barrier_all();
  if (me == 1) nap(700000);
  shmem_barrier_all();
}

#ifndef WTL_THREADS
static void *sync_on(void *team)
{
  shmem_team_sync(*(shmem_team_t *)team);
  return NULL;
}

/* PE 2 comes late to the others, one of which is in another team's call at the same time. */
static void late_threads(int me, int n)
{
  shmem_team_t all = team_of(0, 1, n), rest = team_of(1, 1, n - 1);
  pthread_t other;
  shmem_barrier_all();
  if (me == 2) nap(1200000);
  if (me > 0) pthread_create(&other, NULL, sync_on, &rest);
  shmem_team_sync(all);
  if (me > 0) pthread_join(other, NULL);
}

static void *meet_late(void *arg)
{
  shmem_team_t team = *(shmem_team_t *)arg;
  nap(100000);
  shmem_team_sync(team);
  return NULL;
}

/* Two threads of each PE meet in a team each; PE 0 comes to one of them first, PE 1 to the other. */
static void threads(int me, int n)
{
  shmem_team_t teams[2] = {team_of(0, 1, n), team_of(0, 1, n)};
  pthread_t other;
  pthread_create(&other, NULL, meet_late, &teams[me % 2]);
  shmem_team_sync(teams[1 - me % 2]);
  pthread_join(other, NULL);
}
#endif

static const struct {
  const char *name;
  void (*go)(int me, int n);
} ways[] = {
    {"world_or_team", world_or_team},
    {"world_or_shared", world_or_shared},
    {"three_in_a_circle", three_in_a_circle},
    {"a_circle_through_a_node", a_circle_through_a_node},
    {"sum_or_destroy", sum_or_destroy},
    {"unlike_sets", unlike_sets},
    {"unlike_words", unlike_words},
    {"ended", ended},
    {"late", late},
    {"one_is_late", one_is_late},
    {"late_again", late_again},
#ifndef WTL_THREADS /* where PEs are threads, they have none of their own */
    {"threads", threads},
    {"late_threads", late_threads},
#endif
};

int main(int argc, char **argv)
{
  bool several = argc > 1 && strstr(argv[1], "threads");
  int level;
  shmem_init_thread(several ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &level);
  for (int i = 0; i < 4; i++) syncs[i] = shmem_calloc(SHMEM_SYNC_SIZE, sizeof *syncs[i]); /* zeros: SHMEM_SYNC_VALUE */
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (argc > 1 && strcmp(argv[1], ways[i].name) == 0) {
      ways[i].go(shmem_my_pe(), shmem_n_pes());
      shmem_finalize();
      return failures != 0;
    }
  return 99;
}
