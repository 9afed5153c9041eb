/*
 * package_knob_test.c - the knobs of packages, the uncore's clock and the power limit, on trees in the kernel's
 * layouts: the files they find and write, what they restore, and machines on which they cannot be used.
 */
#include <signal.h>
#include <sys/wait.h>

#include "check.h"
#include "packages.h"
#include "power/knob/knob_kind.h"
#include "power/knob/knob_repair.h"
#include "power/knob/knob_saved.h"

static wtl_knob *open_with(const tree *t, enum wtl_package_knob what, int cpus, const wtl_knob_sys *os)
{
  wtl_settings s = clock_settings(t, WTL_KNOB_AUTO);
  cpu_set_t set = clock_cpus(cpus);
  return wtl_knob_open_package(&s, what, &set, os);
}

static wtl_knob *open_uncore(const tree *t, int cpus)
{
  return open_with(t, WTL_PACKAGE_UNCORE, cpus, &wtl_knob_sys_real);
}

static wtl_knob *open_limit(const tree *t, int cpus)
{
  return open_with(t, WTL_PACKAGE_LIMIT, cpus, &wtl_knob_sys_real);
}

/* ---- the uncore ---- */

static void a_package_with_dies_has_one_uncore_clock_for_all_of_them(void)
{
  tree *t = tree_new();
  two_packages(t->root);
  uncore_die(t->root, "package_00_die_00");
  uncore_die(t->root, "package_00_die_01");
  uncore_put(t->root, "package_00_die_01", "max_freq_khz", "2000000"); /* by an administrator */
  uncore_die(t->root, "package_01_die_00");
  wtl_knob *k = open_uncore(t, 4);
  CHECK_TEXT(wtl_knob_name(k), "uncore");
  CHECK(wtl_knob_is_uncore(k) && wtl_knob_domains(k) == 2 && CPU_COUNT(&wtl_knob_domain(k, 1)->cpus) == 2);
  const wtl_clock_domain *d = wtl_knob_domain(k, 0);
  CHECK(d->min_khz == 800000 && d->max_khz == 2400000 && d->found_khz == 2400000 && d->base_khz == 2400000);
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_claim(k, 1) == 0);
  CHECK(wtl_knob_set(k, 0, 2260000) == 0);
  CHECK_TEXT(uncore_get(t->root, "package_00_die_00"), "2200000"); /* the driver has steps of 100 MHz */
  CHECK_TEXT(uncore_get(t->root, "package_00_die_01"), "2000000"); /* never above the clock found */
  CHECK_TEXT(uncore_get(t->root, "package_01_die_00"), "2400000");
  CHECK(wtl_knob_set(k, 0, 800000) == 0);
  CHECK_TEXT(uncore_get(t->root, "package_00_die_01"), "800000");
  wtl_knob_restore(k);
  CHECK_TEXT(uncore_get(t->root, "package_00_die_00"), "2400000");
  CHECK_TEXT(uncore_get(t->root, "package_00_die_01"), "2000000");
  wtl_knob_close(k);
  tree_free(t);
}

static void where_a_package_has_clusters_only_they_are_set(void)
{
  tree *t = tree_new();
  two_packages(t->root);
  uncore_die(t->root, "package_00_die_00");
  uncore_put(t->root, "package_00_die_00", "max_freq_khz", "0"); /* as the first drivers for clusters show it */
  uncore_cluster(t->root, "uncore00", "0", "0", "2500000");
  uncore_cluster(t->root, "uncore01", "0", "1", "1800000");
  uncore_cluster(t->root, "uncore02", "1", "0", "2500000");
  wtl_knob *k = open_uncore(t, 2);
  CHECK_TEXT(wtl_knob_name(k), "uncore");
  CHECK(wtl_knob_domains(k) == 1 && wtl_knob_claim(k, 0) == 0 && wtl_knob_set(k, 0, 1000000) == 0);
  CHECK_TEXT(uncore_get(t->root, "uncore00"), "1000000");
  CHECK_TEXT(uncore_get(t->root, "uncore01"), "1000000");
  CHECK_TEXT(uncore_get(t->root, "uncore02"), "2500000"); /* of the other package */
  CHECK_TEXT(uncore_get(t->root, "package_00_die_00"), "0");
  CHECK_TEXT(clock_get(t->root, 0, "../intel_uncore_frequency/uncore00/min_freq_khz"), "800000");
  CHECK_TEXT(clock_get(t->root, 0, "../intel_uncore_frequency/uncore00/elc_floor_freq_khz"), "1200000");
  wtl_knob_restore(k);
  CHECK_TEXT(uncore_get(t->root, "uncore01"), "1800000");
  wtl_knob_close(k);
  tree_free(t);
}

