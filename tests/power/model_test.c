/*
 * model_test.c - the model is the sum it claims to be, and refuses what it cannot know.
 */
#include "check.h"
#include "priced.h"

static void joules_are_watts_times_seconds(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  wattle_joules_t f[2];
  wtl_activity a = {.wall_s = 10, .active_s = 1, .spin_s = 2, .yield_s = 3, .asleep_s = 4, .bytes = 2e9};
  CHECK(wtl_model_pe(m, &a, f) == 2);
  const wtl_clock *c = &m->clocks[wtl_machine_base_clock(m)];
  CHECK_NEAR(f[0].joules, c->active.value + 2 * c->spin.value + 3 * c->yield.value + 4 * c->asleep.value, 1e-12);
  CHECK_NEAR(f[0].uncertainty,
             c->active.plus_minus + 2 * c->spin.plus_minus + 3 * c->yield.plus_minus + 4 * c->asleep.plus_minus, 1e-12);
  CHECK_NEAR(f[1].joules, 2e9 * m->dram.per_byte.value, 1e-12);
  CHECK_TEXT(f[0].domain, "cpu");
  CHECK_TEXT(f[1].domain, "dram");
  CHECK_TEXT(f[0].source, "model sandybridge-e5-2670");
  CHECK(f[0].provenance == WATTLE_MODELLED && f[0].scope == WATTLE_SCOPE_PROCESS);
  CHECK_NEAR(f[0].interval_s, 10, 0);
  CHECK_NEAR(f[0].covered_s, 10, 0);
  wtl_machine_free(m);
}

static void idle_draw_is_that_of_all_sockets(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  wattle_joules_t f[2];
  CHECK(wtl_model_idle(m, 100, f) == 2);
  CHECK_NEAR(f[0].joules, 2 * 3.786 * 100, 1e-9);
  CHECK_NEAR(f[1].joules, 2 * 7 * 100, 1e-9);
  CHECK(f[0].scope == WATTLE_SCOPE_NODE);
  wtl_machine_free(m);
}

static void doing_nothing_costs_nothing(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  wattle_joules_t f[2];
  wtl_activity a = {0};
  wtl_model_pe(m, &a, f);
  CHECK(f[0].provenance == WATTLE_MODELLED);
  CHECK_NEAR(f[0].joules, 0, 0);
  CHECK_NEAR(f[0].uncertainty, 0, 0);
  wtl_machine_free(m);
}

static void impossible_times_are_unavailable(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  wattle_joules_t f[2];
  const double bad[] = {-1, NAN, INFINITY};
  for (int i = 0; i < 3; i++) {
    wtl_activity a = {.wall_s = 1, .active_s = 5, .spin_s = bad[i]};
    wtl_model_pe(m, &a, f);
    CHECK(f[0].provenance == WATTLE_UNAVAILABLE && isnan(f[0].joules) && isnan(f[0].uncertainty));
    CHECK(f[1].provenance == WATTLE_MODELLED); /* the bytes are known all the same */
    a = (wtl_activity){.wall_s = 1, .active_s = 1, .bytes = bad[i]};
    wtl_model_pe(m, &a, f);
    CHECK(f[0].provenance == WATTLE_MODELLED && f[1].provenance == WATTLE_UNAVAILABLE);
    wtl_model_idle(m, bad[i], f);
    CHECK(f[0].provenance == WATTLE_UNAVAILABLE);
  }
  wtl_machine_free(m);
}

static void lower_clocks_draw_less(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  wattle_joules_t f[2];
  wtl_activity a = {.wall_s = 1, .spin_s = 1};
  for (size_t i = 0; i < wtl_machine_clocks(m); i++)
    for (size_t j = 0; j < wtl_machine_clocks(m); j++) {
      if (!(wtl_machine_clock_ghz(m, i) < wtl_machine_clock_ghz(m, j))) continue;
      wtl_model_pe_at(m, i, &a, f);
      double low = f[0].joules;
      wtl_model_pe_at(m, j, &a, f);
      CHECK(low < f[0].joules);
    }
  wtl_model_pe_at(m, 99, &a, f);
  CHECK(f[0].provenance == WATTLE_UNAVAILABLE && f[1].provenance == WATTLE_UNAVAILABLE);
  wtl_machine_free(m);
}

