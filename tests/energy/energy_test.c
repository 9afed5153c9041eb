/*
 * energy_test.c - wattle.h as a program uses it.
 */
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "power/check.h"
#include "power/tree.h"

static void use_model(void)
{
  setenv("WATTLE_MACHINE", "sandybridge-e5-2670", 1);
  setenv("WATTLE_METER", "model", 1);
}

static const wattle_joules_t *get(const wattle_joules_t *f, int n, const char *domain)
{
  static wattle_joules_t missing = {.joules = NAN};
  for (int i = 0; i < n; i++)
    if (strcmp(f[i].domain, domain) == 0) return &f[i];
  fprintf(stderr, "no domain %s\n", domain);
  return &missing;
}

/* CPU seconds are spent until the account shows them: no timing decides. */
static void burn(double cpu_s)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  double start = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec, now = start;
  while (now < start + cpu_s) {
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  }
}

static void open_read_close(void)
{
  use_model();
  wattle_energy_t *e = wattle_energy_open(NULL);
  CHECK(e != NULL);
  if (!e) return;
  CHECK_TEXT(wattle_energy_meter(e), "model");
  CHECK(wattle_energy_domains(e) == 4);
  burn(0.02);
  wattle_joules_t f[8];
  int n = wattle_energy_read(e, f, 8);
  CHECK(n == 4);
  const wattle_joules_t *cpu = get(f, n, "cpu");
  CHECK(cpu->joules >= 0.02 * 12.458 && cpu->provenance == WATTLE_MODELLED && cpu->scope == WATTLE_SCOPE_PROCESS);
  CHECK(get(f, n, "cpu-idle")->scope == WATTLE_SCOPE_NODE);
  CHECK_NEAR(get(f, n, "cpu-idle")->joules, 2 * 3.786 * get(f, n, "cpu-idle")->interval_s, 1e-9);
  CHECK_NEAR(get(f, n, "dram")->joules, 0, 0);
  CHECK(wattle_energy_read(e, f, 1) == 4); /* too little room: as many as fit, and how many there are */
  CHECK(wattle_energy_read(e, NULL, 0) == 4);
  wattle_energy_close(e);
  wattle_energy_close(NULL);
}

static void hinted_bytes_cost_dram_joules(void)
{
  use_model();
  wattle_energy_t *e = wattle_energy_open("model");
  wattle_joules_t f[4];
  wattle_region_begin(e, "copy");
  CHECK(wattle_energy_add_bytes(e, 2e9) == WATTLE_OK);
  wattle_region_end(e, "copy");
  CHECK(wattle_energy_add_bytes(e, 1e9) == WATTLE_OK);
  CHECK_NEAR(get(f, wattle_energy_read(e, f, 4), "dram")->joules, 3e9 * 0.625e-9, 1e-9);
  CHECK_NEAR(get(f, wattle_region_joules(e, "copy", f, 4), "dram")->joules, 2e9 * 0.625e-9, 1e-9);
  CHECK(wattle_energy_add_bytes(e, -1) == WATTLE_E_ARGUMENT);
  CHECK(wattle_energy_add_bytes(e, NAN) == WATTLE_E_ARGUMENT);
  CHECK_CONTAINS(wattle_last_error(), "nan");
  wattle_energy_close(e);
}

static void regions_nest_overlap_and_repeat(void)
{
  use_model();
  wattle_energy_t *e = wattle_energy_open("model");
  const double burned = 100 * 0.0001;
  wattle_joules_t outer[4], inner[4];
  wattle_region_t r;
  CHECK(wattle_region_begin(e, "outer") == WATTLE_OK);
  for (int i = 0; i < 100; i++) {
    CHECK(wattle_region_begin(e, "inner") == WATTLE_OK);
    CHECK(wattle_region_begin(e, "inner") == WATTLE_OK); /* inside itself: counts once */
    burn(0.0001);
    CHECK(wattle_region_end(e, "inner") == WATTLE_OK);
    CHECK(wattle_region_end(e, "inner") == WATTLE_OK);
  }
  CHECK(wattle_region_begin(e, "overlap") == WATTLE_OK);
  CHECK(wattle_region_joules(e, "overlap", inner, 4) == WATTLE_E_OPEN);
  CHECK(wattle_region_end(e, "outer") == WATTLE_OK);
  CHECK(wattle_region_end(e, "overlap") == WATTLE_OK);
  CHECK(wattle_region_count(e) == 3);
  CHECK(wattle_region_get(e, 1, &r) == WATTLE_OK);
  CHECK_TEXT(r.name, "inner");
  CHECK(r.calls == 100 && r.open == 0);
  int n = wattle_region_joules(e, "inner", inner, 4);
  CHECK(n == 4);
  CHECK(r.seconds >= burned * (1 - 1e-9) && inner[0].interval_s >= burned * (1 - 1e-9));
  CHECK(inner[0].joules >= burned * 12.458 * (1 - 1e-9));
  CHECK(wattle_region_joules(e, "outer", outer, 4) == 4);
  CHECK(outer[0].joules >= inner[0].joules && outer[0].interval_s >= inner[0].interval_s);
  CHECK(wattle_region_get(e, 0, &r) == WATTLE_OK && r.calls == 1);
  wattle_energy_close(e);
}

