/*
 * model_test.c - the model is the sum it claims to be, and refuses what it cannot know.
 */
#include "check.h"
#include "power/meter.h"
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

static void idle_memory_in_the_watts_of_the_cpu_is_no_domain(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  wtl_domain domain[WTL_MAX_DOMAINS];
  CHECK(wtl_meter_model.domains(m, domain) == 4);
  CHECK_TEXT(domain[3].name, "dram-idle");
  m->idle.dram.value = m->idle.dram.plus_minus = 0;
  CHECK(wtl_meter_model.domains(m, domain) == 3);
  CHECK_TEXT(domain[2].name, "cpu-idle");
  wtl_mark begin = {.at = 1}, end = {.at = 101};
  wtl_activity did = {.wall_s = 100};
  wattle_joules_t f[WTL_MAX_DOMAINS] = {{.joules = -1}};
  f[3].joules = -1;
  wtl_meter_model.between(m, &begin, &end, &did, f, NULL);
  CHECK_NEAR(f[2].joules, 2 * 3.786 * 100, 1e-9);
  CHECK_NEAR(f[3].joules, -1, 0); /* not written */
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

/* Joules of the node in a second on n busy cores, by the model's parts; the half-width in *plus_minus. */
static double node_joules(const wtl_machine *m, int n, double wall_s, double *plus_minus)
{
  enum { MOST = 16 };
  wtl_activity a[MOST] = {{0}};
  wattle_joules_t f[2];
  wtl_model_idle(m, wall_s, f);
  double sum = f[0].joules;
  *plus_minus = f[0].uncertainty;
  for (int i = 0; i < n; i++) a[i] = (wtl_activity){.wall_s = wall_s, .active_s = wall_s};
  wtl_model_cores(m, wall_s, 0, a, (size_t)n);
  for (int i = 0; i < n; i++) {
    wtl_model_pe(m, &a[i], f);
    sum += f[0].joules;
    *plus_minus += f[0].uncertainty;
  }
  return sum;
}

static void a_power_limit_bounds_the_node_and_no_single_core(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  double free_width, width, idle_width;
  double one = node_joules(m, 1, 1000, &free_width), all = node_joules(m, 16, 1000, &free_width);
  node_joules(m, 0, 1000, &idle_width);
  m->limit[0] = (wtl_power_limit){60, 28}; /* W of each of two sockets: 16 cores of 18 W would draw more */
  CHECK(all > 2 * 60 * 1000);
  CHECK_NEAR(node_joules(m, 1, 1000, &width), one, 1e-9);
  double limited = node_joules(m, 16, 1000, &width);
  CHECK(limited <= 2 * 60 * (1000 + 28) && limited + width <= 2 * 60 * (1000 + 28) + idle_width + 1e-6);
  CHECK(limited > 0.7 * 2 * 60 * 1000 && width < free_width);
  CHECK_NEAR(node_joules(m, 16, 1, &width), all / 1000, 1e-6); /* a second is within the window's budget */
  m->limit[1] = (wtl_power_limit){75, 0.002};                  /* the short-term limit has none */
  CHECK(node_joules(m, 16, 1, &width) <= 2 * 75 * 1.002 + 1e-9);
  wtl_machine_free(m);
}

static void counted_wake_ups_replace_the_usual_rate(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  wattle_joules_t f[2];
  wtl_activity a = {.wall_s = 100, .asleep_s = 100};
  wtl_model_pe(m, &a, f);
  double usual = f[0].uncertainty;
  a.wake_ups = 20;
  wtl_model_pe(m, &a, f);
  CHECK_NEAR(f[0].uncertainty, usual, 0); /* the profile has no joules of a wake-up */
  m->wake_up_j = 1e-3;
  wtl_model_pe(m, &a, f);
  CHECK_NEAR(f[0].uncertainty, 0.02, 1e-12);
  a.wake_ups = 0; /* not known */
  wtl_model_pe(m, &a, f);
  CHECK_NEAR(f[0].uncertainty, usual, 0);
  a.wake_ups = 1e9;
  wtl_model_pe(m, &a, f);
  CHECK_NEAR(f[0].uncertainty, 100 * m->clocks[wtl_machine_base_clock(m)].active.value, 1e-9);
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
  wtl_machine *m = wtl_machine_load("unknown", "/sys", error, sizeof error);
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
    wtl_machine *m = wtl_machine_load(names[i], "/sys", error, sizeof error);
    CHECK(m != NULL);
    for (unsigned c = 0; m && c < m->n_clocks; c++) {
      const wtl_clock *k = &m->clocks[c];
      CHECK(k->asleep.value + k->asleep.plus_minus <= k->spin.value - k->spin.plus_minus);
      CHECK(k->asleep.value + k->asleep.plus_minus <= k->yield.value - k->yield.plus_minus);
    }
    wtl_machine_free(m);
  }
}

/* A node of two sockets of two cores with two threads each, with known watts. */
typedef struct known_node {
  wtl_number wake, second;
  wtl_clock clock;
  wtl_machine machine;
} known_node;

