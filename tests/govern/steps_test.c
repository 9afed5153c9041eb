/* How long a sleep between two tests may last: no clock runs, so the policy's answers are exact. */
#include "govern/steps.h"

#include "power/check.h"

enum { US = 2600 /* ticks */, MS = 1000 * US, LOOKS = 200 * US /* before the first sleep */ };

static wtl_stages stages = {.ns_per_tick = 1e3 / US, .price_s = 200e-6};
static const wtl_wait_length none;

static wtl_wait_length length_of(int n, uint64_t ticks)
{
  wtl_wait_length l = {0};
  for (int i = 0; i < n; i++) wtl_steps_waited(&l, ticks);
  return l;
}

/* A wait until `end`: when it is seen that it is over, and how many sleeps it took. */
static uint64_t wait_until(const wtl_wait_length *l, uint64_t end, int *sleeps)
{
  uint64_t now = LOOKS;
  for (*sleeps = 0; now < end; (*sleeps)++) now += wtl_steps_next(&stages, l, now);
  return now;
}

static void a_wait_gets_no_longer_by_more_than_a_sixteenth(void)
{
  for (uint64_t idle = 160 * US; idle < 100000ull * MS; idle += idle / 3)
    CHECK(wtl_steps_next(&stages, &none, idle) <= idle / 16 + 1);
}

static void no_sleep_is_longer_than_its_bounds_or_shorter_than_ten_microseconds(void)
{
  for (uint64_t length = US; length < 10000ull * MS; length *= 3) {
    wtl_wait_length l = length_of(20, length);
    for (uint64_t idle = 1; idle < 10000ull * MS; idle += idle / 3 + 1) {
      uint64_t step = wtl_steps_next(&stages, &l, idle);
      CHECK(step >= wtl_steps_least(&stages) && step <= (idle < length ? 5 : 1) * MS + 1);
      CHECK(idle < 160 * US || step <= idle / (idle < length ? 2 : 16) + 1);
    }
  }
}

static void equal_waits_are_slept_through_except_for_their_end(void)
{
  for (uint64_t length = 10 * MS; length <= 1000ull * MS; length *= 10) {
    wtl_wait_length l = length_of(8, length);
    int few, many;
    uint64_t late = wait_until(&l, length, &few) - length;
    wait_until(&none, length, &many);
    CHECK(2 * few < many && late <= length / 50);
  }
}

static void no_sleep_goes_far_past_the_time_from_which_waits_end(void)
{
  wtl_wait_length l = length_of(8, 100 * MS);
  uint64_t early = (uint64_t)(100 * MS * 31.0 / 32);
  for (uint64_t idle = LOOKS; idle < early - 100 * US; idle += 100 * US)
    CHECK(idle + wtl_steps_next(&stages, &l, idle) <= early + MS);
}

/* A half of one wait, two thirds of two. */
static void a_few_waits_promise_a_part_of_the_shortest(void)
{
  for (int n = 1; n <= 2; n++) {
    wtl_wait_length l = length_of(n, 18 * MS);
    uint64_t promised = 18 * MS * (uint64_t)n / (uint64_t)(n + 1);
    CHECK(wtl_steps_next(&stages, &l, 2 * MS) == 1 * MS);
    CHECK(wtl_steps_next(&stages, &l, promised - MS) <= MS + 1);
    CHECK(wtl_steps_next(&stages, &l, promised + MS) <= (promised + MS) / 16 + 1);
  }
}

static void of_differing_waits_the_shortest_is_predicted(void)
{
  wtl_wait_length l = {0};
  for (int i = 0; i < 40; i++) wtl_steps_waited(&l, i % 2 ? 2 * MS : 100 * MS);
  CHECK(wtl_steps_next(&stages, &l, MS) == MS / 2);
  for (uint64_t idle = 2 * MS; idle < 100 * MS; idle += idle / 3)
    CHECK(wtl_steps_next(&stages, &l, idle) <= idle / 16 + 1);
}

/* On a shared core each wait lasts for a minimum, and then for an additional time that varies. */
static void waits_that_last_no_less_than_others_are_slept_through_so_far(void)
{
  wtl_wait_length l = {0};
  int few, many;
  for (int i = 0; i < 40; i++) wtl_steps_waited(&l, 100 * MS + (uint64_t)(i % 5) * 30 * MS);
  CHECK(wait_until(&l, 160 * MS, &few) <= 161 * MS);
  wait_until(&none, 160 * MS, &many);
  CHECK(3 * few < 2 * many);
}

