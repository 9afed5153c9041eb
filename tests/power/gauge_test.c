/*
 * gauge_test.c - the meters made of gauges: perf's PMU `power`, HPE Cray's pm_counters, hwmon, NVML. On made-up trees,
 * and with a stand-in for NVIDIA's library.
 */
#include <sys/mman.h>

#include "check.h"
#include "readings.h"

static void grace(const tree *t, double watts)
{
  static const char *const label[] = {"Module", "Grace", "CPU", "SysIO"};
  put(t, "class/hwmon/hwmon3/name", "power_meter\n");
  put(t, "class/hwmon/hwmon0/name", "nvme\n");
  put(t, "class/hwmon/hwmon0/power1_average", "9000000\n");
  for (int i = 0; i < 4; i++) {
    char file[64];
    snprintf(file, sizeof file, "class/hwmon/hwmon3/power%d_oem_info", i + 1);
    put(t, file, "%s Power Socket 0\n", label[i]);
    snprintf(file, sizeof file, "class/hwmon/hwmon3/power%d_average_interval", i + 1);
    put(t, file, "50\n");
    snprintf(file, sizeof file, "class/hwmon/hwmon3/power%d_average", i + 1);
    put(t, file, "%.0f\n", watts * 1e6 / (i + 1));
  }
}

static void graces_watts_become_joules(void)
{
  tree *t = tree_new();
  interval i;
  grace(t, 400);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "hwmon");
  begin(m, &i);
  t->now += 10;
  end(m, &i);
  CHECK(i.n == 4);
  const wattle_joules_t *f = get(&i, "package-0");
  CHECK(f->provenance == WATTLE_MEASURED && f->scope == WATTLE_SCOPE_PACKAGE && !f->nested);
  CHECK_TEXT(f->source, "hwmon Grace Power Socket 0");
  CHECK_NEAR(f->joules, 2000, 1e-6);
  CHECK_NEAR(f->uncertainty, 100 + 0.05 * 200, 1e-6); /* 5 %, and one interval of the sensor */
  CHECK_NEAR(f->covered_s, 10, 1e-9);
  CHECK(get(&i, "core-0")->nested && get(&i, "sysio-0")->nested && get(&i, "module-0")->nested);
  wattle_joules_t sum;
  wattle_joules_sum(i.f, i.n, &sum);
  CHECK_NEAR(sum.joules, 2000, 1e-6);
  wtl_meter_close(m);
  tree_free(t);
}

static void watts_that_change_are_less_certain(void)
{
  tree *t = tree_new();
  interval i;
  grace(t, 200); /* 100 W in the socket */
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  begin(m, &i);
  t->now += 1;
  grace(t, 600); /* 300 W */
  end(m, &i);
  CHECK_NEAR(get(&i, "package-0")->joules, 200, 1e-6);
  CHECK(get(&i, "package-0")->uncertainty >= 100); /* it may have changed at the begin, or at the end */
  wtl_meter_close(m);
  tree_free(t);
}

static void watts_that_cannot_be_read_are_a_gap(void)
{
  tree *t = tree_new();
  interval i;
  grace(t, 200);
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  begin(m, &i);
  t->now += 1;
  drop(t, "class/hwmon/hwmon3/power2_average");
  end(m, &i);
  CHECK(get(&i, "package-0")->provenance == WATTLE_UNAVAILABLE && isnan(get(&i, "package-0")->joules));
  CHECK(get(&i, "core-0")->provenance == WATTLE_MEASURED);
  put(t, "class/hwmon/hwmon3/power2_average", "-1\n"); /* this is no number of watts, either */
  end(m, &i);
  CHECK(get(&i, "package-0")->provenance == WATTLE_UNAVAILABLE);
  t->now += 1;
  grace(t, 200);
  end(m, &i);
  const wattle_joules_t *f = get(&i, "package-0");
  CHECK(f->provenance == WATTLE_MEASURED && f->covered_s == 0 && f->joules == 0);
  CHECK(f->uncertainty >= 200); /* energy that may have been drawn meanwhile */
  t->now += 1;
  end(m, &i);
  CHECK_NEAR(get(&i, "package-0")->joules, 100, 1e-6);
  CHECK_NEAR(get(&i, "package-0")->covered_s, 1, 1e-9);
  wtl_meter_close(m);
  tree_free(t);
}