static void a_region_inside_itself_counts_from_its_outermost_begin(void)
{
  use_model();
  wattle_energy_t *e = wattle_energy_open("model");
  wattle_joules_t f[4];
  wattle_region_begin(e, "r");
  wattle_energy_add_bytes(e, 1e9);
  wattle_region_begin(e, "r");
  wattle_energy_add_bytes(e, 1e9);
  wattle_region_end(e, "r");
  wattle_energy_add_bytes(e, 1e9);
  wattle_region_end(e, "r");
  CHECK_NEAR(get(f, wattle_region_joules(e, "r", f, 4), "dram")->joules, 3e9 * 0.625e-9, 1e-9);
  wattle_energy_close(e);
}

static void misuse_is_an_error_that_names_the_mistake(void)
{
  use_model();
  wattle_energy_t *e = wattle_energy_open("model");
  wattle_joules_t f[4];
  wattle_region_t r;
  char name[100];
  CHECK(wattle_region_end(e, "never") == WATTLE_E_REGION);
  CHECK_CONTAINS(wattle_last_error(), "\"never\"");
  CHECK(wattle_region_joules(e, "never", f, 4) == WATTLE_E_REGION);
  CHECK(wattle_region_get(e, 0, &r) == WATTLE_E_ARGUMENT);
  CHECK(wattle_region_begin(e, NULL) == WATTLE_E_ARGUMENT);
  CHECK(wattle_region_begin(e, "") == WATTLE_E_ARGUMENT);
  CHECK(wattle_region_begin(NULL, "x") == WATTLE_E_ARGUMENT);
  memset(name, 'x', sizeof name);
  name[64] = '\0';
  CHECK(wattle_region_begin(e, name) == WATTLE_E_ARGUMENT);
  CHECK_CONTAINS(wattle_last_error(), "64 characters");
  name[63] = '\0';
  CHECK(wattle_region_begin(e, name) == WATTLE_OK && wattle_region_end(e, name) == WATTLE_OK);
  CHECK(wattle_energy_read(NULL, f, 4) == WATTLE_E_ARGUMENT);
  CHECK(wattle_energy_read(e, NULL, 4) == WATTLE_E_ARGUMENT);
  CHECK(wattle_joules_text(NULL, name, 10) == WATTLE_E_ARGUMENT);
  CHECK(wattle_joules_sum(NULL, 1, f) == WATTLE_E_ARGUMENT);
  CHECK(wattle_energy_domains(NULL) == 0 && wattle_region_count(NULL) == 0);
  CHECK_TEXT(wattle_energy_meter(NULL), "");
  for (int c = 0; c >= WATTLE_E_OPEN; c--) CHECK(strcmp(wattle_strerror(c), "unknown error") != 0);
  CHECK_TEXT(wattle_strerror(-99), "unknown error");
  wattle_energy_close(e);
}

static void wrong_meter_setting_or_profile_opens_nothing(void)
{
  use_model();
  CHECK(wattle_energy_open("sonar") == NULL);
  CHECK_CONTAINS(wattle_last_error(), "\"sonar\"");
  CHECK_CONTAINS(wattle_last_error(), "powercap");
  setenv("WATTLE_MACHINE", "no-such-machine", 1);
  CHECK(wattle_energy_open("model") == NULL);
  CHECK_CONTAINS(wattle_last_error(), "no-such-machine");
  wattle_energy_t *e = wattle_energy_open("none"); /* needs no profile */
  CHECK(e != NULL);
  wattle_energy_close(e);
  setenv("WATTLE_METER", "sonar", 1);
  CHECK(wattle_energy_open(NULL) == NULL);
  CHECK_CONTAINS(wattle_last_error(), "WATTLE_METER");
  use_model();
}

