/*
 * knob_test.c - what the knobs make of trees as drivers make them: the clocks they find, the files they write, what
 * they put back, and files that refuse.
 */
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "check.h"
#include "clocks.h"
#include "power/machine/clock_domains.h"

static wtl_knob *open_knob(const tree *t, int kind, int cpus)
{
  wtl_settings s = clock_settings(t, kind);
  cpu_set_t set = clock_cpus(cpus);
  return wtl_knob_open(&s, &set, NULL);
}

static size_t domains_of(const tree *t, int cpus, enum wtl_clock_domain_rule rule, cpu_set_t out[8])
{
  cpu_set_t want = clock_cpus(cpus), *found;
  size_t n;
  found = wtl_knob_clock_domains(&wtl_sys_real, t->root, rule, &want, &n);
  for (size_t i = 0; i < n && i < 8; i++) out[i] = found[i];
  free(found);
  return n;
}

static void lists_of_cpus_are_read_whole_or_not_at_all(void)
{
  cpu_set_t set;
  CHECK(wtl_cpu_list("0-2,5\n", &set) && CPU_COUNT(&set) == 4 && CPU_ISSET(5, &set));
  CHECK(wtl_cpu_list("0 1 3", &set) && CPU_COUNT(&set) == 3 && !CPU_ISSET(2, &set));
  CHECK(!wtl_cpu_list("", &set) && CPU_COUNT(&set) == 0);
  CHECK(!wtl_cpu_list("0-2,x", &set) && CPU_COUNT(&set) == 0);
  CHECK(!wtl_cpu_list("0-", &set) && !wtl_cpu_list("3-1", &set) && !wtl_cpu_list("0-99999", &set));
}

static void cores_share_a_clock_where_the_kernel_or_the_hardware_says_so(void)
{
  tree *t = tree_new();
  cpu_set_t d[8];
  for (int cpu = 0; cpu < 6; cpu++) clock_intel(t->root, cpu);
  CHECK(domains_of(t, 6, WTL_DOMAIN_AUTO, d) == 6);
  clock_put(t->root, 0, "cpufreq/related_cpus", "0 1");
  clock_put(t->root, 1, "cpufreq/related_cpus", "0 1");
  clock_put(t->root, 2, "cpufreq/freqdomain_cpus", "2 3"); /* two policies that the hardware couples */
  clock_put(t->root, 4, "topology/thread_siblings_list", "4-5");
  CHECK(domains_of(t, 6, WTL_DOMAIN_AUTO, d) == 3);
  CHECK(CPU_COUNT(&d[0]) == 2 && CPU_ISSET(1, &d[0]));
  CHECK(CPU_COUNT(&d[1]) == 2 && CPU_ISSET(3, &d[1]));
  CHECK(CPU_COUNT(&d[2]) == 2 && CPU_ISSET(5, &d[2]));
  /* Whose sibling is not ours is still in the domain: it is slowed too. */
  CHECK(domains_of(t, 5, WTL_DOMAIN_AUTO, d) == 3 && CPU_ISSET(5, &d[2]));
  tree_free(t);
}

static void a_core_without_a_list_of_sharers_counts_as_sharing_its_clock_with_all(void)
{
  static const char *const said[] = {"", "0-", NULL};
  for (int i = 0; i < 3; i++) {
    tree *t = tree_new();
    cpu_set_t d[8];
    char path[512];
    for (int cpu = 0; cpu < 4; cpu++) clock_intel(t->root, cpu);
    if (said[i]) clock_put(t->root, 2, "cpufreq/related_cpus", said[i]);
    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu2/cpufreq/related_cpus", t->root);
    CHECK(said[i] || remove(path) == 0);
    CHECK(domains_of(t, 4, WTL_DOMAIN_AUTO, d) == 1 && CPU_COUNT(&d[0]) == 4);
    tree_free(t);
  }
}

static void a_package_is_one_domain_where_the_user_says_so(void)
{
  tree *t = tree_new();
  cpu_set_t d[8];
  for (int cpu = 0; cpu < 4; cpu++) {
    clock_intel(t->root, cpu);
    clock_put(t->root, cpu, "topology/package_cpus_list", cpu < 2 ? "0-1" : "2-3");
  }
  CHECK(domains_of(t, 4, WTL_DOMAIN_AUTO, d) == 4);
  CHECK(domains_of(t, 4, WTL_DOMAIN_PACKAGE, d) == 2 && CPU_COUNT(&d[0]) == 2);
  tree_free(t);
}