static void amd_energy_has_sockets_and_a_servers_supply_is_the_node(void)
{
  tree *t = tree_new();
  interval i;
  put(t, "class/hwmon/hwmon1/name", "amd_energy\n");
  put(t, "class/hwmon/hwmon1/energy1_label", "Ecore000\n");
  put(t, "class/hwmon/hwmon1/energy1_input", "5\n");
  put(t, "class/hwmon/hwmon1/energy2_label", "Esocket0\n");
  put(t, "class/hwmon/hwmon1/energy2_input", "1000000\n");
  put(t, "class/hwmon/hwmon2/name", "power_meter\n");
  put(t, "class/hwmon/hwmon2/power1_average", "250000000\n");
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  begin(m, &i);
  t->now += 2;
  put(t, "class/hwmon/hwmon1/energy2_input", "201000000\n");
  end(m, &i);
  CHECK(i.n == 2);
  CHECK_NEAR(get(&i, "package-0")->joules, 200, 1e-6);
  CHECK_NEAR(get(&i, "node")->joules, 500, 1e-6);
  CHECK(get(&i, "node")->nested && !get(&i, "package-0")->nested); /* it contains the socket: never added to it */
  wtl_meter_close(m);
  tree_free(t);
}

static void a_counter_that_begins_anew_counts_nothing_false(void)
{
  tree *t = tree_new();
  interval i;
  put(t, "class/hwmon/hwmon1/name", "amd_energy\n");
  put(t, "class/hwmon/hwmon1/energy1_label", "Esocket0\n");
  put(t, "class/hwmon/hwmon1/energy1_input", "100000000\n");
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  begin(m, &i);
  t->now += 1;
  put(t, "class/hwmon/hwmon1/energy1_input", "150000000\n");
  end(m, &i);
  CHECK_NEAR(get(&i, "package-0")->joules, 50, 1e-6);
  t->now += 1;
  put(t, "class/hwmon/hwmon1/energy1_input", "1000000\n");
  end(m, &i);
  CHECK_NEAR(get(&i, "package-0")->joules, 50, 1e-6);
  CHECK(get(&i, "package-0")->uncertainty >= 50 && get(&i, "package-0")->covered_s <= 1 + 1e-9);
  wtl_meter_close(m);
  tree_free(t);
}

static void cray(const tree *t, int round, int node, int cpu)
{
  double us = 17e14 + 1e6 * t->now;
  put(t, "cray/pm_counters/freshness", "%d\n", round);
  put(t, "cray/pm_counters/energy", "%d J %.0f us\n", node, us);
  put(t, "cray/pm_counters/cpu_energy", "%d J %.0f us\n", cpu, us);
  put(t, "cray/pm_counters/accel0_energy", "%d J %.0f us\n", node / 2, us);
}

static void crays_counters_are_read_once_a_round(void)
{
  tree *t = tree_new();
  interval i;
  cray(t, 1, 1000, 400);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "cray");
  begin(m, &i);
  t->now += 10;
  put(t, "cray/pm_counters/energy", "9999 J 1700000000000000 us\n"); /* half written: freshness comes last */
  end(m, &i);
  CHECK(get(&i, "node")->provenance == WATTLE_UNAVAILABLE); /* no node draws nothing for 10 s */
  cray(t, 2, 4000, 1600);
  end(m, &i);
  CHECK_NEAR(get(&i, "node")->joules, 3000, 1e-6);
  CHECK_NEAR(get(&i, "cpu")->joules, 1200, 1e-6);
  CHECK(get(&i, "cpu")->nested && get(&i, "accel-0")->nested && get(&i, "accel-0")->scope == WATTLE_SCOPE_DEVICE);
  CHECK_NEAR(get(&i, "node")->uncertainty, 150 + 0.1 * 300 + 1, 1e-6);
  wtl_meter_close(m);
  tree_free(t);
}