static double cpu_joules(const wtl_machine *m, const wtl_activity *a, double *doubt)
{
  wattle_joules_t f[2];
  wtl_model_pe(m, a, f);
  *doubt = f[0].uncertainty;
  return f[0].joules;
}

/* At each of the profile's clocks what pe_at says; half way between two of them, half way between their watts. */
static void time_at_another_clock_draws_that_clocks_watts(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  double base = wtl_machine_clock_ghz(m, wtl_machine_base_clock(m)), doubt;
  wattle_joules_t f[2];
  for (size_t i = 0; i < wtl_machine_clocks(m); i++) {
    double share = wtl_machine_clock_ghz(m, i) / base;
    wtl_activity all = {.wall_s = 10, .active_s = 4, .spin_s = 3, .yield_s = 2, .asleep_s = 1};
    wtl_model_pe_at(m, i, &all, f);
    all.off.active_s = 4;
    all.off.spin_s = 3;
    all.off.yield_s = 2;
    all.off.asleep_s = 1;
    all.off.active_clock = 4 * share;
    all.off.wait_clock = 6 * share;
    CHECK_NEAR(cpu_joules(m, &all, &doubt), f[0].joules, 1e-9 * f[0].joules);
    CHECK_NEAR(doubt, f[0].uncertainty, 1e-9 * f[0].uncertainty);
  }
  const wtl_clock *low = &m->clocks[0], *high = &m->clocks[1];
  double middle = (low->ghz + high->ghz) / 2 / base;
  wtl_activity half = {.wall_s = 1, .spin_s = 1, .off = {.spin_s = 1, .wait_clock = middle}};
  CHECK_NEAR(cpu_joules(m, &half, &doubt), (low->spin.value + high->spin.value) / 2, 1e-9);
  wtl_activity part = {.wall_s = 2, .spin_s = 2, .off = {.spin_s = 1, .wait_clock = low->ghz / base}};
  CHECK_NEAR(cpu_joules(m, &part, &doubt), low->spin.value + m->clocks[wtl_machine_base_clock(m)].spin.value, 1e-9);
  wtl_machine_free(m);
}

/* A profile of one clock: the watts at a lower one are unknown, so the doubt reaches down to the cube of the
 * clock. */
static void beyond_the_profiles_clocks_the_uncertainty_grows(void)
{
  char error[512];
  wtl_machine *m = wtl_machine_load("unknown", error, sizeof error);
  wtl_activity base = {.wall_s = 1, .spin_s = 1};
  wtl_activity slow = {.wall_s = 1, .spin_s = 1, .off = {.spin_s = 1, .wait_clock = 0.5}};
  double doubt, more;
  CHECK(m && wtl_machine_clocks(m) == 1);
  double joules = cpu_joules(m, &base, &doubt);
  CHECK_NEAR(cpu_joules(m, &slow, &more), joules, 1e-12);
  CHECK_NEAR(more - doubt, joules * (1 - 0.125), 1e-9);
  wtl_machine_free(m);
}

/*
 * The condition for every saving must hold for any watts that the profile allows, also the wide range of `unknown`.
 */
static void asleep_costs_no_more_than_spinning_whatever_the_truth(void)
{
  static const char *const names[] = {"sandybridge-e5-2670", "nw-ice", "unknown"};
  for (int i = 0; i < 3; i++) {
    char error[512];
    wtl_machine *m = wtl_machine_load(names[i], error, sizeof error);
    CHECK(m != NULL);
    for (unsigned c = 0; m && c < m->n_clocks; c++) {
      const wtl_clock *k = &m->clocks[c];
      CHECK(k->asleep.value + k->asleep.plus_minus <= k->spin.value - k->spin.plus_minus);
      CHECK(k->asleep.value + k->asleep.plus_minus <= k->yield.value - k->yield.plus_minus);
    }
    wtl_machine_free(m);
  }
}

TESTS(TEST(joules_are_watts_times_seconds), TEST(idle_draw_is_that_of_all_sockets), TEST(doing_nothing_costs_nothing),
      TEST(impossible_times_are_unavailable), TEST(lower_clocks_draw_less),
      TEST(time_at_another_clock_draws_that_clocks_watts), TEST(beyond_the_profiles_clocks_the_uncertainty_grows),
      TEST(asleep_costs_no_more_than_spinning_whatever_the_truth))
