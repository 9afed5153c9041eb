/* Waits for what rings no bell: tested for until it is there. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "power/check.h"
#include "wait/door.h"

typedef struct bench {
  wtl_door door;
  wtl_bell bell;
  wtl_site site;
  wtl_pace pace;
} bench;

static bench *start(const char *policy)
{
  bench *b = calloc(1, sizeof *b);
  wtl_settings settings;
  char error[512];
  setenv("WATTLE_WAIT", policy, 1);
  CHECK(wtl_settings_parse(&settings, error, sizeof error) == 0);
  wtl_door_start(&b->door, &b->bell, &settings, 1, (wtl_cores){2, 2});
  return b;
}

typedef struct thing {
  int tests, there_at; /* it is there at this test */
  bool was_there;
  int after;               /* tests after that: there must be none */
  wtl_test_result *result; /* each test says that something came; NULL: none does */
  int is_shown;            /* how often that had been heard by the next */
} thing;

static bool test(void *arg)
{
  thing *t = arg;
  if (t->was_there) t->after++;
  if (t->result && t->tests > 0 && *t->result == WTL_TEST_UNKNOWN) t->is_shown++;
  if (t->result) *t->result = WTL_TEST_PROGRESS;
  t->was_there = ++t->tests >= t->there_at;
  return t->was_there;
}

static uint64_t recorded(const bench *b)
{
  return b->door.ticks[WTL_STAGE_SPIN] + b->door.ticks[WTL_STAGE_YIELD] + b->door.ticks[WTL_STAGE_ASLEEP];
}

static void an_event_that_is_there_is_tested_for_once(void)
{
  bench *b = start("adaptive");
  thing t = {.there_at = 1};
  wtl_door_wait_by_tests(&b->door, &b->site, &b->pace, test, &t, NULL);
  CHECK(t.tests == 1 && b->site.waits == 1 && recorded(b) == 0);
  free(b);
}

static void nothing_is_tested_for_that_was_there(void)
{
  static const char *const policies[] = {"spin", "yield", "sleep", "adaptive"};
  for (int i = 0; i < 4; i++) {
    bench *b = start(policies[i]);
    thing t = {.there_at = 200};
    wtl_door_wait_by_tests(&b->door, &b->site, &b->pace, test, &t, NULL);
    CHECK(t.tests == 200 && t.after == 0 && b->site.waits == 1);
    free(b);
  }
}

static void the_time_of_a_wait_is_booked_to_site_and_process(void)
{
  bench *b = start("adaptive");
  thing t = {.there_at = 3000};
  uint64_t before = wtl_ticks();
  wtl_door_wait_by_tests(&b->door, &b->site, &b->pace, test, &t, NULL);
  uint64_t took = wtl_ticks() - before;
  CHECK(recorded(b) > 0 && recorded(b) <= took && wtl_site_waited(&b->site) == recorded(b));
  free(b);
}

static void the_policy_sleep_sleeps_between_tests_and_spin_does_not(void)
{
  bench *b = start("sleep"), *spins = start("spin");
  thing t = {.there_at = 50}, u = {.there_at = 50000};
  wtl_door_wait_by_tests(&b->door, &b->site, &b->pace, test, &t, NULL);
  wtl_door_wait_by_tests(&spins->door, &spins->site, &spins->pace, test, &u, NULL);
  CHECK(b->door.sleeps > 0 && b->site.wait_ticks[WTL_STAGE_ASLEEP] > 0);
  CHECK(spins->door.sleeps == 0 && spins->site.wait_ticks[WTL_STAGE_ASLEEP] == 0);
  free(b);
  free(spins);
}

static void the_threads_timer_slack_is_as_it_was(void)
{
  bench *b = start("sleep");
  thing t = {.there_at = 20};
  prctl(PR_SET_TIMERSLACK, 12345, 0, 0, 0);
  wtl_door_wait_by_tests(&b->door, &b->site, &b->pace, test, &t, NULL);
  CHECK(b->door.sleeps > 0 && prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == 12345);
  free(b);
}