/* The controller stops, and its files stay. Uncounted energy since then is a gap, also without a reading meanwhile. */
static void crays_counters_that_stop_are_a_gap(void)
{
  tree *t = tree_new();
  interval i;
  cray(t, 1, 1000, 400);
  wtl_meter *m = tree_open(t, WTL_METER_CRAY);
  begin(m, &i);
  t->now += 1;
  cray(t, 2, 1200, 480);
  t->now += 4;
  for (int again = 0; again < 2; again++) {
    end(m, &i);
    CHECK_NEAR(get(&i, "node")->joules, 200, 1e-6);
    CHECK_NEAR(get(&i, "node")->covered_s, 1, 1e-6);
    CHECK_NEAR(get(&i, "cpu")->covered_s, 1, 1e-6);
    CHECK(get(&i, "node")->uncertainty >= 4 * 200); /* as much as it drew before, for four seconds */
  }
  begin(m, &i);
  t->now += 2;
  end(m, &i);
  for (size_t d = 0; d < i.n; d++) CHECK(i.f[d].provenance == WATTLE_UNAVAILABLE);
  t->now += 1;
  cray(t, 3, 2600, 1040); /* it goes on, and had counted all the time */
  begin(m, &i);
  t->now += 1;
  cray(t, 4, 2800, 1120);
  end(m, &i);
  CHECK_NEAR(get(&i, "node")->joules, 200, 1e-6);
  CHECK_NEAR(get(&i, "node")->covered_s, 1, 1e-6);
  CHECK(get(&i, "node")->uncertainty < 50);
  wtl_meter_close(m);
  tree_free(t);
}

static void a_node_that_is_measured_whole_is_split_whole(void)
{
  tree *t = tree_new();
  wattle_joules_t node[WTL_MAX_DOMAINS], idle[WTL_MAX_DOMAINS], part[2 * WTL_MAX_DOMAINS];
  const wtl_activity pe[2] = {{.wall_s = 10, .active_s = 10}, {.wall_s = 10, .active_s = 5, .asleep_s = 5}};
  cray(t, 1, 1000, 400);
  wtl_meter *m = tree_open(t, WTL_METER_CRAY);
  wtl_meter_start(m);
  t->now += 10;
  cray(t, 2, 4000, 1600);
  CHECK(wtl_meter_finish(m, pe, 2, node, idle, part) == 1);
  CHECK_NEAR(node[0].joules, 3000, 1e-6);
  CHECK_NEAR(idle[0].joules + part[0].joules + part[1].joules, 3000, 1e-6);
  CHECK(part[0].joules > part[1].joules);
  wtl_meter_close(m);
  tree_free(t);
}

/* Two packages with one event each. A file in memory replaces an event. */
static int event_fd[2] = {-1, -1};
static int event_error;

static int fake_event(void *arg, unsigned type, unsigned long long config, int cpu)
{
  (void)arg;
  CHECK(type == 9 && config == 2 && (cpu == 0 || cpu == 18));
  if (event_error) return -event_error;
  event_fd[cpu != 0] = memfd_create("event", 0);
  return event_fd[cpu != 0];
}

static void set_event(int i, unsigned long long count)
{
  if (pwrite(event_fd[i], &count, sizeof count, 0) != (ssize_t)sizeof count) exit(2);
}