static void userspace_sets_the_clock_itself(void)
{
  tree *t = tree_new();
  clock_userspace(t->root, 0);
  wtl_knob *k = open_knob(t, WTL_KNOB_AUTO, 1);
  CHECK_TEXT(wtl_knob_name(k), "cpufreq");
  CHECK_TEXT(wtl_knob_why(k), "");
  const wtl_clock_domain *d = wtl_knob_domain(k, 0);
  CHECK(d->min_khz == 1200000 && d->base_khz == 2600000 && d->max_khz == 2601000 && d->found_khz == 2600000);
  CHECK(d->n_steps == 9);
  CHECK_NEAR(d->latency_s, 20e-6, 1e-12);
  CHECK(wtl_knob_clock_at_least(d, 1900000) == 2000000 && wtl_knob_clock_at_least(d, 1) == 1200000);
  CHECK(wtl_knob_clock_at_least(d, 9e9) == 2601000 && wtl_knob_clock_at_least(d, NAN) == 1200000);
  CHECK(wtl_knob_claim(k, 0) == 0);
  CHECK(wtl_knob_set(k, 0, 1400000) == 0);
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_setspeed"), "1400000");
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "2601000");
  wtl_knob_restore(k);
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_setspeed"), "2600000");
  wtl_knob_close(k);
  tree_free(t);
}

static void other_governors_get_a_ceiling_and_above_the_base_a_floor(void)
{
  static const char *const driver[] = {"intel_pstate", "acpi-cpufreq", "amd-pstate-epp", "cppc_cpufreq"};
  for (size_t i = 0; i < 4; i++) {
    tree *t = tree_new();
    clock_intel(t->root, 0);
    clock_put(t->root, 0, "cpufreq/scaling_driver", driver[i]);
    wtl_knob *k = open_knob(t, WTL_KNOB_CPUFREQ, 1);
    CHECK_TEXT(wtl_knob_name(k), "cpufreq");
    CHECK(isnan(wtl_knob_domain(k, 0)->latency_s)); /* 2^32 - 1: unknown */
    CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_set(k, 0, 1200000) == 0);
    CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "1200000");
    CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_min_freq"), "800000");
    CHECK(wtl_knob_set(k, 0, 3000000) == 0);
    CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "3000000");
    CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_min_freq"), "3000000");
    wtl_knob_restore(k);
    CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "3900000");
    CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_min_freq"), "800000");
    CHECK_TEXT(clock_get(t->root, 0, "cpufreq/energy_performance_preference"), "balance_performance");
    wtl_knob_close(k);
    tree_free(t);
  }
}

static void the_base_clock_is_the_makers_where_the_machine_says_it(void)
{
  tree *t = tree_new();
  clock_cpu(t->root, 0, "cppc_cpufreq", "schedutil", "1000000", "3000000");
  clock_put(t->root, 0, "acpi_cppc/nominal_freq", "2500");
  clock_cpu(t->root, 1, "cppc_cpufreq", "schedutil", "1000000", "3000000");
  wtl_knob *k = open_knob(t, WTL_KNOB_AUTO, 2);
  CHECK(wtl_knob_domains(k) == 2);
  CHECK(wtl_knob_domain(k, 0)->base_khz == 2500000);
  CHECK(wtl_knob_domain(k, 1)->base_khz == 3000000);
  wtl_knob_close(k);
  tree_free(t);
}

static void limits_that_were_set_already_stay(void)
{
  tree *t = tree_new();
  clock_intel(t->root, 0);
  clock_put(t->root, 0, "cpufreq/scaling_max_freq", "2000000");
  clock_put(t->root, 0, "cpufreq/scaling_min_freq", "1000000");
  wtl_knob *k = open_knob(t, WTL_KNOB_AUTO, 1);
  const wtl_clock_domain *d = wtl_knob_domain(k, 0);
  CHECK(d->min_khz == 1000000 && d->base_khz == 2000000 && d->max_khz == 2000000);
  CHECK(wtl_knob_clock_at_least(d, 2400000) == 2000000);
  wtl_knob_close(k);
  tree_free(t);
}