static void a_test_that_makes_progress_makes_the_wait_poll_again(void)
{
  bench *still = start("adaptive"), *moving = start("adaptive");
  wtl_test_wait t = {0}, u = {0};
  uint64_t limit =
      (uint64_t)(10e9 /
                 wtl_clock_ns_per_tick()); /* longer than this thread may be kept from its core between two steps */
  uint64_t usual = 1000, long_test = 1000000;
  still->door.stages.learns = moving->door.stages.learns = false; /* the limit stays */
  still->door.stages.limit_ticks = moving->door.stages.limit_ticks = limit;
  wtl_door_test_failed(&still->door, &still->site, &t, &still->pace, usual);
  wtl_door_test_failed(&moving->door, &moving->site, &u, &moving->pace, usual);
  t.idle -= 2 * limit; /* as if it had been so long */
  u.idle -= 2 * limit;
  wtl_door_test_failed(&still->door, &still->site, &t, &still->pace, usual);
  wtl_door_test_failed(&moving->door, &moving->site, &u, &moving->pace, long_test);
  CHECK(still->door.sleeps == 1 && moving->door.sleeps == 0);
  wtl_door_test_wait_end(&still->door, &still->site, &t, true);
  wtl_door_test_wait_end(&moving->door, &moving->site, &u, true);
  free(still);
  free(moving);
}

/* Where it gives the core to others. */
static void time_for_which_others_had_the_core_is_not_idle(void)
{
  bench *b = start("adaptive");
  uint64_t limit = (uint64_t)(10e9 / wtl_clock_ns_per_tick());
  b->door.stages.learns = false; /* the limit stays */
  b->door.stages.limit_ticks = limit;
  b->door.stages.yields = true;
  for (int others_ticks = 1; others_ticks >= 0; others_ticks--) {
    wtl_test_wait t = {0};
    wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, 1000);
    t.idle -= 2 * limit; /* as if it had been so long */
    t.others_ticks = others_ticks ? 2 * limit : 0;
    for (int i = 0; i < 100 || (!others_ticks && b->door.sleeps == 0); i++) /* others may have the core at any turn */
      wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, 1000);
    CHECK((b->door.sleeps > 0) == !others_ticks);
    wtl_door_test_wait_end(&b->door, &b->site, &t, true);
  }
  free(b);
}

/* A wait that sleeps between tests: each test takes the given time, independent of the clock. */
static bench *asleep(wtl_test_wait *t, uint64_t usual)
{
  bench *b = start("adaptive");
  uint64_t limit = (uint64_t)(10e9 / wtl_clock_ns_per_tick());
  b->door.stages.learns = false; /* the limit stays */
  b->door.stages.limit_ticks = limit;
  wtl_door_test_failed(&b->door, &b->site, t, &b->pace, usual);
  t->idle -= 2 * limit;
  for (int i = 0; i < 10; i++) wtl_door_test_failed(&b->door, &b->site, t, &b->pace, usual);
  CHECK(b->door.sleeps == 10 && t->slept);
  return b;
}

static void after_a_sleep_one_slow_test_is_no_sign_that_something_moved_and_three_are(void)
{
  static const double slow_ns[] = {8e3, 50e3};
  for (int i = 0; i < 2; i++) {
    wtl_test_wait t = {0};
    uint64_t slow = (uint64_t)(slow_ns[i] / wtl_clock_ns_per_tick()), usual = slow / 20;
    bench *b = asleep(&t, usual);
    uint64_t idle_since = t.idle;
    wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, slow); /* the caches are cold: it polls */
    CHECK(b->door.sleeps == 10 && t.idle == idle_since);
    wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, slow);
    CHECK(t.idle == idle_since);
    wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, slow);
    CHECK(t.flows && t.idle > idle_since && t.idle == t.recorded); /* it polls as if it had just begun */
    wtl_door_test_wait_end(&b->door, &b->site, &t, true);
    free(b);
  }
}