static void none_is_unavailable_everywhere(void)
{
  wattle_energy_t *e = wattle_energy_open("none");
  wattle_joules_t f[4], sum;
  char line[300];
  wattle_region_begin(e, "r");
  wattle_region_end(e, "r");
  int n = wattle_region_joules(e, "r", f, 4);
  CHECK(n == 2);
  for (int i = 0; i < n; i++)
    CHECK(f[i].provenance == WATTLE_UNAVAILABLE && isnan(f[i].joules) && isnan(f[i].uncertainty));
  wattle_joules_text(&f[0], line, sizeof line);
  CHECK_TEXT(line, "cpu unavailable (node)");
  wattle_joules_sum(f, (size_t)n, &sum);
  CHECK(sum.provenance == WATTLE_UNAVAILABLE && isnan(sum.joules));
  wattle_energy_close(e);
}

static void a_text_rounds_to_nearest_under_any_rounding_mode(void)
{
  const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  wattle_joules_t f = {
      .domain = "dram", .provenance = WATTLE_MEASURED, .joules = 1.23456789, .uncertainty = 0.0123456, .interval_s = 1};
  char usual[300], line[300];
  wattle_joules_text(&f, usual, sizeof usual);
  for (int i = 0; i < 4; i++) {
    fesetround(modes[i]);
    wattle_joules_text(&f, line, sizeof line);
    bool stayed = fegetround() == modes[i];
    fesetround(FE_TONEAREST);
    CHECK_TEXT(line, usual);
    CHECK(stayed);
  }
}

static void a_sum_is_as_good_as_its_weakest_part(void)
{
  wattle_joules_t f[3] = {
      {.domain = "package-0",
       .provenance = WATTLE_MEASURED,
       .joules = 10,
       .uncertainty = 1,
       .interval_s = 1,
       .covered_s = 1},
      {.domain = "core-0", .provenance = WATTLE_MEASURED, .joules = 8, .uncertainty = 1, .nested = 1},
      {.domain = "dram",
       .provenance = WATTLE_MODELLED,
       .joules = 3,
       .uncertainty = 2,
       .interval_s = 1,
       .covered_s = 0.5}};
  wattle_joules_t sum;
  CHECK(wattle_joules_sum(f, 3, &sum) == WATTLE_OK);
  CHECK_NEAR(sum.joules, 13, 1e-12);
  CHECK_NEAR(sum.uncertainty, 3, 1e-12);
  CHECK_NEAR(sum.covered_s, 0.5, 0);
  CHECK(sum.provenance == WATTLE_MODELLED);
  f[2].provenance = WATTLE_UNAVAILABLE;
  f[2].joules = NAN;
  wattle_joules_sum(f, 3, &sum);
  CHECK(sum.provenance == WATTLE_UNAVAILABLE && isnan(sum.joules));
  CHECK(wattle_joules_sum(NULL, 0, &sum) == WATTLE_OK && sum.provenance == WATTLE_UNAVAILABLE);
}

/*
 * A sensor through the public door: the fake tree stands still, so its joules are a measured 0 with a doubt of its own.
 */
static void sensors_are_read_through_the_public_door(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 5000000, 262143328850ull);
  setenv("WATTLE_SYSFS", t->root, 1);
  setenv("WATTLE_METER", "auto", 1);
  wattle_energy_t *e = wattle_energy_open("auto");
  CHECK_TEXT(wattle_energy_meter(e), "powercap");
  wattle_joules_t f[4];
  wattle_region_begin(e, "r");
  tree_energy(t, "intel-rapl:0", 5000000 + 50000);
  wattle_region_end(e, "r");
  CHECK(wattle_region_joules(e, "r", f, 4) == 1);
  CHECK_NEAR(f[0].joules, 0.05, 1e-9);
  CHECK(f[0].provenance == WATTLE_MEASURED);
  CHECK(f[0].uncertainty > 0);
  tree_remove(t, "intel-rapl:0");
  wattle_region_begin(e, "gone");
  wattle_region_end(e, "gone");
  CHECK(wattle_region_joules(e, "gone", f, 4) == 1);
  CHECK(f[0].provenance == WATTLE_UNAVAILABLE && isnan(f[0].joules));
  wattle_energy_close(e);
  unsetenv("WATTLE_SYSFS");
  tree_free(t);
  use_model();
}