static void check_limits(clock_faults *f)
{
  long floor = atol(clock_get(f->root, 0, "cpufreq/scaling_min_freq"));
  long ceiling = atol(clock_get(f->root, 0, "cpufreq/scaling_max_freq"));
  if (floor > ceiling) f->broken = true;
}

static void a_floor_never_lies_above_its_ceiling(void)
{
  static const uint32_t clock[] = {3900000, 800000, 2400000, 3000000, 1000000, 3900000, 2500000};
  tree *t = tree_new();
  clock_faults f = {.after_write = check_limits, .root = t->root};
  wtl_knob_sys os = clock_sys(&f);
  wtl_settings s = clock_settings(t, WTL_KNOB_AUTO);
  cpu_set_t set = clock_cpus(1);
  clock_intel(t->root, 0);
  wtl_knob *k = wtl_knob_open_with(&s, &set, NULL, &os);
  CHECK(wtl_knob_claim(k, 0) == 0);
  for (size_t i = 0; i < sizeof clock / sizeof clock[0]; i++) CHECK(wtl_knob_set(k, 0, clock[i]) == 0);
  CHECK(f.writes == 14 && !f.broken);
  wtl_knob_restore(k);
  wtl_knob_close(k);
  tree_free(t);
}

static void every_policy_of_a_domain_is_written(void)
{
  tree *t = tree_new();
  for (int cpu = 0; cpu < 2; cpu++) {
    clock_intel(t->root, cpu);
    clock_put(t->root, cpu, "topology/thread_siblings_list", "0-1");
  }
  clock_put(t->root, 1, "cpufreq/scaling_max_freq", "3800000");
  wtl_knob *k = open_knob(t, WTL_KNOB_AUTO, 2);
  CHECK(wtl_knob_domains(k) == 1 && wtl_knob_claim(k, 0) == 0 && wtl_knob_set(k, 0, 1000000) == 0);
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "1000000");
  CHECK_TEXT(clock_get(t->root, 1, "cpufreq/scaling_max_freq"), "1000000");
  CHECK(wtl_knob_set(k, 0, wtl_knob_domain(k, 0)->found_khz) == 0); /* to each what was its own */
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "3900000");
  CHECK_TEXT(clock_get(t->root, 1, "cpufreq/scaling_max_freq"), "3800000");
  wtl_knob_restore(k);
  wtl_knob_close(k);
  tree_free(t);
}

static void the_hint_is_used_where_limits_may_not_be_written(void)
{
  tree *t = tree_new();
  clock_faults f = {.open_of = "scaling_max_freq", .open_error = EACCES};
  wtl_knob_sys os = clock_sys(&f);
  wtl_settings s = clock_settings(t, WTL_KNOB_AUTO);
  cpu_set_t set = clock_cpus(1);
  clock_intel(t->root, 0);
  wtl_knob *k = wtl_knob_open_with(&s, &set, NULL, &os);
  CHECK_TEXT(wtl_knob_name(k), "cpufreq");
  CHECK(wtl_knob_domain(k, 0)->hint);
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_set(k, 0, 800000) == 0);
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/energy_performance_preference"), "power");
  CHECK(wtl_knob_set(k, 0, 3900000) == 0);
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/energy_performance_preference"), "performance");
  CHECK(wtl_knob_set(k, 0, 2400000) == 0);
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/energy_performance_preference"), "balance_performance");
  wtl_knob_restore(k);
  wtl_knob_close(k);
  tree_free(t);
}

static void without_write_permission_there_is_no_knob_and_a_reason(void)
{
  tree *t = tree_new();
  clock_faults f = {.open_of = "q", .open_error = EACCES}; /* scaling_max_freq, scaling_min_freq */
  wtl_knob_sys os = clock_sys(&f);
  wtl_settings s = clock_settings(t, WTL_KNOB_AUTO);
  cpu_set_t set = clock_cpus(1);
  clock_cpu(t->root, 0, "acpi-cpufreq", "ondemand", "1200000", "2600000");
  wtl_knob *k = wtl_knob_open_with(&s, &set, NULL, &os);
  CHECK_TEXT(wtl_knob_name(k), "none");
  CHECK_CONTAINS(wtl_knob_why(k), "scaling_max_freq: Permission denied");
  CHECK(!wtl_knob_acts(k));
  wtl_knob_close(k);
  tree_free(t);
}