static void after_reported_progress_a_wait_polls_at_once(void)
{
  wtl_test_wait t = {0};
  uint64_t usual = 1000;
  bench *b = asleep(&t, usual);
  t.limit = 0; /* as where the site's waits have always been long */
  t.result = WTL_TEST_PROGRESS;
  wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, usual);
  CHECK(b->door.sleeps == 10 && t.result == WTL_TEST_UNKNOWN && t.flows && t.idle == t.recorded);
  wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, usual);
  CHECK(b->door.sleeps == 10 && t.limit == b->door.stages.limit_ticks);
  wtl_door_test_wait_end(&b->door, &b->site, &t, true);
  free(b);
}

static void arrivals_are_checked_after_each_test(void)
{
  bench *b = start("adaptive");
  wtl_test_result result = WTL_TEST_PROGRESS;
  thing t = {.there_at = 3, .result = &result};
  wtl_door_wait_by_tests(&b->door, &b->site, &b->pace, test, &t, &result);
  CHECK(t.tests == 3 && t.is_shown == 2 && result == WTL_TEST_PROGRESS); /* the last was what was waited for */
  free(b);
}

/* Caches are cold, or the MPI has asked the kernel; but nothing has come. */
static void slow_tests_are_no_sign_where_they_say_that_they_found_nothing(void)
{
  wtl_test_wait t = {0};
  uint64_t slow = (uint64_t)(50e3 / wtl_clock_ns_per_tick()), usual = slow / 20;
  bench *b = asleep(&t, usual);
  uint64_t idle_since = t.idle;
  for (int i = 1; i <= 10; i++) {
    t.result = WTL_TEST_IDLE;
    wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, slow);
    CHECK(b->door.sleeps == 10u + (unsigned)i && t.idle == idle_since && !t.flows);
  }
  wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, usual); /* this one does not say it */
  CHECK(b->door.sleeps == 20 && t.flows && t.idle == t.recorded);
  wtl_door_test_wait_end(&b->door, &b->site, &t, true);
  free(b);
}

static void an_event_of_the_call_itself_starts_no_other_wait(void)
{
  bench *b = start("adaptive");
  wtl_test_wait t = {0};
  b->door.stages.learns = false;
  b->door.stages.limit_ticks = (uint64_t)(10e9 / wtl_clock_ns_per_tick());
  wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, 1000);
  t.result = WTL_TEST_PROGRESS;
  wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, 1000);
  CHECK(!t.flows);
  wtl_door_test_wait_end(&b->door, &b->site, &t, true);
  free(b);
}

static void slow_tests_with_an_idle_one_after_a_sleep_between_them_are_no_sign(void)
{
  wtl_test_wait t = {0};
  uint64_t slow = (uint64_t)(8e3 / wtl_clock_ns_per_tick()), usual = slow / 20;
  bench *b = asleep(&t, usual);
  uint64_t idle_since = t.idle;
  for (int i = 0; i < 20; i++) {
    t.slept = true;
    wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, i % 2 ? usual : slow);
    CHECK(t.idle == idle_since);
  }
  wtl_door_test_wait_end(&b->door, &b->site, &t, true);
  free(b);
}

/* The tests that follow need code that the first did not: they are slower than warm ones, and nothing has moved. */
static void some_tests_after_a_slow_one_may_be_slow_too(void)
{
  wtl_test_wait t = {0};
  uint64_t slow = (uint64_t)(8e3 / wtl_clock_ns_per_tick()), usual = slow / 20;
  bench *b = asleep(&t, usual);
  uint64_t idle_since = t.idle;
  wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, slow);
  for (int i = 0; i < 50; i++) wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, slow / 4);
  CHECK(t.idle == idle_since && !t.flows);
  wtl_door_test_wait_end(&b->door, &b->site, &t, true);
  free(b);
}