static tree *perf_tree(void)
{
  tree *t = tree_new();
  put(t, "bus/event_source/devices/power/type", "9\n");
  put(t, "bus/event_source/devices/power/cpumask", "0,18\n");
  put(t, "bus/event_source/devices/power/events/energy-pkg", "event=0x02\n");
  put(t, "bus/event_source/devices/power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
  put(t, "devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  put(t, "devices/system/cpu/cpu18/topology/physical_package_id", "1\n");
  t->sys.perf_open = fake_event;
  event_error = 0;
  return t;
}

static int open_events(void *arg, unsigned type, unsigned long long config, int cpu)
{
  int fd = fake_event(arg, type, config, cpu);
  if (fd >= 0) set_event(cpu != 0, 1ull << 32);
  return fd;
}

static void perfs_events_are_read_by_package(void)
{
  tree *t = perf_tree();
  interval i;
  t->sys.perf_open = open_events;
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "perf");
  begin(m, &i);
  t->now += 1;
  set_event(0, 51ull << 32); /* 2^32 counts are a joule at this scale */
  set_event(1, 31ull << 32);
  end(m, &i);
  CHECK(i.n == 2);
  CHECK_NEAR(get(&i, "package-0")->joules, 50, 1e-5);
  CHECK_NEAR(get(&i, "package-1")->joules, 30, 1e-5);
  CHECK_TEXT(get(&i, "package-1")->source, "perf power/energy-pkg/ CPU 18");
  wtl_meter_close(m);
  tree_free(t);
}

static void without_permission_for_events_the_message_names_what_grants_it(void)
{
  tree *t = perf_tree();
  event_error = EACCES;
  wtl_meter *m = tree_open(t, WTL_METER_PERF);
  CHECK_TEXT(wtl_meter_name(m), "none");
  CHECK_CONTAINS(wtl_meter_why(m), "Permission denied");
  CHECK_CONTAINS(wtl_meter_why(m), "cap_perfmon+ep");
  wtl_meter_close(m);
  m = tree_open(t, WTL_METER_AUTO); /* and not only who asked for it */
  CHECK_TEXT(wtl_meter_name(m), "model");
  CHECK_CONTAINS(wtl_meter_why(m), "cap_perfmon+ep");
  wtl_meter_close(m);
  tree_free(t);
}

static void sensors_that_a_machine_cannot_have_are_no_findings(void)
{
  tree *t = tree_new();
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "model");
  CHECK(!strstr(wtl_meter_why(m), "cray") && !strstr(wtl_meter_why(m), "hwmon"));
  wtl_meter_close(m);
  m = tree_open(t, WTL_METER_CRAY);
  CHECK_TEXT(wtl_meter_name(m), "none");
  CHECK_CONTAINS(wtl_meter_why(m), "not an HPE Cray node");
  wtl_meter_close(m);
  tree_free(t);
}

static tree *gpu_tree(const char *state)
{
  static char file[256];
  tree *t = tree_new();
  snprintf(file, sizeof file, "%s/gpus", t->root);
  setenv("FAKE_NVML", file, 1);
  put(t, "gpus", "%s\n", state);
  put(t, "module/nvidia/version", "580.95.05\n");
  return t;
}

static void gpus_are_devices(void)
{
  tree *t = gpu_tree("5000 100000");
  interval i;
  wtl_meter *m = tree_open(t, WTL_METER_NVML);
  CHECK_TEXT(wtl_meter_name(m), "nvml");
  begin(m, &i);
  t->now += 2;
  put(t, "gpus", "305000 100000\n");
  end(m, &i);
  CHECK(i.n == 2);
  CHECK_NEAR(get(&i, "gpu-0")->joules, 300, 1e-6);
  CHECK_NEAR(get(&i, "gpu-1")->joules, 200, 1e-6); /* 100 W for 2 s */
  CHECK(get(&i, "gpu-0")->scope == WATTLE_SCOPE_DEVICE);
  CHECK_TEXT(get(&i, "gpu-0")->source, "nvml GPU 0 NVIDIA H100 80GB HBM3 energy");
  CHECK_TEXT(get(&i, "gpu-1")->source, "nvml GPU 1 Tesla P100 power");
  wtl_meter_close(m);
  m = tree_open(t, WTL_METER_AUTO); /* beside the processors, and never instead of them */
  CHECK_TEXT(wtl_meter_name(m), "model+nvml");
  wtl_meter_close(m);
  tree_free(t);
}

/* A GPU's counter moves ten times a second: a short interval may hold no update, or more than its own joules. */
static void a_gpu_whose_counter_has_not_moved_may_have_drawn_its_watts(void)
{
  tree *t = gpu_tree("5000 100000");
  interval i;
  wtl_meter *m = tree_open(t, WTL_METER_NVML);
  begin(m, &i);
  t->now += 0.02;
  end(m, &i);
  CHECK_NEAR(get(&i, "gpu-0")->joules, 0, 0);
  CHECK_NEAR(get(&i, "gpu-0")->uncertainty, 0.125 * 100 + 1e-3, 1e-6);
  begin(m, &i);
  t->now += 0.02;
  put(t, "gpus", "15000 100000\n"); /* an update, of all that was drawn since the last */
  end(m, &i);
  CHECK_NEAR(get(&i, "gpu-0")->joules, 10, 1e-6);
  CHECK_NEAR(get(&i, "gpu-0")->uncertainty, 0.05 * 10 + 0.125 * 100 + 1e-3, 1e-6);
  wtl_meter_close(m);
  tree_free(t);
}