static int hidden_packages(void *arg, const char *path, char *buf, size_t size)
{
  return clock_ends_with(path, "package_id") && strstr(path, "uncore00") ? -EACCES
                                                                         : wtl_sys_real.read_file(arg, path, buf, size);
}

static void a_cluster_whose_package_only_root_may_read_is_named(void)
{
  tree *t = tree_new();
  wtl_sys sys = wtl_sys_real;
  wtl_knob_sys os = wtl_knob_sys_real;
  sys.read_file = hidden_packages;
  os.sys = &sys;
  two_packages(t->root);
  uncore_cluster(t->root, "uncore00", "0", "0", "2500000");
  wtl_knob *k = open_with(t, WTL_PACKAGE_UNCORE, 2, &os);
  CHECK(wtl_knob_is_none(k));
  CHECK_CONTAINS(wtl_knob_why(k), "uncore00/package_id: Permission denied");
  wtl_knob_close(k);
  tree_free(t);
}

static void without_permission_or_driver_or_range_there_is_no_uncore_knob_and_a_reason(void)
{
  tree *t = tree_new();
  clock_faults f = {.open_of = "max_freq_khz", .open_error = EACCES};
  wtl_knob_sys os = clock_sys(&f);
  two_packages(t->root);
  wtl_knob *k = open_uncore(t, 2); /* a container without sysfs, a virtual machine, another maker */
  CHECK(wtl_knob_is_none(k) && !wtl_knob_acts(k));
  CHECK_CONTAINS(wtl_knob_why(k), "no uncore clock of package 0 under");
  wtl_knob_close(k);
  uncore_die(t->root, "package_00_die_00");
  k = open_uncore(t, 4); /* a package without one among those of the job */
  CHECK(wtl_knob_is_none(k));
  CHECK_CONTAINS(wtl_knob_why(k), "no uncore clock of package 1");
  wtl_knob_close(k);
  k = open_with(t, WTL_PACKAGE_UNCORE, 2, &os);
  CHECK(wtl_knob_is_none(k));
  CHECK_CONTAINS(wtl_knob_why(k), "package_00_die_00/max_freq_khz: Permission denied");
  wtl_knob_close(k);
  static const char *const wrong[] = {"0", "700000", "fast", "99999999999999"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    uncore_put(t->root, "package_00_die_00", "max_freq_khz", wrong[i]);
    k = open_uncore(t, 2);
    CHECK(wtl_knob_is_none(k));
    CHECK_CONTAINS(wtl_knob_why(k), "are no range of clocks");
    wtl_knob_close(k);
  }
  tree_free(t);
}

