/* dry_run_test.c - tests the saving that a dry run predicts, with a profile whose watts are known. */
#include "power/check.h"
#include "power/priced.h"
#include "record/dry_run.h"

static const double low = 1.2 / 2.6;

static void waiting_at_a_noted_clock_is_priced_at_it(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  const wtl_activity ran = {
      .wall_s = 8, .active_s = 3, .spin_s = 5, .bytes = 1e6, .off = {.spin_s = 4, .wait_clock = 4 * low}};
  const wtl_activity normal = {.wall_s = 8, .active_s = 3, .spin_s = 5};
  const wtl_activity slow = {.spin_s = 4, .off = {.spin_s = 4, .wait_clock = 4 * low}};
  wattle_joules_t would, saved;
  CHECK(wtl_dry_run_joules(m, &ran, &would, &saved));
  CHECK_NEAR(would.joules, priced_joules(m, ran), 1e-9);
  CHECK_NEAR(saved.joules, priced_joules(m, normal) - priced_joules(m, ran), 1e-9);
  CHECK_NEAR(saved.joules, priced_joules(m, (wtl_activity){.spin_s = 4}) - priced_joules(m, slow), 1e-9);
  CHECK(saved.joules > 0 && saved.uncertainty < would.uncertainty);
  CHECK(would.provenance == WATTLE_MODELLED && saved.provenance == WATTLE_MODELLED);
  CHECK_TEXT(would.source, "model sandybridge-e5-2670 at recorded clocks");
  wtl_machine_free(m);
}

/* 1.2 s at 1.2 GHz instead of 2.6 last 2.6 s: 1.4 s of the 2 s that were waited are computed. */
static void computing_at_a_lower_clock_takes_the_wait_after_it(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  const wtl_activity ran = {
      .wall_s = 4, .active_s = 2, .spin_s = 2, .off = {.active_s = 1.2, .active_clock = 1.2 * low}};
  const wtl_activity then = {
      .wall_s = 4, .active_s = 3.4, .spin_s = 0.6, .off = {.active_s = 2.6, .active_clock = 2.6 * low}};
  wattle_joules_t would, saved, as_long[2];
  CHECK(wtl_dry_run_joules(m, &ran, &would, &saved));
  CHECK_NEAR(would.joules, priced_joules(m, then), 1e-9);
  CHECK_NEAR(would.interval_s, 4, 1e-12);
  wtl_model_pe(m, &ran, as_long);
  CHECK(would.uncertainty > fabs(would.joules - as_long[0].joules)); /* memory may have bound it */
  wtl_machine_free(m);
}

static void without_slack_computing_at_a_lower_clock_takes_longer(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  const wtl_activity ran = {.wall_s = 1.2, .active_s = 1.2, .off = {.active_s = 1.2, .active_clock = 1.2 * low}};
  wattle_joules_t would, saved;
  CHECK(wtl_dry_run_joules(m, &ran, &would, &saved));
  CHECK_NEAR(would.interval_s, 2.6, 1e-9);
  wtl_machine_free(m);
}

/* 2.6 s at the base clock, at a share of 1.25 of it: 2.08 s, and what is won is waited asleep. */
static void computing_at_a_higher_clock_waits_afterwards(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  const wtl_activity ran = {.wall_s = 2.6, .active_s = 2.6, .off = {.active_s = 2.6, .active_clock = 2.6 * 1.25}};
  const wtl_activity then = {
      .wall_s = 2.6, .active_s = 2.08, .asleep_s = 0.52, .off = {.active_s = 2.08, .active_clock = 2.6}};
  wattle_joules_t would, saved;
  CHECK(wtl_dry_run_joules(m, &ran, &would, &saved));
  CHECK_NEAR(would.joules, priced_joules(m, then), 1e-9);
  wtl_machine_free(m);
}

static void a_history_without_entries_saves_nothing(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  const wtl_activity ran = {.wall_s = 2, .active_s = 1, .asleep_s = 1};
  wattle_joules_t would, saved;
  CHECK(wtl_dry_run_joules(m, &ran, &would, &saved));
  CHECK_NEAR(saved.joules, 0, 0);
  CHECK_NEAR(saved.uncertainty, 0, 0);
  CHECK_NEAR(would.joules, priced_joules(m, ran), 0);
  wtl_machine_free(m);
}

static void a_profile_of_one_clock_has_no_figures_for_others(void)
{
  wtl_machine *m = priced_load("unknown");
  const wtl_activity ran = {.wall_s = 2, .active_s = 1, .spin_s = 1, .off = {.spin_s = 1, .wait_clock = 0.5}};
  wattle_joules_t would, saved;
  CHECK(!wtl_dry_run_joules(m, &ran, &would, &saved));
  CHECK(would.provenance == WATTLE_UNAVAILABLE && isnan(would.joules) && isnan(saved.joules));
  CHECK(!wtl_dry_run_joules(NULL, &ran, &would, &saved));
  wtl_machine_free(m);
}

TESTS(TEST(waiting_at_a_noted_clock_is_priced_at_it), TEST(computing_at_a_lower_clock_takes_the_wait_after_it),
      TEST(without_slack_computing_at_a_lower_clock_takes_longer), TEST(computing_at_a_higher_clock_waits_afterwards),
      TEST(a_history_without_entries_saves_nothing), TEST(a_profile_of_one_clock_has_no_figures_for_others))