static void one_short_wait_withdraws_a_prediction_for_eight_waits(void)
{
  wtl_wait_length l = {0};
  for (int i = 0; i < 40; i++) wtl_steps_waited(&l, 100 * MS + (uint64_t)(i % 5) * 30 * MS);
  wtl_steps_waited(&l, 3 * MS);
  for (int i = 0; i < 4; i++) {
    CHECK(wtl_steps_next(&stages, &l, 48 * MS) <= MS + 1);
    wtl_steps_waited(&l, 100 * MS + (uint64_t)(i % 5) * 30 * MS);
  }
  for (int i = 0; i < 4; i++) wtl_steps_waited(&l, 100 * MS);
  CHECK(wtl_steps_next(&stages, &l, 48 * MS) > 4 * MS);
}

/* A sleeping PE notices the end of a wait late. This delay must not become part of the prediction. */
static void waits_that_become_shorter_are_followed(void)
{
  for (uint64_t length = 99 * MS; length > 5 * MS; length = length * 3 / 4) {
    wtl_wait_length l = length_of(20, 100 * MS);
    int sleeps;
    for (int i = 0; i < 60; i++) wtl_steps_waited(&l, wait_until(&l, length, &sleeps));
    CHECK(wait_until(&l, length, &sleeps) <= length + length / 50);
  }
}

static void one_different_wait_is_an_outlier_and_two_are_a_change(void)
{
  wtl_wait_length l = length_of(20, 100 * MS), before = l;
  wtl_steps_waited(&l, 20 * MS);
  CHECK(l.mean == before.mean && l.spread == before.spread);
  wtl_steps_waited(&l, 100 * MS); /* as ever: the next accident is one again */
  wtl_steps_waited(&l, 30 * MS);
  CHECK(l.mean == before.mean && l.spread == before.spread);
  wtl_steps_waited(&l, 30 * MS);
  CHECK(l.mean < before.mean && l.spread > before.spread);
}

static void sleeps_are_longer_where_a_ring_has_ended_a_wait_that_is_no_young_one_any_more(void)
{
  wtl_wait_length l = {0};
  CHECK(wtl_steps_rung(&stages, &l, 100 * MS) == 0);
  wtl_steps_ended(&l, true);
  CHECK(wtl_steps_rung(&stages, &l, 5 * MS - 1) == 0);
  for (uint64_t idle = 5 * MS; idle < 100000ull * MS; idle += idle / 3) {
    uint64_t step = wtl_steps_rung(&stages, &l, idle);
    CHECK(step <= idle / 2 && step <= 10 * MS && step > wtl_steps_next(&stages, &l, idle));
  }
}

/* How many rings in a row it takes until that is believed. */
static int rings_to_believe(wtl_wait_length *l)
{
  int n = 0;
  for (; wtl_steps_rung(&stages, l, 100 * MS) == 0 && n < 1000; n++) wtl_steps_ended(l, true);
  return n;
}

static void each_wait_without_a_ring_raises_the_rings_needed_and_rings_lower_them(void)
{
  wtl_wait_length l = {0};
  for (int needed = 1; needed <= 128; needed *= 2) {
    CHECK(rings_to_believe(&l) == needed);
    wtl_steps_ended(&l, false);
    CHECK(wtl_steps_rung(&stages, &l, 100 * MS) == 0);
  }
  CHECK(rings_to_believe(&l) == 128); /* no more than that */
  for (int i = 0; i < 16; i++) wtl_steps_ended(&l, true);
  wtl_steps_ended(&l, false);
  CHECK(rings_to_believe(&l) == 128); /* half of it, and twice that */
}

TESTS(TEST(a_wait_gets_no_longer_by_more_than_a_sixteenth),
      TEST(no_sleep_is_longer_than_its_bounds_or_shorter_than_ten_microseconds),
      TEST(equal_waits_are_slept_through_except_for_their_end),
      TEST(no_sleep_goes_far_past_the_time_from_which_waits_end), TEST(a_few_waits_promise_a_part_of_the_shortest),
      TEST(of_differing_waits_the_shortest_is_predicted),
      TEST(waits_that_last_no_less_than_others_are_slept_through_so_far),
      TEST(one_short_wait_withdraws_a_prediction_for_eight_waits), TEST(waits_that_become_shorter_are_followed),
      TEST(one_different_wait_is_an_outlier_and_two_are_a_change),
      TEST(sleeps_are_longer_where_a_ring_has_ended_a_wait_that_is_no_young_one_any_more),
      TEST(each_wait_without_a_ring_raises_the_rings_needed_and_rings_lower_them))