static void the_uncore_of_another_job_stays_unchanged(void)
{
  tree *t = tree_new();
  char folder[200];
  two_packages(t->root);
  uncore_die(t->root, "package_00_die_00");
  uncore_die(t->root, "package_01_die_00");
  clock_intel(t->root, 0);
  wtl_settings s = clock_settings(t, WTL_KNOB_CPUFREQ);
  cpu_set_t set = clock_cpus(4), one = clock_cpus(1);
  snprintf(folder, sizeof folder, "%s/state", t->root);
  s.clock_state.text = folder;
  wtl_knob *first = wtl_knob_open_package(&s, WTL_PACKAGE_UNCORE, &set, &wtl_knob_sys_real);
  wtl_knob *second = wtl_knob_open_package(&s, WTL_PACKAGE_UNCORE, &set, &wtl_knob_sys_real);
  wtl_knob *cores = wtl_knob_open(&s, &one, NULL);
  CHECK(wtl_knob_claim(first, 0) == 0 && wtl_knob_set(first, 0, 1000000) == 0);
  CHECK(wtl_knob_claim(second, 0) == EBUSY);
  CHECK_CONTAINS(wtl_knob_why(second), "another job has it");
  CHECK(wtl_knob_claim(second, 1) == 0);
  CHECK(wtl_knob_claim(cores, 0) == 0); /* the claim of CPU 0 is another one */
  CHECK_TEXT(uncore_get(t->root, "package_00_die_00"), "1000000");
  wtl_knob *const all[] = {cores, second, first};
  for (size_t i = 0; i < 3; i++) {
    wtl_knob_restore(all[i]);
    wtl_knob_close(all[i]);
  }
  CHECK_TEXT(uncore_get(t->root, "package_00_die_00"), "2400000");
  tree_free(t);
}

/* ---- power limits ---- */

static void a_limit_is_set_in_milliwatts_and_the_short_one_keeps_its_ratio(void)
{
  tree *t = tree_new();
  two_packages(t->root);
  limit_zone(t, "intel-rapl:0", "package-0", "165000000", "198000000");
  limit_zone(t, "intel-rapl:1", "package-1", "150000000", "180000000");
  wtl_knob *k = open_limit(t, 4);
  CHECK_TEXT(wtl_knob_name(k), "limit");
  CHECK(wtl_knob_domains(k) == 2 && wtl_knob_domain(k, 0)->max_khz == 165000);
  CHECK(wtl_knob_domain(k, 0)->min_khz == 82500 && wtl_knob_domain(k, 1)->found_khz == 150000);
  CHECK(wtl_knob_clock_at_least(wtl_knob_domain(k, 0), 10) == 82500); /* at least half, at most what was found */
  CHECK(wtl_knob_clock_at_least(wtl_knob_domain(k, 0), 900000) == 165000);
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_set(k, 0, 110000) == 0);
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_0_power_limit_uw"), "110000000");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_1_power_limit_uw"), "132000000");
  CHECK_TEXT(limit_get(t, "intel-rapl:1", "constraint_0_power_limit_uw"), "150000000");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_0_time_window_us"), "999424");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "enabled"), "1");
  wtl_knob_restore(k);
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_0_power_limit_uw"), "165000000");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_1_power_limit_uw"), "198000000");
  wtl_knob_close(k);
  tree_free(t);
}

/* As a job leaves it that was killed together with its guard. */
static void be_killed(const wtl_settings *s, enum wtl_package_knob what, uint32_t value)
{
  cpu_set_t set = clock_cpus(2);
  wtl_knob *k = wtl_knob_open_package(s, what, &set, &wtl_knob_sys_real);
  CHECK(wtl_knob_claim(k, 0) == 0);
  wtl_knob_save(k);
  CHECK(wtl_knob_set(k, 0, value) == 0);
  wtl_knob_close(k);
}

