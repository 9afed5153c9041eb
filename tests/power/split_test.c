/*
 * split_test.c - tests that the PEs' shares and the idle share add up to the node's joules for any activity of the
 * PEs.
 */
#include "check.h"
#include "power/machine/machine.h"
#include "tree.h"

enum { MAX_PES = 64 };

static uint64_t seed = 0x9e3779b97f4a7c15ull;

/* Uniform in [0, 1). */
static double uniform(void)
{
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (double)(seed >> 11) / 9007199254740992.0;
}

/* A PE's interval: any mix of states, sometimes nothing at all, sometimes 16 threads, bytes over ten decades. */
static wtl_activity any_activity(double wall_s)
{
  wtl_activity a = {.wall_s = wall_s};
  double left = wall_s * (uniform() < 0.1 ? 16 : 1);
  if (uniform() < 0.05) return a;
  a.active_s = left * uniform(), left -= a.active_s;
  a.spin_s = left * uniform(), left -= a.spin_s;
  a.yield_s = left * uniform(), left -= a.yield_s;
  a.asleep_s = left;
  a.bytes = uniform() < 0.2 ? 0 : pow(10, 10 * uniform());
  return a;
}

typedef struct result {
  wattle_joules_t node[WTL_MAX_DOMAINS], idle[WTL_MAX_DOMAINS], part[MAX_PES * WTL_MAX_DOMAINS];
  size_t n;
} result;

static void check_sum(const result *r, size_t pes)
{
  for (size_t d = 0; d < r->n; d++) {
    double sum = r->idle[d].joules;
    CHECK(r->idle[d].joules >= 0 && r->idle[d].joules <= r->node[d].joules * (1 + 1e-12));
    for (size_t i = 0; i < pes; i++) {
      const wattle_joules_t *p = &r->part[i * r->n + d];
      sum += p->joules;
      CHECK(p->joules >= 0 && p->uncertainty >= 0);
      CHECK(p->scope == WATTLE_SCOPE_PROCESS && p->provenance == WATTLE_MODELLED);
      CHECK_TEXT(p->domain, r->node[d].domain);
    }
    CHECK_NEAR(sum, r->node[d].joules, 1e-12 * r->node[d].joules);
  }
}

static void sensors(tree *t)
{
  tree_zone(t, "intel-rapl:0", "package-0", 1, 262143328850ull);
  tree_zone(t, "intel-rapl:0:0", "dram", 1, 262143328850ull);
  tree_zone(t, "intel-rapl:1", "package-1", 1, 262143328850ull);
}

static wtl_meter *measuring(tree *t)
{
  sensors(t);
  return tree_open(t, WTL_METER_AUTO);
}

static void parts_and_idle_are_the_node_modelled(void)
{
  static result r;
  for (int round = 0; round < 300; round++) {
    tree *t = tree_new();
    wtl_meter *m = tree_open(t, WTL_METER_MODEL);
    double wall_s = 100 * uniform();
    size_t pes = (size_t)(uniform() * (MAX_PES + 1));
    wtl_activity a[MAX_PES];
    for (size_t i = 0; i < pes; i++) a[i] = any_activity(wall_s);
    t->now += wall_s;
    r.n = wtl_meter_finish(m, a, pes, r.node, r.idle, r.part);
    CHECK(r.n == 2);
    CHECK_TEXT(r.node[0].domain, "cpu");
    CHECK_TEXT(r.node[1].domain, "dram");
    CHECK(r.node[0].provenance == WATTLE_MODELLED && r.node[0].scope == WATTLE_SCOPE_NODE);
    check_sum(&r, pes);
    wtl_meter_close(m);
    tree_free(t);
  }
}