/* The function that a runtime registers replaces the CPU clock, but only between two moments of one registration. */
static void account_of_a_runtime(void *arg, wtl_activity *out)
{
  *out = *(wtl_activity *)arg;
}

static void a_runtimes_account_is_used(void)
{
  use_model();
  wtl_activity so_far = {.wall_s = 5, .active_s = 1, .spin_s = 4, .bytes = 7e9};
  wtl_activity_register(account_of_a_runtime, &so_far);
  wattle_energy_t *e = wattle_energy_open("model");
  so_far = (wtl_activity){.wall_s = 105, .active_s = 11, .spin_s = 94, .bytes = 8e9};
  wattle_joules_t f[4];
  int n = wattle_energy_read(e, f, 4);
  CHECK_NEAR(get(f, n, "cpu")->joules, 10 * 12.458 + 90 * 12.064, 1e-9);
  CHECK_NEAR(get(f, n, "dram")->joules, 1e9 * 0.625e-9, 1e-9);
  wtl_activity other = {
      .wall_s = 1000, .active_s = 900, .bytes = 9e12}; /* another account: no difference of the two means anything */
  wtl_activity_register(account_of_a_runtime, &other);
  n = wattle_energy_read(e, f, 4);
  CHECK_NEAR(get(f, n, "dram")->joules, 0, 0);
  CHECK(get(f, n, "cpu")->joules < 100 * 12.458);
  wtl_activity_register(NULL, NULL); /* the runtime goes: its totals must not be subtracted from nothing */
  n = wattle_energy_read(e, f, 4);
  CHECK(get(f, n, "cpu")->provenance == WATTLE_MODELLED && get(f, n, "cpu")->joules < 100 * 12.458);
  wattle_energy_close(e);
}

static void *own_handle(void *arg)
{
  (void)arg;
  wattle_energy_t *e = wattle_energy_open("model");
  for (int i = 0; i < 200; i++) {
    wattle_region_begin(e, "r");
    wattle_region_end(e, i % 2 ? "r" : "other");
    wattle_region_end(e, "r");
  }
  wattle_joules_t f[4];
  void *bad = wattle_region_joules(e, "r", f, 4) == 4 ? NULL : (void *)1;
  wattle_energy_close(e);
  return bad;
}

static void handles_are_independent_across_threads(void)
{
  use_model();
  pthread_t t[4];
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, own_handle, NULL);
  for (int i = 0; i < 4; i++) {
    void *bad = NULL;
    pthread_join(t[i], &bad);
    CHECK(bad == NULL);
  }
}

static void many_regions_are_kept_apart(void)
{
  use_model();
  wattle_energy_t *e = wattle_energy_open("model");
  char name[32];
  for (int i = 0; i < 1000; i++) {
    snprintf(name, sizeof name, "region-%d", i);
    CHECK(wattle_region_begin(e, name) == WATTLE_OK && wattle_region_end(e, name) == WATTLE_OK);
  }
  CHECK(wattle_region_count(e) == 1000);
  wattle_region_t r;
  CHECK(wattle_region_get(e, 999, &r) == WATTLE_OK && r.calls == 1);
  CHECK_TEXT(r.name, "region-999");
  FILE *out = fopen("/dev/null", "w");
  CHECK(wattle_energy_print(e, out) == WATTLE_OK);
  fclose(out);
  wattle_energy_close(e);
}

TESTS(TEST(open_read_close), TEST(hinted_bytes_cost_dram_joules), TEST(regions_nest_overlap_and_repeat),
      TEST(a_region_inside_itself_counts_from_its_outermost_begin), TEST(misuse_is_an_error_that_names_the_mistake),
      TEST(wrong_meter_setting_or_profile_opens_nothing), TEST(none_is_unavailable_everywhere),
      TEST(a_text_rounds_to_nearest_under_any_rounding_mode), TEST(a_sum_is_as_good_as_its_weakest_part),
      TEST(sensors_are_read_through_the_public_door), TEST(a_runtimes_account_is_used),
      TEST(handles_are_independent_across_threads), TEST(many_regions_are_kept_apart))