static void make_known(known_node *n)
{
  *n = (known_node){.wake = {.value = 20, .plus_minus = 5}, .second = {.value = 1, .plus_minus = 1}};
  n->clock = (wtl_clock){
      .ghz = 2, .base = true, .active = {.value = 4, .plus_minus = 1}, .spin = {.value = 3, .plus_minus = 1}};
  n->machine = (wtl_machine){.name = "known",
                             .sockets = 2,
                             .cores_per_socket = 2,
                             .wake = &n->wake,
                             .second = &n->second,
                             .clocks = &n->clock,
                             .n_clocks = 1};
}

static double joules_of(const wtl_machine *m, const wtl_activity *a, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += priced_joules(m, a[i]);
  return sum;
}

static void the_first_core_wakes_the_sockets_and_all_share_it(void)
{
  known_node n;
  make_known(&n);
  wtl_activity one = {.wall_s = 10, .active_s = 5}, two[2] = {{.active_s = 10}, {.active_s = 5, .spin_s = 5}};
  wtl_model_cores(&n.machine, 10, 0, &one, 1);
  CHECK_NEAR(one.wake_s, 2 * 5, 1e-12); /* both sockets for half of the time */
  CHECK_NEAR(joules_of(&n.machine, &one, 1), 2 * 5 * 20 + 5 * 4, 1e-9);
  wtl_model_cores(&n.machine, 10, 0, two, 2);
  CHECK_NEAR(two[0].wake_s, 10, 1e-12); /* half of 2 sockets x 10 s */
  CHECK_NEAR(joules_of(&n.machine, two, 2), 2 * 10 * 20 + 15 * 4 + 5 * 3, 1e-9);
  CHECK_NEAR(two[0].second_s, 0, 0);
}

static void other_programs_keep_their_part_of_the_awake_sockets(void)
{
  known_node n;
  make_known(&n);
  wtl_activity one = {.active_s = 10};
  wtl_model_cores(&n.machine, 10, 30, &one, 1);
  CHECK_NEAR(one.wake_s, 2 * 10 * 0.25, 1e-12);
  wtl_model_cores(&n.machine, 10, NAN, &one, 1); /* the time of others is not known */
  CHECK_NEAR(one.wake_s, 2 * 10, 1e-12);
}

static void a_thread_beyond_the_cores_is_a_second_one(void)
{
  known_node n;
  make_known(&n);
  wtl_activity six[6];
  for (int i = 0; i < 6; i++) six[i] = (wtl_activity){.wall_s = 1, .active_s = 1};
  wtl_model_cores(&n.machine, 1, 0, six, 6);
  double second = 0;
  for (int i = 0; i < 6; i++) second += six[i].second_s;
  CHECK_NEAR(second, 2, 1e-12); /* four cores have six busy threads */
  CHECK_NEAR(joules_of(&n.machine, six, 6), 2 * 20 + 4 * 4 + 2 * 1, 1e-9);
  wattle_joules_t f[2];
  wtl_model_pe(&n.machine, &six[0], f);
  CHECK_NEAR(6 * f[0].uncertainty, 2 * 5 + 4 * 1 + 2 * 1, 1e-9);
}

static void sleeping_wakes_no_socket(void)
{
  known_node n;
  make_known(&n);
  wtl_activity asleep = {.wall_s = 10, .asleep_s = 10};
  wtl_model_cores(&n.machine, 10, 0, &asleep, 1);
  CHECK_NEAR(asleep.wake_s, 0, 0);
  CHECK_NEAR(priced_joules(&n.machine, asleep), 0, 0);
}

static void a_profile_without_such_watts_counts_no_cores(void)
{
  wtl_machine *m = priced_load("sandybridge-e5-2670");
  wtl_activity a = {.wall_s = 1, .active_s = 1, .wake_s = 7, .second_s = 7};
  wtl_model_cores(m, 1, 0, &a, 1);
  CHECK(a.wake_s == 0 && a.second_s == 0);
  wtl_machine_free(m);
}

TESTS(TEST(joules_are_watts_times_seconds), TEST(idle_memory_in_the_watts_of_the_cpu_is_no_domain),
      TEST(idle_draw_is_that_of_all_sockets), TEST(counted_wake_ups_replace_the_usual_rate),
      TEST(a_power_limit_bounds_the_node_and_no_single_core), TEST(doing_nothing_costs_nothing),
      TEST(impossible_times_are_unavailable), TEST(lower_clocks_draw_less),
      TEST(time_at_another_clock_draws_that_clocks_watts), TEST(beyond_the_profiles_clocks_the_uncertainty_grows),
      TEST(asleep_costs_no_more_than_spinning_whatever_the_truth),
      TEST(the_first_core_wakes_the_sockets_and_all_share_it),
      TEST(other_programs_keep_their_part_of_the_awake_sockets), TEST(a_thread_beyond_the_cores_is_a_second_one),
      TEST(sleeping_wakes_no_socket), TEST(a_profile_without_such_watts_counts_no_cores))