static void parts_and_idle_are_the_node_measured(void)
{
  static result r;
  tree *t = tree_new();
  wtl_meter *m = measuring(t);
  for (int round = 0; round < 300; round++) {
    double wall_s = 0.01 + 30 * uniform();
    size_t pes = (size_t)(uniform() * (MAX_PES + 1));
    wtl_activity a[MAX_PES];
    for (size_t i = 0; i < pes; i++) a[i] = any_activity(wall_s);
    wtl_meter_start(m);
    t->now += wall_s;
    for (int z = 0; z < 3; z++) {
      static const char *const zones[] = {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1"};
      t->watch[z] = (t->watch[z] + (uint64_t)(wall_s * 3e8 * uniform())) % 262143328850ull;
      tree_energy(t, zones[z], t->watch[z]);
    }
    r.n = wtl_meter_finish(m, a, pes, r.node, r.idle, r.part);
    CHECK(r.n == 3);
    for (size_t d = 0; d < r.n; d++) CHECK(r.node[d].provenance == WATTLE_MEASURED);
    check_sum(&r, pes);
  }
  wtl_meter_close(m);
  tree_free(t);
}

static void split_of_a_measured_node_names_both_sources(void)
{
  static result r;
  tree *t = tree_new();
  wtl_meter *m = measuring(t);
  wtl_activity a = {.wall_s = 1, .active_s = 1};
  t->now += 1;
  tree_energy(t, "intel-rapl:0", 50000000);
  r.n = wtl_meter_finish(m, &a, 1, r.node, r.idle, r.part);
  CHECK_TEXT(r.node[0].source, "powercap intel-rapl:0");
  CHECK_TEXT(r.part[0].source, "powercap intel-rapl:0 split by model sandybridge-e5-2670");
  CHECK_TEXT(r.idle[0].source, "powercap intel-rapl:0 split by model sandybridge-e5-2670");
  wtl_meter_close(m);
  tree_free(t);
}

/* Twice the work, twice the share; a PE that slept has none. */
static void shares_follow_the_work(void)
{
  static result r;
  tree *t = tree_new();
  wtl_meter *m = measuring(t);
  wtl_activity a[3] = {{.wall_s = 1, .active_s = 0.4, .asleep_s = 0.6},
                       {.wall_s = 1, .active_s = 0.8, .asleep_s = 0.2},
                       {.wall_s = 1, .asleep_s = 1}};
  t->now += 1;
  tree_energy(t, "intel-rapl:0", 50000000);
  r.n = wtl_meter_finish(m, a, 3, r.node, r.idle, r.part);
  CHECK_NEAR(r.part[1 * r.n].joules, 2 * r.part[0].joules, 1e-12);
  CHECK_NEAR(r.part[2 * r.n].joules, 0, 0);
  CHECK(r.part[0].joules > 0 && r.idle[0].joules > 0);
  wtl_meter_close(m);
  tree_free(t);
}

/*
 * Any profile within the half-widths of the stated one: its split must lie within the half-widths of the stated split.
 */
static int shake(void *arg, const char *key, const wtl_number *n)
{
  (void)key;
  const double *direction = arg;
  double r = direction[0] == 0 ? 2 * uniform() - 1 : (uniform() < 0.5 ? -1 : 1); /* anywhere, or at the ends */
  wtl_number *number = (wtl_number *)n;
  number->value = fmax(0, number->value + r * number->plus_minus);
  return 0;
}

static void half_widths_hold_for_any_profile_within_its_own(void)
{
  static result r, s;
  static const char *const names[] = {"sandybridge-e5-2670", "unknown"};
  for (int round = 0; round < 400; round++) {
    tree *t = tree_new();
    char error[512];
    if (round % 2) sensors(t);
    wtl_settings settings = tree_settings(t, round % 2 ? WTL_METER_AUTO : WTL_METER_MODEL);
    settings.machine.text = names[round / 2 % 2];
    wtl_meter *m = wtl_meter_open_with(&settings, &t->sys, error, sizeof error);
    size_t pes = 1 + (size_t)(uniform() * 8);
    wtl_activity a[8];
    for (size_t i = 0; i < pes; i++) a[i] = any_activity(1);
    t->now += 1;
    if (round % 2) tree_energy(t, "intel-rapl:0", 70000000);
    if (round % 2) tree_energy(t, "intel-rapl:0:0", 10000000);
    if (round % 2) tree_energy(t, "intel-rapl:1", 10000000);
    r.n = wtl_meter_finish(m, a, pes, r.node, r.idle, r.part);
    double ends = round / 4 % 2;
    wtl_machine_numbers(wtl_meter_machine(m), shake, &ends);
    s.n = wtl_meter_finish(m, a, pes, s.node, s.idle, s.part);
    for (size_t d = 0; d < r.n; d++) {
      CHECK_NEAR(s.idle[d].joules, r.idle[d].joules, r.idle[d].uncertainty + 1e-9);
      CHECK_NEAR(s.node[d].joules, r.node[d].joules, r.node[d].uncertainty + 1e-9);
      for (size_t i = 0; i < pes; i++)
        CHECK_NEAR(s.part[i * r.n + d].joules, r.part[i * r.n + d].joules, r.part[i * r.n + d].uncertainty + 1e-9);
    }
    wtl_meter_close(m);
    tree_free(t);
  }
}

/* One PE's lost account leaves a measured node known and its split unknown; a modelled node is then unknown itself. */
static void lost_account_makes_the_split_unavailable(void)
{
  static result r;
  wtl_activity a[2] = {{.wall_s = 1, .active_s = 1}, {.wall_s = 1, .active_s = NAN}};
  for (int model = 0; model < 2; model++) {
    tree *t = tree_new();
    wtl_meter *m = model ? tree_open(t, WTL_METER_MODEL) : measuring(t);
    t->now += 1;
    if (!model) tree_energy(t, "intel-rapl:0", 50000000);
    r.n = wtl_meter_finish(m, a, 2, r.node, r.idle, r.part);
    CHECK(r.node[0].provenance == (model ? WATTLE_UNAVAILABLE : WATTLE_MEASURED));
    for (size_t i = 0; i < 2; i++)
      CHECK(r.part[i * r.n].provenance == WATTLE_UNAVAILABLE && isnan(r.part[i * r.n].joules));
    CHECK(r.idle[0].provenance == WATTLE_UNAVAILABLE && isnan(r.idle[0].joules));
    wtl_meter_close(m);
    tree_free(t);
  }
}

static void none_gives_unavailable_figures_for_all(void)
{
  static result r;
  tree *t = tree_new();
  wtl_meter *m = tree_open(t, WTL_METER_NONE);
  wtl_activity a[2] = {{.wall_s = 1, .active_s = 1}, {.wall_s = 1, .active_s = 1}};
  CHECK(wtl_meter_machine(m) == NULL);
  r.n = wtl_meter_finish(m, a, 2, r.node, r.idle, r.part);
  for (size_t i = 0; i < 2 * r.n; i++) CHECK(r.part[i].provenance == WATTLE_UNAVAILABLE && isnan(r.part[i].joules));
  for (size_t d = 0; d < r.n; d++) CHECK(isnan(r.node[d].joules) && isnan(r.idle[d].joules));
  wtl_meter_close(m);
  tree_free(t);
}

static void wrong_profile_is_an_error_not_a_fallback(void)
{
  tree *t = tree_new();
  char error[512] = "";
  wtl_settings s = tree_settings(t, WTL_METER_AUTO);
  s.machine.text = "no-such-machine";
  CHECK(wtl_meter_open_with(&s, &t->sys, error, sizeof error) == NULL);
  CHECK_CONTAINS(error, "no-such-machine");
  tree_free(t);
}

TESTS(TEST(parts_and_idle_are_the_node_modelled), TEST(parts_and_idle_are_the_node_measured),
      TEST(split_of_a_measured_node_names_both_sources), TEST(shares_follow_the_work),
      TEST(half_widths_hold_for_any_profile_within_its_own), TEST(lost_account_makes_the_split_unavailable),
      TEST(none_gives_unavailable_figures_for_all), TEST(wrong_profile_is_an_error_not_a_fallback))