static void a_machine_without_clocks_has_no_knob(void)
{
  tree *t = tree_new();
  wtl_knob *k = open_knob(t, WTL_KNOB_AUTO, 2);
  CHECK_TEXT(wtl_knob_name(k), "none");
  CHECK_CONTAINS(wtl_knob_why(k), "no clocks under");
  CHECK(wtl_knob_guard(k, NULL, 0) == 0);
  wtl_knob_restore(k);
  wtl_knob_close(k);
  tree_free(t);
}

static void the_clocks_of_another_job_stay_unchanged(void)
{
  tree *t = tree_new();
  clock_intel(t->root, 0);
  clock_intel(t->root, 1);
  wtl_knob *first = open_knob(t, WTL_KNOB_AUTO, 1), *second = open_knob(t, WTL_KNOB_AUTO, 2);
  CHECK(wtl_knob_claim(first, 0) == 0);
  CHECK(wtl_knob_claim(second, 0) == EBUSY);
  CHECK_CONTAINS(wtl_knob_why(second), "another job has it");
  CHECK(wtl_knob_claim(second, 1) == 0);
  wtl_knob_restore(first);
  CHECK(wtl_knob_claim(second, 0) == 0);
  wtl_knob_restore(second);
  wtl_knob_close(first);
  wtl_knob_close(second);
  tree_free(t);
}

static void a_write_that_fails_loses_the_domain_and_nothing_else(void)
{
  static const int error[] = {EACCES, EBUSY, EIO, EINVAL, ENODEV};
  for (size_t i = 0; i < sizeof error / sizeof error[0]; i++) {
    tree *t = tree_new();
    clock_faults f = {.root = t->root};
    wtl_knob_sys os = clock_sys(&f);
    wtl_settings s = clock_settings(t, WTL_KNOB_AUTO);
    cpu_set_t set = clock_cpus(2);
    clock_intel(t->root, 0);
    clock_intel(t->root, 1);
    wtl_knob *k = wtl_knob_open_with(&s, &set, NULL, &os);
    CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_claim(k, 1) == 0);
    CHECK(wtl_knob_set(k, 0, 1000000) == 0);
    f.write_of = "cpu0/cpufreq/scaling_max_freq";
    f.write_error = error[i];
    CHECK(wtl_knob_set(k, 0, 2000000) == error[i]);
    CHECK_CONTAINS(wtl_knob_why(k), "cpu0/cpufreq/scaling_max_freq");
    f.write_of = NULL; /* it would work again, but its state is unknown */
    CHECK(wtl_knob_set(k, 0, 2000000) == ENODEV);
    CHECK(wtl_knob_set(k, 1, 2000000) == 0);
    wtl_knob_restore(k); /* the clocks found are restored all the same */
    CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "3900000");
    CHECK_TEXT(clock_get(t->root, 1, "cpufreq/scaling_max_freq"), "3900000");
    wtl_knob_close(k);
    tree_free(t);
  }
}

static void a_file_that_vanishes_is_no_disaster(void)
{
  tree *t = tree_new();
  char path[256];
  clock_intel(t->root, 0);
  wtl_knob *k = open_knob(t, WTL_KNOB_AUTO, 1);
  snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", t->root);
  unlink(path);
  CHECK(wtl_knob_claim(k, 0) == ENOENT);
  CHECK(wtl_knob_set(k, 0, 1000000) == ENOENT);
  wtl_knob_restore(k);
  wtl_knob_close(k);
  tree_free(t);
}