/* Some boards show the register's highest value, and a laptop's limit may be above its stated maximum. */
static void a_package_can_be_limited_whatever_limit_its_board_has_set(void)
{
  static const struct {
    const char *found, *stated;
    uint32_t least_mw;
  } boards[] = {{"4095000000", "125000000", 62500},
                {"4095875000", "4095000000", 50000},
                {"4095000000", "0", 50000},
                {"30000000", "17000000", 8500},
                {"165000000", "205000000", 82500}};
  for (size_t i = 0; i < sizeof boards / sizeof boards[0]; i++) {
    tree *t = tree_new();
    char folder[200], said[2000];
    wtl_settings s = clock_settings(t, WTL_KNOB_AUTO);
    snprintf(folder, sizeof folder, "%s/state", t->root);
    s.clock_state.text = folder;
    s.package_limit.text = "1W";
    two_packages(t->root);
    limit_zone(t, "intel-rapl:0", "package-0", boards[i].found, boards[i].found);
    tree_put(t, "intel-rapl:0", "constraint_0_max_power_uw", "%s\n", boards[i].stated);
    wtl_knob *k = open_limit(t, 2);
    CHECK(wtl_knob_domain(k, 0)->min_khz == boards[i].least_mw);
    wtl_knob_close(k);
    be_killed(&s, WTL_PACKAGE_LIMIT, boards[i].least_mw);
    CHECK(atof(limit_get(t, "intel-rapl:0", "constraint_1_power_limit_uw")) == 1e3 * boards[i].least_mw);
    CHECK(wtl_knob_repair(&s, &wtl_knob_sys_real, said, sizeof said)); /* it is still right, above today's maximum */
    CHECK_CONTAINS(said, "put back: 2 files");
    CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_0_power_limit_uw"), boards[i].found);
    k = wtl_knob_open(&(wtl_settings){.knob.number = WTL_KNOB_POWERCAP, .sysfs = s.sysfs, .clock_state = s.clock_state},
                      &(cpu_set_t){{1}}, NULL);
    CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_set(k, 0, wtl_knob_domain(k, 0)->min_khz) == 0);
    CHECK(atof(limit_get(t, "intel-rapl:0", "constraint_0_power_limit_uw")) == 1e3 * boards[i].least_mw);
    wtl_knob_restore(k);
    CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_0_power_limit_uw"), boards[i].found);
    wtl_knob_close(k);
    tree_free(t);
  }
}

static void constraints_are_known_by_their_names(void)
{
  tree *t = tree_new();
  two_packages(t->root);
  limit_zone(t, "intel-rapl:0", "package-0", "165000000", "198000000");
  tree_put(t, "intel-rapl:0", "constraint_0_name", "peak_power\n");
  tree_put(t, "intel-rapl:0", "constraint_1_name", "long_term\n");
  wtl_knob *k = open_limit(t, 2);
  CHECK(wtl_knob_domain(k, 0)->max_khz == 198000);
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_set(k, 0, 99000) == 0);
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_0_power_limit_uw"), "165000000");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_1_power_limit_uw"), "99000000");
  wtl_knob_restore(k);
  wtl_knob_close(k);
  tree_put(t, "intel-rapl:0", "constraint_1_name", "short_term\n"); /* there is no limit over a long time */
  k = open_limit(t, 2);
  CHECK(wtl_knob_is_none(k));
  CHECK_CONTAINS(wtl_knob_why(k), "no power limit of package 0 under");
  wtl_knob_close(k);
  tree_free(t);
}

static void limits_that_are_off_are_on_while_the_knob_sets_them(void)
{
  tree *t = tree_new();
  two_packages(t->root);
  limit_zone(t, "intel-rapl:0", "package-0", "165000000", "198000000");
  tree_put(t, "intel-rapl:0", "enabled", "0\n");
  wtl_knob *k = open_limit(t, 2);
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_set(k, 0, 110000) == 0);
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "enabled"), "1");
  wtl_knob_restore(k);
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "enabled"), "0");
  wtl_knob_close(k);
  tree_free(t);
}

static void without_permission_or_zone_there_is_no_limit_and_a_reason(void)
{
  tree *t = tree_new();
  clock_faults f = {.open_of = "power_limit_uw", .open_error = EACCES};
  wtl_knob_sys os = clock_sys(&f);
  two_packages(t->root);
  wtl_knob *k = open_limit(t, 2);
  CHECK(wtl_knob_is_none(k));
  CHECK_CONTAINS(wtl_knob_why(k), "no power limit of package 0 under");
  wtl_knob_close(k);
  limit_zone(t, "intel-rapl:0", "package-0", "165000000", "198000000");
  k = open_with(t, WTL_PACKAGE_LIMIT, 2, &os);
  CHECK(wtl_knob_is_none(k));
  CHECK_CONTAINS(wtl_knob_why(k), "constraint_0_power_limit_uw: Permission denied");
  wtl_knob_close(k);
  tree_put(t, "intel-rapl:0", "constraint_0_power_limit_uw", "0\n");
  k = open_limit(t, 2);
  CHECK(wtl_knob_is_none(k));
  CHECK_CONTAINS(wtl_knob_why(k), "which is no power limit");
  wtl_knob_close(k);
  tree_free(t);
}