static void time_after_a_dropped_wait_is_not_recorded(void)
{
  bench *b = start("adaptive");
  wtl_test_wait t = {0};
  for (int i = 0; i < 5; i++) wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, 1000);
  uint64_t before = recorded(b);
  wtl_door_test_wait_end(&b->door, NULL, &t, false);
  CHECK(recorded(b) == before && t.idle == 0 && b->site.history.total == 0);
  wtl_door_test_wait_end(&b->door, &b->site, &t, true); /* nothing: there is no wait */
  CHECK(recorded(b) == before);
  free(b);
}

/* Another process of the node, which rings while a PE sleeps. */
typedef struct ringer {
  wtl_wakeup ring;
  _Atomic bool ended;
  pthread_t thread;
} ringer;

static void *ring_on(void *arg)
{
  ringer *r = arg;
  while (!atomic_load(&r->ended)) wtl_wakeup_others(&r->ring);
  return NULL;
}

/* Shares the wake-up cells with a PE that sleeps between its tests. No process rings yet. */
static ringer *share_ring(bench *b)
{
  ringer *r = calloc(1, sizeof *r);
  size_t bytes = (wtl_wakeup_bytes(2) + WTL_CACHE_LINE - 1) / WTL_CACHE_LINE * WTL_CACHE_LINE;
  wtl_wakeup_node *node = aligned_alloc(WTL_CACHE_LINE, bytes);
  memset((void *)node, 0, bytes);
  r->ring = (wtl_wakeup){.node = node, .n = 2, .me = 1, .only = true};
  b->door.ring = r->ring;
  b->door.ring.me = 0;
  return r;
}

static void begin_to_ring(ringer *r)
{
  CHECK(pthread_create(&r->thread, NULL, ring_on, r) == 0);
}

static void end_ringing(ringer *r)
{
  atomic_store(&r->ended, true);
  pthread_join(r->thread, NULL);
  free(r->ring.node);
  free(r);
}

static void sleep_once_more(bench *b, wtl_test_wait *t)
{
  for (uint64_t sleeps = b->door.sleeps; b->door.sleeps == sleeps;)
    wtl_door_test_failed(&b->door, &b->site, t, &b->pace, 1000);
}

/* Sleeps until there were `rings` rings. The ringing thread may not have had a core yet. */
static void sleep_until_rung(bench *b, wtl_test_wait *t, uint64_t rings)
{
  while (b->door.rings < rings) sleep_once_more(b, t);
}

static void a_ring_ends_a_sleep_and_the_site_records_it(void)
{
  wtl_test_wait t = {0};
  bench *b = asleep(&t, 1000);
  ringer *r = share_ring(b);
  begin_to_ring(r);
  sleep_until_rung(b, &t, 1);
  CHECK(t.rung);
  wtl_door_test_wait_end(&b->door, &b->site, &t, true);
  CHECK(b->site.length.rung == 1 && b->site.length.rings_needed == 0);
  end_ringing(r);
  free(b);
}

static void after_a_useless_ring_a_process_ignores_rings_for_half_its_wait(void)
{
  wtl_test_wait t = {0};
  bench *b = asleep(&t, 1000);
  ringer *r = share_ring(b);
  t.idle -= (uint64_t)(1e12 / wtl_clock_ns_per_tick()); /* a thousand seconds */
  begin_to_ring(r);
  sleep_until_rung(b, &t, 1);
  for (int i = 0; i < 10; i++) sleep_once_more(b, &t);
  CHECK(b->door.rings == 1);
  CHECK_NEAR((double)(t.no_wakeup_until - t.idle), 1.5 * (double)(t.recorded - t.idle),
             0.01 * (double)(t.recorded - t.idle));
  t.no_wakeup_until = t.recorded; /* as if it had passed */
  sleep_until_rung(b, &t, 2);
  wtl_door_test_wait_end(&b->door, &b->site, &t, false);
  end_ringing(r);
  free(b);
}