static void a_power_limit_stands_in_for_a_clock(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", 0, 1000);
  tree_put(t, "intel-rapl:0", "constraint_0_power_limit_uw", "165000000\n");
  tree_put(t, "intel-rapl:0", "constraint_1_power_limit_uw", "200000000\n");
  for (int cpu = 0; cpu < 2; cpu++) {
    clock_intel(t->root, cpu);
    clock_put(t->root, cpu, "topology/package_cpus_list", "0-1");
  }
  wtl_knob *k = open_knob(t, WTL_KNOB_POWERCAP, 2);
  char text[64], path[256];
  snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", t->root);
  CHECK_TEXT(wtl_knob_name(k), "powercap");
  CHECK(wtl_knob_domains(k) == 1 && wtl_knob_domain(k, 0)->base_khz == 2400000);
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_set(k, 0, 1200000) == 0);
  wtl_sys_real.read_file(NULL, path, text, sizeof text);
  CHECK_TEXT(text, "82500000");
  wtl_knob_restore(k);
  wtl_sys_real.read_file(NULL, path, text, sizeof text);
  CHECK_TEXT(text, "165000000");
  wtl_knob_close(k);
  tree_free(t);
}

static void record_notes_and_changes_nothing(void)
{
  tree *t = tree_new();
  clock_faults f = {.open_of = "q", .open_error = EACCES};
  wtl_knob_sys os = clock_sys(&f);
  wtl_settings s = clock_settings(t, WTL_KNOB_RECORD);
  cpu_set_t set = clock_cpus(1);
  clock_intel(t->root, 0);
  wtl_knob *k = wtl_knob_open_with(&s, &set, NULL, &os); /* needs no right */
  wtl_clock_change note[WTL_KNOB_NOTES];
  uint64_t all;
  CHECK_TEXT(wtl_knob_name(k), "record");
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_guard(k, NULL, 0) == 0);
  for (uint32_t i = 0; i < 300; i++) CHECK(wtl_knob_set(k, 0, 1000000 + i) == 0);
  CHECK(wtl_knob_notes(k, note, &all) == WTL_KNOB_NOTES && all == 300);
  CHECK(note[0].khz == 1000044 && note[WTL_KNOB_NOTES - 1].khz == 1000299);
  CHECK(f.writes == 0);
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "3900000");
  wtl_knob_restore(k);
  wtl_knob_close(k);
  tree_free(t);
}

static void record_takes_clocks_from_the_profile_where_sysfs_has_none(void)
{
  tree *t = tree_new();
  char error[256];
  wtl_settings s = clock_settings(t, WTL_KNOB_RECORD);
  cpu_set_t set = clock_cpus(2);
  wtl_machine *m = wtl_machine_load("sandybridge-e5-2670", "/sys", error, sizeof error);
  wtl_knob *k = wtl_knob_open(&s, &set, m);
  const wtl_clock_domain *d = wtl_knob_domain(k, 0);
  CHECK(m && wtl_knob_domains(k) == 2);
  CHECK(d->min_khz < d->base_khz && d->n_steps == wtl_machine_clocks(m) && d->step[0] == d->min_khz);
  wtl_knob_close(k);
  wtl_machine_free(m);
  tree_free(t);
}

/* A process that sets a clock and then stands still until it is killed. The pipe says that it has. */
static pid_t setter(const tree *t, int cpus, pid_t also, int said)
{
  pid_t pid = fork();
  if (pid != 0) return pid;
  wtl_knob *k = open_knob(t, WTL_KNOB_AUTO, cpus);
  pid_t pids[] = {getpid(), also};
  bool good = k && wtl_knob_claim(k, 0) == 0 && wtl_knob_guard(k, pids, also ? 2 : 1) == 0;
  good = good && wtl_knob_set(k, 0, 1000000) == 0;
  if (write(said, good ? "y" : "n", 1) != 1) _exit(1);
  for (;;) pause();
}

/* Until the file holds the text, for at most two minutes. */
static const char *awaited(const tree *t, const char *file, const char *text)
{
  const char *now = "";
  for (int i = 0; i < 12000 && strcmp(now = clock_get(t->root, 0, file), text) != 0; i++) usleep(10000);
  return now;
}