static void a_gpu_is_limited_by_the_highest_limit_that_it_may_be_given(void)
{
  tree *t = gpu_tree("5000 700000");
  interval i;
  wtl_meter *m = tree_open(t, WTL_METER_NVML);
  begin(m, &i);
  t->now += 1;
  put(t, "gpus", "755000 740000\n"); /* 750 W, a little above the limit */
  end(m, &i);
  CHECK_NEAR(get(&i, "gpu-0")->joules, 750, 1e-6);
  CHECK_NEAR(get(&i, "gpu-1")->joules, 720, 1e-6);
  begin(m, &i);
  t->now += 1;
  put(t, "gpus", "18446744073709551615 4294967295\n");
  end(m, &i);
  CHECK(get(&i, "gpu-0")->provenance == WATTLE_UNAVAILABLE && get(&i, "gpu-1")->provenance == WATTLE_UNAVAILABLE);
  CHECK_CONTAINS(wtl_meter_why(m), "gpu-0: 1 reading beyond 875 W left out; gpu-1: 1 reading beyond 875 W left out");
  t->now += 1;
  put(t, "gpus", "1355000 300000\n");
  end(m, &i);
  CHECK_NEAR(get(&i, "gpu-0")->joules, 600, 1e-6); /* of two seconds: the counter went on */
  wtl_meter_close(m);
  tree_free(t);
}

static void a_gpus_watts_cover_the_whole_interval(void)
{
  tree *t = gpu_tree("5000 100000");
  interval i;
  wtl_meter *m = tree_open(t, WTL_METER_NVML);
  begin(m, &i);
  i.a.at += 1e-4; /* the moment of a mark is a little after its readings */
  t->now += 2;
  end(m, &i);
  i.b.at += 2e-4;
  CHECK_NEAR(get(&i, "gpu-1")->covered_s, get(&i, "gpu-1")->interval_s, 0);
  wtl_meter_close(m);
  tree_free(t);
}

static void without_a_gpu_nvmls_own_words_say_why(void)
{
  tree *t = gpu_tree("5000 100000 0");
  wtl_meter *m = tree_open(t, WTL_METER_NVML);
  CHECK_TEXT(wtl_meter_name(m), "none");
  CHECK_CONTAINS(wtl_meter_why(m), "nvml: no GPU");
  wtl_meter_close(m);
  put(t, "gpus", "5000 100000 1 4\n");
  m = tree_open(t, WTL_METER_NVML);
  CHECK_TEXT(wtl_meter_name(m), "none");
  CHECK_CONTAINS(wtl_meter_why(m), "GPU 0: Insufficient Permissions");
  wtl_meter_close(m);
  put(t, "gpus", "5000 100000 2 4\n"); /* one of two */
  m = tree_open(t, WTL_METER_NVML);
  CHECK_TEXT(wtl_meter_name(m), "nvml");
  CHECK_CONTAINS(wtl_meter_why(m), "GPU 1: Insufficient Permissions");
  wtl_meter_close(m);
  drop(t, "gpus");
  m = tree_open(t, WTL_METER_NVML);
  CHECK_TEXT(wtl_meter_name(m), "none");
  CHECK_CONTAINS(wtl_meter_why(m), "libnvidia-ml.so.1 does not start: Driver Not Loaded");
  wtl_meter_close(m);
  tree_free(t);
}

TESTS(TEST(graces_watts_become_joules), TEST(watts_that_change_are_less_certain),
      TEST(watts_that_cannot_be_read_are_a_gap), TEST(amd_energy_has_sockets_and_a_servers_supply_is_the_node),
      TEST(a_counter_that_begins_anew_counts_nothing_false), TEST(crays_counters_are_read_once_a_round),
      TEST(crays_counters_that_stop_are_a_gap), TEST(a_node_that_is_measured_whole_is_split_whole),
      TEST(perfs_events_are_read_by_package), TEST(without_permission_for_events_the_message_names_what_grants_it),
      TEST(sensors_that_a_machine_cannot_have_are_no_findings), TEST(gpus_are_devices),
      TEST(a_gpu_whose_counter_has_not_moved_may_have_drawn_its_watts),
      TEST(a_gpu_is_limited_by_the_highest_limit_that_it_may_be_given), TEST(a_gpus_watts_cover_the_whole_interval),
      TEST(without_a_gpu_nvmls_own_words_say_why))
