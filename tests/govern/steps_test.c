/* How long a sleep between two tests may last: no clock runs, so the policy's answers are exact. */
#include "govern/steps.h"

#include "govern/history.h"
#include "power/check.h"

enum { US = 2600 /* ticks */ };

static wtl_stages stages = {.ns_per_tick = 1e3 / US, .price_s = 200e-6};

static wtl_wait_history history_of(int n, uint64_t length)
{
  wtl_wait_history h = {0};
  for (int i = 0; i < n; i++) wtl_history_add(&h, 200 * US, 200 * US, length);
  return h;
}

static void a_wait_gets_no_longer_by_more_than_a_sixteenth(void)
{
  wtl_wait_history none = {0};
  for (uint64_t idle = 160 * US; idle < 100000000ull * US; idle += idle / 3)
    CHECK(wtl_steps_next(&stages, &none, idle) <= idle / 16 + 1);
}

static void no_sleep_is_longer_than_its_bound_or_shorter_than_ten_microseconds(void)
{
  for (uint64_t length = US; length < 10000000ull * US; length *= 3) {
    wtl_wait_history h = history_of(20, length);
    for (uint64_t idle = 1; idle < 10000000ull * US; idle += idle / 3 + 1) {
      uint64_t step = wtl_steps_next(&stages, &h, idle);
      CHECK(step >= wtl_steps_least(&stages) && step <= (wtl_history_lasts(&h, idle) ? 2000 : 1000) * US + 1);
      CHECK(idle < 160 * US || step <= idle / 4 + 1);
    }
  }
}

static void who_has_always_waited_long_sleeps_longer_at_first(void)
{
  wtl_wait_history none = {0}, h = history_of(8, 20000 * US);
  CHECK(wtl_steps_next(&stages, &h, 2000 * US) > 2 * wtl_steps_next(&stages, &none, 2000 * US));
}

static void where_waits_have_ended_so_far_sleeps_are_shorter(void)
{
  wtl_wait_history none = {0}, h = history_of(20, 10000 * US);
  CHECK(wtl_steps_next(&stages, &h, 10000 * US) < wtl_steps_next(&stages, &none, 10000 * US));
}

static void a_few_waits_are_no_promise(void)
{
  wtl_wait_history h = history_of(2, 20000 * US);
  CHECK(wtl_steps_next(&stages, &h, 2000 * US) <= 2000 * US / 16 + 1);
}

TESTS(TEST(a_wait_gets_no_longer_by_more_than_a_sixteenth),
      TEST(no_sleep_is_longer_than_its_bound_or_shorter_than_ten_microseconds),
      TEST(who_has_always_waited_long_sleeps_longer_at_first), TEST(where_waits_have_ended_so_far_sleeps_are_shorter),
      TEST(a_few_waits_are_no_promise))