static void kill_and_reap(pid_t pid)
{
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

static void clocks_come_back_after_sigkill(void)
{
  tree *t = tree_new();
  int said[2];
  char answer = 0;
  clock_intel(t->root, 0);
  CHECK(pipe(said) == 0);
  pid_t pid = setter(t, 1, 0, said[1]);
  CHECK(read(said[0], &answer, 1) == 1 && answer == 'y');
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "1000000");
  kill_and_reap(pid);
  CHECK_TEXT(awaited(t, "cpufreq/scaling_max_freq", "3900000"), "3900000");
  CHECK_TEXT(awaited(t, "cpufreq/scaling_min_freq", "800000"), "800000");
  wtl_knob *next = open_knob(t, WTL_KNOB_AUTO, 1); /* and the lock is gone with the guard */
  int error = EBUSY;
  for (int i = 0; i < 12000 && error == EBUSY; i++) {
    error = wtl_knob_claim(next, 0);
    if (error) usleep(10000);
  }
  CHECK(error == 0);
  wtl_knob_restore(next);
  wtl_knob_close(next);
  close(said[0]);
  close(said[1]);
  tree_free(t);
}

static void clocks_come_back_when_the_last_process_is_gone(void)
{
  tree *t = tree_new();
  int said[2];
  char answer = 0;
  clock_intel(t->root, 0);
  CHECK(pipe(said) == 0);
  pid_t other = fork();
  if (other == 0)
    for (;;) pause();
  pid_t pid = setter(t, 1, other, said[1]);
  CHECK(read(said[0], &answer, 1) == 1 && answer == 'y');
  kill_and_reap(pid);
  usleep(100000); /* long enough for a guard that did not wait for the other */
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "1000000");
  kill_and_reap(other);
  CHECK_TEXT(awaited(t, "cpufreq/scaling_max_freq", "3900000"), "3900000");
  close(said[0]);
  close(said[1]);
  tree_free(t);
}

static void a_job_that_restores_its_clocks_releases_the_guard(void)
{
  tree *t = tree_new();
  clock_intel(t->root, 0);
  wtl_knob *k = open_knob(t, WTL_KNOB_AUTO, 1);
  pid_t me = getpid();
  CHECK(wtl_knob_claim(k, 0) == 0 && wtl_knob_guard(k, &me, 1) == 0 && wtl_knob_set(k, 0, 1000000) == 0);
  CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD); /* it is no child of this process */
  wtl_knob_restore(k);
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "3900000");
  wtl_knob *next = open_knob(t, WTL_KNOB_AUTO, 1);
  int error = EBUSY;
  for (int i = 0; i < 12000 && error == EBUSY; i++) {
    error = wtl_knob_claim(next, 0);
    if (error) usleep(10000);
  }
  CHECK(error == 0); /* while this process lives on */
  wtl_knob_restore(next);
  wtl_knob_close(next);
  wtl_knob_close(k);
  tree_free(t);
}

TESTS(TEST(lists_of_cpus_are_read_whole_or_not_at_all),
      TEST(cores_share_a_clock_where_the_kernel_or_the_hardware_says_so),
      TEST(a_core_without_a_list_of_sharers_counts_as_sharing_its_clock_with_all),
      TEST(a_package_is_one_domain_where_the_user_says_so), TEST(userspace_sets_the_clock_itself),
      TEST(other_governors_get_a_ceiling_and_above_the_base_a_floor),
      TEST(the_base_clock_is_the_makers_where_the_machine_says_it), TEST(limits_that_were_set_already_stay),
      TEST(a_floor_never_lies_above_its_ceiling), TEST(every_policy_of_a_domain_is_written),
      TEST(the_hint_is_used_where_limits_may_not_be_written),
      TEST(without_write_permission_there_is_no_knob_and_a_reason), TEST(a_machine_without_clocks_has_no_knob),
      TEST(the_clocks_of_another_job_stay_unchanged), TEST(a_write_that_fails_loses_the_domain_and_nothing_else),
      TEST(a_file_that_vanishes_is_no_disaster), TEST(a_power_limit_stands_in_for_a_clock),
      TEST(record_notes_and_changes_nothing), TEST(record_takes_clocks_from_the_profile_where_sysfs_has_none),
      TEST(clocks_come_back_after_sigkill), TEST(clocks_come_back_when_the_last_process_is_gone),
      TEST(a_job_that_restores_its_clocks_releases_the_guard))
