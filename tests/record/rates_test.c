/*
 * rates_test.c - tests the watts of each state of a process whose clock was changed. They give its sites their shares
 * of its joules.
 */
#include "power/check.h"
#include "power/priced.h"
#include "record/record.h"

static double by_rates(const wtl_machine *m, const wtl_activity *a)
{
  wtl_share share = {.n_domains = 2};
  wtl_record_rates(m, a, share.rate);
  return wtl_record_modelled(&share, 0, a);
}

/* 3 s of computing, one of them at 1.2 GHz; 5 s of spinning, four of them at 1.2; the rest at the base clock, 2.6. */
static const wtl_activity some = {
    .wall_s = 9,
    .active_s = 3,
    .spin_s = 5,
    .asleep_s = 1,
    .bytes = 1e6,
    .off = {.active_s = 1, .spin_s = 4, .active_clock = 1.2 / 2.6, .wait_clock = 4 * 1.2 / 2.6}};

static void the_joules_of_the_states_add_up_to_those_of_the_process(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  CHECK_NEAR(by_rates(m, &some), priced_joules(m, some), 1e-9);
  wtl_machine_free(m);
}

static void a_state_at_a_lower_clock_costs_less_and_the_others_cost_the_same(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  wtl_activity base = some;
  wtl_rates low[2], high[2];
  memset(&base.off, 0, sizeof base.off);
  wtl_record_rates(m, &some, low);
  wtl_record_rates(m, &base, high);
  const wtl_activity slow_second = {
      .wall_s = 1, .spin_s = 1, .off = {.spin_s = 1, .wait_clock = 1.2 / 2.6}}; /* a second at 1.2 GHz */
  CHECK_NEAR(low[0].spin, 0.2 * high[0].spin + 0.8 * priced_joules(m, slow_second), 1e-9);
  CHECK(low[0].active < high[0].active && low[0].spin < high[0].spin);
  CHECK_NEAR(low[0].asleep, high[0].asleep, 0);
  CHECK_NEAR(low[0].yield, high[0].yield, 0);
  CHECK_NEAR(low[1].byte, high[1].byte, 0);
  wtl_machine_free(m);
}

static void awake_sockets_and_second_threads_are_in_the_rates(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  wtl_number wake = {.value = 20, .plus_minus = 5}, second = {.value = 1, .plus_minus = 1};
  wtl_activity shared = some;
  m->wake = &wake;
  m->second = &second;
  shared.wake_s = 3;
  shared.second_s = 2;
  double joules = priced_joules(m, shared);
  CHECK_NEAR(by_rates(m, &shared), joules, 1e-9);
  CHECK(joules > priced_joules(m, some) + 3 * 20 - 2 * 18);
  m->wake = m->second = NULL;
  wtl_machine_free(m);
}

static void without_a_machine_nothing_is_known(void)
{
  wtl_rates rate[2];
  wtl_record_rates(NULL, &some, rate);
  CHECK(isnan(rate[0].active) && isnan(rate[1].byte));
}

TESTS(TEST(the_joules_of_the_states_add_up_to_those_of_the_process),
      TEST(a_state_at_a_lower_clock_costs_less_and_the_others_cost_the_same),
      TEST(awake_sockets_and_second_threads_are_in_the_rates), TEST(without_a_machine_nothing_is_known))