/* The firmware may have locked the limit. The kernel then refuses each write, also that of the value found. */
static void a_locked_limit_is_reported_and_the_rest_restored(void)
{
  tree *t = tree_new();
  clock_faults f = {.write_of = "constraint_0_power_limit_uw", .write_error = EACCES};
  wtl_knob_sys os = clock_sys(&f);
  two_packages(t->root);
  limit_zone(t, "intel-rapl:0", "package-0", "165000000", "198000000");
  wtl_knob *k = open_with(t, WTL_PACKAGE_LIMIT, 2, &os);
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_set(k, 0, 110000) == EACCES);
  CHECK_CONTAINS(wtl_knob_why(k), "cannot write");
  wtl_knob_restore(k);
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_1_power_limit_uw"), "198000000");
  wtl_knob_close(k);
  tree_free(t);
}

/* ---- after a kill ---- */

/* A process that sets the knob of package 0 and then stands still until it is killed. */
static pid_t setter(const tree *t, enum wtl_package_knob what, uint32_t value, int said)
{
  pid_t pid = fork();
  if (pid != 0) return pid;
  wtl_knob *k = open_with(t, what, 2, &wtl_knob_sys_real);
  pid_t me = getpid();
  bool good = k && wtl_knob_claim(k, 0) == 0 && wtl_knob_guard(k, &me, 1) == 0 && wtl_knob_set(k, 0, value) == 0;
  if (write(said, good ? "y" : "n", 1) != 1) _exit(1);
  for (;;) pause();
}

static void both_come_back_after_sigkill(void)
{
  tree *t = tree_new();
  int said[2];
  char answer = 0;
  two_packages(t->root);
  uncore_die(t->root, "package_00_die_00");
  limit_zone(t, "intel-rapl:0", "package-0", "165000000", "198000000");
  CHECK(pipe(said) == 0);
  const pid_t pids[] = {setter(t, WTL_PACKAGE_UNCORE, 900000, said[1]), setter(t, WTL_PACKAGE_LIMIT, 90000, said[1])};
  for (int i = 0; i < 2; i++) CHECK(read(said[0], &answer, 1) == 1 && answer == 'y');
  CHECK_TEXT(uncore_get(t->root, "package_00_die_00"), "900000");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_0_power_limit_uw"), "90000000");
  for (int i = 0; i < 2; i++) {
    kill(pids[i], SIGKILL);
    waitpid(pids[i], NULL, 0);
  }
  for (int i = 0; i < 12000 && (strcmp(uncore_get(t->root, "package_00_die_00"), "2400000") != 0 ||
                                strcmp(limit_get(t, "intel-rapl:0", "constraint_1_power_limit_uw"), "198000000") != 0);
       i++)
    usleep(10000);
  CHECK_TEXT(uncore_get(t->root, "package_00_die_00"), "2400000");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_0_power_limit_uw"), "165000000");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_1_power_limit_uw"), "198000000");
  close(said[0]);
  close(said[1]);
  tree_free(t);
}

