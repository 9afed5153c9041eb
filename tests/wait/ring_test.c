/* Processes that wake each other, as threads of this one. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "power/check.h"
#include "wait/peer_wakeup.h"

enum { FOR_EVER_S = 1000 }; /* a sleep that is not rung for outlasts the test */

static wtl_wakeup_node *start(int n)
{
  size_t bytes = (wtl_wakeup_bytes(n) + WTL_CACHE_LINE - 1) / WTL_CACHE_LINE * WTL_CACHE_LINE;
  void *room = aligned_alloc(WTL_CACHE_LINE, bytes);
  memset(room, 0, bytes);
  return room;
}

typedef struct sleeper {
  wtl_wakeup ring;
  bool rung;
  pthread_t thread;
} sleeper;

static void *sleep_on(void *arg)
{
  sleeper *s = arg;
  s->rung = wtl_wakeup_sleep(&s->ring, FOR_EVER_S);
  return NULL;
}

static void without_a_sleeper_there_is_no_ring(void)
{
  wtl_wakeup none = {0};
  wtl_wakeup_others(&none);
  wtl_wakeup_node *node = start(2);
  wtl_wakeup_others(&(wtl_wakeup){.node = node, .n = 2});
  CHECK(node->armed == 0 && node->cell[0].armed == 0 && node->cell[1].armed == 0);
  free(node);
}

static void a_sleep_without_a_ring_ends_by_its_time_limit(void)
{
  wtl_wakeup_node *node = start(2);
  CHECK(!wtl_wakeup_sleep(&(wtl_wakeup){.node = node, .n = 2}, 1e-3));
  CHECK(node->armed == 0 && node->cell[0].armed == 0);
  free(node);
}

/* More than one ring wakes: those that are woken ring on, as waits do (wait_by_test.c). */
static void all_sleepers_are_woken_a_few_at_a_time(void)
{
  enum { N = 11 };
  wtl_wakeup_node *node = start(N);
  wtl_wakeup ringer = {.node = node, .n = N};
  sleeper s[N];
  for (int i = 1; i < N; i++) {
    s[i] = (sleeper){.ring = {.node = node, .n = N, .me = i}};
    CHECK(pthread_create(&s[i].thread, NULL, sleep_on, &s[i]) == 0);
  }
  for (int armed = 0; armed < N - 1;) {
    armed = 0;
    for (int i = 1; i < N; i++) armed += node->cell[i].armed == 1;
  }
  CHECK(node->armed == N - 1);
  wtl_wakeup_others(&ringer);
  CHECK(node->armed > 0 && node->armed < N - 1);
  while (node->armed > 0) wtl_wakeup_others(&ringer);
  for (int i = 1; i < N; i++) {
    pthread_join(s[i].thread, NULL);
    CHECK(s[i].rung);
  }
  free(node);
}

/* The others' sleeps end by themselves. */
static void one_thread_of_a_process_is_rung_for(void)
{
  wtl_wakeup_node *node = start(1);
  sleeper first = {.ring = {.node = node, .n = 1}};
  CHECK(pthread_create(&first.thread, NULL, sleep_on, &first) == 0);
  while (node->cell[0].armed == 0) continue;
  CHECK(!wtl_wakeup_sleep(&first.ring, 1e-3));
  CHECK(node->armed == 1 && node->cell[0].armed == 1);
  wtl_wakeup_others(&first.ring);
  pthread_join(first.thread, NULL);
  CHECK(first.rung && node->armed == 0);
  free(node);
}

/* Of a process that was killed in its sleep. */
static void a_word_without_a_sleeper_is_rung_once(void)
{
  wtl_wakeup_node *node = start(2);
  node->armed = node->cell[1].armed = 1;
  wtl_wakeup_others(&(wtl_wakeup){.node = node, .n = 2});
  CHECK(node->armed == 0 && node->cell[1].armed == 0);
  free(node);
}

typedef struct pair {
  wtl_wakeup ring;
  _Atomic int *turn;
  int rounds;
} pair;

/* Takes turns: a thread rings after its own turn and sleeps until the other has had its turn. A ring that comes too
 * early is lost, so sleeps also end by a time limit. */
static void *take_turns(void *arg)
{
  pair *p = arg;
  for (int i = 0; i < p->rounds; i++) {
    while (atomic_load(p->turn) % 2 != p->ring.me) wtl_wakeup_sleep(&p->ring, 1e-3);
    atomic_fetch_add(p->turn, 1);
    wtl_wakeup_others(&p->ring);
  }
  return NULL;
}

static void rings_and_ends_of_sleeps_may_coincide(void)
{
  wtl_wakeup_node *node = start(2);
  _Atomic int turn = 0;
  pair p[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    p[i] = (pair){{.node = node, .n = 2, .me = i}, &turn, 500};
    CHECK(pthread_create(&threads[i], NULL, take_turns, &p[i]) == 0);
  }
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  CHECK(turn == 1000 && node->armed == 0 && node->cell[0].armed == 0 && node->cell[1].armed == 0);
  free(node);
}

TESTS(TEST(without_a_sleeper_there_is_no_ring), TEST(a_sleep_without_a_ring_ends_by_its_time_limit),
      TEST(all_sleepers_are_woken_a_few_at_a_time), TEST(one_thread_of_a_process_is_rung_for),
      TEST(a_word_without_a_sleeper_is_rung_once), TEST(rings_and_ends_of_sleeps_may_coincide))