static void a_wait_that_is_over_when_a_sleep_ends_had_no_ring(void)
{
  wtl_test_wait t = {0};
  bench *b = asleep(&t, 1000);
  ringer *r = share_ring(b);
  sleep_once_more(b, &t);
  CHECK(b->door.rings == 0 && t.can_be_woken);
  wtl_door_test_wait_end(&b->door, &b->site, &t, true);
  CHECK(b->site.length.rung == 0 && b->site.length.rings_needed == 1);
  begin_to_ring(r);
  end_ringing(r);
  free(b);
}

static void beginning_to_wait_and_making_progress_ring(void)
{
  bench *b = start("adaptive");
  ringer *r = share_ring(b);
  wtl_test_wait t = {0};
  b->door.stages.learns = false; /* no interruption makes it sleep */
  b->door.stages.limit_ticks = (uint64_t)(10e9 / wtl_clock_ns_per_tick());
  _Atomic uint32_t *armed = &r->ring.node->cell[1].armed;
  for (int i = 0; i < 2; i++) {
    *armed = r->ring.node->armed = 1; /* the other sleeps */
    t.result = i == 1 ? WTL_TEST_PROGRESS : WTL_TEST_UNKNOWN;
    wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, 1000);
    CHECK(*armed == 0 && r->ring.node->armed == 0);
  }
  *armed = r->ring.node->armed = 1;
  wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, 1000);
  CHECK(*armed == 1); /* nothing new was done */
  wtl_door_test_wait_end(&b->door, &b->site, &t, true);
  begin_to_ring(r);
  end_ringing(r);
  free(b);
}

/* Where processes yield to each other, each test may take a time slice. */
static void a_long_wait_is_shown_however_few_its_tests(void)
{
  bench *b = start("yield");
  wtl_test_wait t = {0};
  b->door.live = wtl_live_start(0, 1);
  b->door.no_core.long_ticks = (uint64_t)(10e9 / wtl_clock_ns_per_tick());
  CHECK(b->door.live);
  wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, 1000);
  CHECK(!t.is_shown);
  t.began -= 2 * b->door.no_core.long_ticks;
  wtl_door_test_failed(&b->door, &b->site, &t, &b->pace, 1000);
  CHECK(t.is_shown);
  wtl_door_test_wait_end(&b->door, &b->site, &t, true);
  wtl_live_stop(b->door.live);
  free(b);
}

TESTS(TEST(a_long_wait_is_shown_however_few_its_tests), TEST(an_event_that_is_there_is_tested_for_once),
      TEST(nothing_is_tested_for_that_was_there), TEST(the_time_of_a_wait_is_booked_to_site_and_process),
      TEST(the_policy_sleep_sleeps_between_tests_and_spin_does_not), TEST(the_threads_timer_slack_is_as_it_was),
      TEST(a_test_that_makes_progress_makes_the_wait_poll_again), TEST(time_for_which_others_had_the_core_is_not_idle),
      TEST(after_a_sleep_one_slow_test_is_no_sign_that_something_moved_and_three_are),
      TEST(after_reported_progress_a_wait_polls_at_once), TEST(arrivals_are_checked_after_each_test),
      TEST(slow_tests_are_no_sign_where_they_say_that_they_found_nothing),
      TEST(an_event_of_the_call_itself_starts_no_other_wait),
      TEST(slow_tests_with_an_idle_one_after_a_sleep_between_them_are_no_sign),
      TEST(some_tests_after_a_slow_one_may_be_slow_too), TEST(time_after_a_dropped_wait_is_not_recorded),
      TEST(a_ring_ends_a_sleep_and_the_site_records_it),
      TEST(after_a_useless_ring_a_process_ignores_rings_for_half_its_wait),
      TEST(a_wait_that_is_over_when_a_sleep_ends_had_no_ring), TEST(beginning_to_wait_and_making_progress_ring))