static void the_next_job_restores_both_if_its_settings_may_set_them(void)
{
  tree *t = tree_new();
  char folder[200], said[2000];
  wtl_settings s = clock_settings(t, WTL_KNOB_AUTO);
  snprintf(folder, sizeof folder, "%s/state", t->root);
  s.clock_state.text = folder;
  two_packages(t->root);
  uncore_cluster(t->root, "uncore00", "0", "0", "2300000");
  limit_zone(t, "intel-rapl:0", "package-0", "165000000", "198000000");
  tree_put(t, "intel-rapl:0", "enabled", "0\n");
  be_killed(&s, WTL_PACKAGE_UNCORE, 900000);
  be_killed(&s, WTL_PACKAGE_LIMIT, 90000);
  CHECK_TEXT(uncore_get(t->root, "uncore00"), "900000");
  CHECK(wtl_knob_repair(&s, &wtl_knob_sys_real, said, sizeof said));
  CHECK_CONTAINS(said, "clocks that a killed job had left changed are put back: 1 files");
  CHECK_CONTAINS(said, "WATTLE_PACKAGE_LIMIT restores them");
  CHECK_TEXT(uncore_get(t->root, "uncore00"), "2300000");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_0_power_limit_uw"), "90000000");
  s.package_limit.text = "120W";
  CHECK(wtl_knob_repair(&s, &wtl_knob_sys_real, said, sizeof said));
  CHECK_CONTAINS(said, "power limits that a killed job had left changed are put back: 3 files");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_0_power_limit_uw"), "165000000");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "constraint_1_power_limit_uw"), "198000000");
  CHECK_TEXT(limit_get(t, "intel-rapl:0", "enabled"), "0");
  CHECK(!wtl_knob_repair(&s, &wtl_knob_sys_real, said, sizeof said));
  tree_free(t);
}

static void values_that_no_hardware_has_are_not_restored(void)
{
  static const char *const wrong[] = {"9999", "20000001", "0", "-1", "fast"};
  wtl_knob_place place = {WTL_KNOB_UNCORE, WTL_UNCORE_DIE(0, 0)}, cluster = {WTL_KNOB_UNCORE, 7};
  char why[300], path[400];
  tree *t = tree_new();
  uncore_die(t->root, "package_00_die_00");
  CHECK(wtl_knob_place_takes(&wtl_sys_real, t->root, place, "2400000", why, sizeof why));
  CHECK(
      wtl_knob_place_takes(&wtl_sys_real, t->root, place, "2700000", why, sizeof why)); /* set before the driver was */
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    CHECK(!wtl_knob_place_takes(&wtl_sys_real, t->root, place, wrong[i], why, sizeof why));
  CHECK(wtl_knob_place_path(&wtl_sys_real, t->root, place, path, sizeof path));
  CHECK(clock_ends_with(path, "/package_00_die_00/max_freq_khz"));
  CHECK(wtl_knob_place_path(&wtl_sys_real, t->root, cluster, path, sizeof path));
  CHECK(clock_ends_with(path, "/uncore07/max_freq_khz"));
  limit_zone(t, "intel-rapl:0", "package-0", "165000000", "198000000");
  wtl_knob_place enforced = {WTL_KNOB_ENFORCED, 0};
  CHECK(wtl_knob_place_takes(&wtl_sys_real, t->root, enforced, "0", why, sizeof why));
  CHECK(!wtl_knob_place_takes(&wtl_sys_real, t->root, enforced, "2", why, sizeof why));
  tree_free(t);
}

TESTS(TEST(a_package_with_dies_has_one_uncore_clock_for_all_of_them),
      TEST(where_a_package_has_clusters_only_they_are_set), TEST(a_cluster_whose_package_only_root_may_read_is_named),
      TEST(without_permission_or_driver_or_range_there_is_no_uncore_knob_and_a_reason),
      TEST(the_uncore_of_another_job_stays_unchanged),
      TEST(a_limit_is_set_in_milliwatts_and_the_short_one_keeps_its_ratio),
      TEST(a_package_can_be_limited_whatever_limit_its_board_has_set), TEST(constraints_are_known_by_their_names),
      TEST(limits_that_are_off_are_on_while_the_knob_sets_them),
      TEST(without_permission_or_zone_there_is_no_limit_and_a_reason),
      TEST(a_locked_limit_is_reported_and_the_rest_restored), TEST(both_come_back_after_sigkill),
      TEST(the_next_job_restores_both_if_its_settings_may_set_them), TEST(values_that_no_hardware_has_are_not_restored))
