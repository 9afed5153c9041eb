/*
 * several_test.c - several meters in one run: the processors, each accelerator, and the node at its supply. With a
 * replacement for NVIDIA's library.
 */
#include "check.h"
#include "power/split.h"
#include "readings.h"

static const unsigned long long RANGE = 262143328850ull;

static void set_gpus(const tree *t, const char *state)
{
  put(t, "gpus", "%s\n", state);
}

/* A package with its memory, and GPUs by NVML. */
static tree *machine_with_gpus(const char *state)
{
  static char file[256];
  tree *t = tree_new();
  snprintf(file, sizeof file, "%s/gpus", t->root);
  setenv("FAKE_NVML", file, 1);
  set_gpus(t, state);
  put(t, "module/nvidia/version", "580.95.05\n");
  tree_zone(t, "intel-rapl:0", "package-0", 1000000, RANGE);
  tree_zone(t, "intel-rapl:0:0", "dram", 1000000, RANGE);
  return t;
}

static void draw(const tree *t, unsigned long long package_j, unsigned long long dram_j)
{
  tree_energy(t, "intel-rapl:0", 1000000 + 1000000 * package_j);
  tree_energy(t, "intel-rapl:0:0", 1000000 + 1000000 * dram_j);
}

static void supply(const tree *t, const char *uw)
{
  put(t, "class/hwmon/hwmon1/device/name", "power_meter\n");
  put(t, "class/hwmon/hwmon1/device/power1_average", "%s\n", uw);
}

static void processors_gpus_and_supply_are_rows_of_one_meter(void)
{
  tree *t = machine_with_gpus("5000 100000");
  interval i;
  wattle_joules_t sum;
  supply(t, "700000000");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "powercap+hwmon+nvml");
  CHECK_TEXT(wtl_meter_why(m), "");
  begin(m, &i);
  t->now += 2;
  draw(t, 200, 40);
  set_gpus(t, "305000 100000");
  end(m, &i);
  CHECK(i.n == 5);
  CHECK_NEAR(get(&i, "package-0")->joules, 200, 1e-6);
  CHECK_NEAR(get(&i, "dram-0")->joules, 40, 1e-6);
  CHECK_NEAR(get(&i, "gpu-0")->joules, 300, 1e-6);
  CHECK_NEAR(get(&i, "gpu-1")->joules, 200, 1e-6);
  CHECK_NEAR(get(&i, "node")->joules, 1400, 1e-6);
  CHECK(get(&i, "gpu-0")->scope == WATTLE_SCOPE_DEVICE && !get(&i, "gpu-0")->nested);
  CHECK(get(&i, "node")->scope == WATTLE_SCOPE_NODE && get(&i, "node")->nested);
  CHECK_TEXT(get(&i, "gpu-0")->source, "nvml GPU 0 NVIDIA H100 80GB HBM3 energy");
  wattle_joules_sum(i.f, i.n, &sum);
  CHECK_NEAR(sum.joules, 740, 1e-6); /* the node contains the others */
  wtl_meter_close(m);
  tree_free(t);
}

typedef struct result {
  wattle_joules_t node[WTL_MAX_DOMAINS], idle[WTL_MAX_DOMAINS], part[4 * WTL_MAX_DOMAINS];
  size_t n;
} result;

static size_t place(const result *r, const char *domain)
{
  for (size_t d = 0; d < r->n; d++)
    if (strcmp(r->node[d].domain, domain) == 0) return d;
  fprintf(stderr, "no domain %s\n", domain);
  exit(1);
}

/* Ends an interval of 2 s in which GPU 0 drew 300 J, with PEs of the processes 71, 72 and 73. */
static result finish(tree *t, wtl_meter *m, const char *state)
{
  result r;
  const wtl_activity pe[3] = {{.wall_s = 2, .active_s = 2, .pid = 71},
                              {.wall_s = 2, .active_s = 1, .asleep_s = 1, .pid = 72},
                              {.wall_s = 2, .asleep_s = 2, .pid = 73}};
  wtl_meter_start(m);
  t->now += 2;
  draw(t, 200, 40);
  set_gpus(t, state);
  r.n = wtl_meter_finish(m, pe, 3, r.node, r.idle, r.part);
  for (size_t d = 0; d < r.n; d++) {
    double sum = r.idle[d].joules;
    for (size_t i = 0; i < 3; i++) sum += r.part[i * r.n + d].joules;
    CHECK_NEAR(sum, r.node[d].joules, 1e-9 * r.node[d].joules);
  }
  return r;
}

static void a_gpus_joules_belong_to_the_pe_whose_process_uses_it(void)
{
  tree *t = machine_with_gpus("5000 100000 1 0 72");
  supply(t, "700000000");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  result r = finish(t, m, "305000 150000 1 0 72");
  size_t gpu = place(&r, "gpu-0"), package = place(&r, "package-0");
  CHECK(r.n == 3);
  CHECK_NEAR(r.part[1 * r.n + gpu].joules, 300, 1e-9);
  CHECK_NEAR(r.part[1 * r.n + gpu].uncertainty, r.node[gpu].uncertainty, 1e-9);
  CHECK(r.part[0 * r.n + gpu].joules == 0 && r.part[2 * r.n + gpu].joules == 0 && r.idle[gpu].joules == 0);
  CHECK(r.part[1 * r.n + gpu].provenance == WATTLE_MODELLED && r.part[1 * r.n + gpu].scope == WATTLE_SCOPE_DEVICE);
  CHECK_TEXT(r.part[1 * r.n + gpu].source, "nvml GPU 0 NVIDIA H100 80GB HBM3 energy split by its processes");
  CHECK(r.node[gpu].provenance == WATTLE_MEASURED);
  CHECK(r.part[0 * r.n + package].joules > r.part[1 * r.n + package].joules); /* still by activity */
  wattle_joules_t nested[WTL_MAX_DOMAINS];
  CHECK(wtl_meter_nested(m, nested) == 1);
  CHECK_TEXT(nested[0].domain, "node");
  CHECK_NEAR(nested[0].joules, 1400, 1e-6);
  wtl_meter_close(m);
  tree_free(t);
}

static void a_gpu_that_others_use_too_is_divided(void)
{
  tree *t = machine_with_gpus("5000 100000 1 0");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  result r = finish(t, m, "305000 150000 1 0 71 73 9999");
  size_t gpu = place(&r, "gpu-0");
  CHECK_NEAR(r.part[0 * r.n + gpu].joules, 100, 1e-9);
  CHECK_NEAR(r.part[1 * r.n + gpu].joules, 0, 0);
  CHECK_NEAR(r.part[2 * r.n + gpu].joules, 100, 1e-9);
  CHECK_NEAR(r.idle[gpu].joules, 100, 1e-9);             /* of the process 9999 */
  CHECK(r.part[0 * r.n + gpu].uncertainty >= 300 - 100); /* one of them may have drawn everything */
  wtl_meter_close(m);
  tree_free(t);
}

static void a_gpu_without_known_users_belongs_to_the_node(void)
{
  tree *t = machine_with_gpus("5000 100000 1 0");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  result r = finish(t, m, "305000 150000 1 0");
  size_t gpu = place(&r, "gpu-0");
  CHECK_NEAR(r.idle[gpu].joules, 300, 1e-9);
  for (size_t i = 0; i < 3; i++) CHECK(r.part[i * r.n + gpu].joules == 0);
  wtl_meter_close(m);
  tree_free(t);
}

/* A context may end long before its job. */
static void a_process_keeps_what_it_drew_until_its_context_ended(void)
{
  static const char *const later[] = {"205000 150000 1 0 72 73", "305000 150000 1 0 73", "405000 150000 1 0 73",
                                      "405000 150000 1 0"};
  tree *t = machine_with_gpus("5000 100000 1 0 72");
  const wtl_activity pe[2] = {{.wall_s = 6, .pid = 72}, {.wall_s = 6, .pid = 73}};
  result r;
  wtl_mark mark = {0};
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_meter_start(m);
  for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
    t->now += 1;
    set_gpus(t, later[i]);
    wtl_meter_mark(m, &mark);
  }
  t->now += 1;
  draw(t, 200, 40);
  set_gpus(t, "505000 150000 1 0"); /* idle */
  r.n = wtl_meter_finish(m, pe, 2, r.node, r.idle, r.part);
  size_t gpu = place(&r, "gpu-0");
  CHECK_NEAR(r.node[gpu].joules, 500, 1e-9);
  CHECK_NEAR(r.part[0 * r.n + gpu].joules, 100 + 50, 1e-9); /* of 200 J beside 73, and of 100 J as it ended */
  CHECK_NEAR(r.part[1 * r.n + gpu].joules, 100 + 50 + 100, 1e-9);
  CHECK_NEAR(r.idle[gpu].joules, 100, 1e-9);
  double own = r.node[gpu].uncertainty * 250 / 500; /* 73 may have drawn as little as 100 J or as much as 400 J */
  CHECK_NEAR(r.part[1 * r.n + gpu].uncertainty, own + 150, 1e-9);
  set_gpus(t, "505000 150000 1 0 72");
  wtl_meter_start_next(m);
  t->now += 1;
  set_gpus(t, "605000 150000 1 0 72");
  r.n = wtl_meter_finish(m, pe, 2, r.node, r.idle, r.part);
  CHECK_NEAR(r.part[0 * r.n + gpu].joules, 100, 1e-9); /* of the next interval alone */
  CHECK_NEAR(r.part[1 * r.n + gpu].joules, 0, 0);
  wtl_meter_close(m);
  tree_free(t);
}

static void a_list_of_processes_that_is_too_long_loses_nothing_of_the_node(void)
{
  wtl_use_account a = {0};
  int64_t pid[WTL_USE_LIST + 1];
  double sum = 0;
  for (int64_t round = 0; round < 40; round++) {
    for (int64_t i = 0; i <= WTL_USE_LIST; i++) pid[i] = 1 + i + round * WTL_USE_LIST;
    wtl_use_account_take(&a, 100 * (double)round, (double)round, pid, WTL_USE_LIST + 1);
  }
  for (size_t i = 0; i < a.n; i++) sum += a.used[i].joules;
  CHECK(a.n == WTL_USE_PROCESSES && sum > 0 && sum <= 3900 * (1 + 1e-9));
  wtl_use_account_free(&a);
}

/* Loading the library costs time, and without a driver it can only fail. */
static void without_a_driver_its_library_is_not_loaded(void)
{
  tree *t = machine_with_gpus("5000 100000 1 0 72");
  drop(t, "module/nvidia/version");
  drop(t, "module/nvidia");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "powercap");
  wtl_meter_close(m);
  m = tree_open(t, WTL_METER_NVML); /* asked for by name */
  CHECK_TEXT(wtl_meter_name(m), "nvml");
  wtl_meter_close(m);
  tree_free(t);
}

/* PEs as threads of one process share its part. */
static void pes_of_one_process_share_its_gpu(void)
{
  const int64_t pes[] = {71, 71, 72};
  const wtl_used users[] = {{.pid = 71, .joules = 300, .least = 300, .most = 300}};
  wattle_joules_t node = {.domain = "gpu-0", .provenance = WATTLE_MEASURED, .joules = 300, .uncertainty = 15};
  wattle_joules_t idle, part[3];
  wtl_split_by_use(&node, &(wtl_use){pes, 3, users, 1}, &idle, part, 1);
  CHECK_NEAR(part[0].joules, 150, 1e-9);
  CHECK_NEAR(part[1].joules, 150, 1e-9);
  CHECK(part[2].joules == 0 && idle.joules == 0);
}

static void without_a_sensor_of_the_processors_the_model_stands_beside_gpus(void)
{
  tree *t = machine_with_gpus("5000 100000 1 0 71");
  tree_remove(t, "intel-rapl:0");
  tree_remove(t, "intel-rapl:0:0");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "model+nvml");
  CHECK(!wtl_meter_measures(m));
  const wtl_activity pe = {.wall_s = 2, .active_s = 2, .pid = 71};
  result r;
  wtl_meter_start(m);
  t->now += 2;
  set_gpus(t, "305000 150000 1 0 71");
  r.n = wtl_meter_finish(m, &pe, 1, r.node, r.idle, r.part);
  CHECK(r.n == 3);
  CHECK_TEXT(r.node[0].domain, "cpu");
  CHECK_TEXT(r.node[1].domain, "dram");
  CHECK(r.node[0].provenance == WATTLE_MODELLED && r.node[1].provenance == WATTLE_MODELLED);
  size_t gpu = place(&r, "gpu-0");
  CHECK(r.node[gpu].provenance == WATTLE_MEASURED);
  CHECK_NEAR(r.part[gpu].joules, 300, 1e-9);
  wtl_meter_close(m);
  tree_free(t);
}

static void a_meter_that_was_asked_for_is_alone(void)
{
  tree *t = machine_with_gpus("5000 100000 1 0 71");
  supply(t, "700000000");
  wtl_meter *m = tree_open(t, WTL_METER_POWERCAP);
  CHECK_TEXT(wtl_meter_name(m), "powercap");
  wtl_meter_close(m);
  m = tree_open(t, WTL_METER_NVML);
  CHECK_TEXT(wtl_meter_name(m), "nvml");
  result r = finish(t, m, "305000 150000 1 0 71");
  CHECK(r.n == 1); /* no modelled figures beside it */
  CHECK_NEAR(r.part[0].joules, 300, 1e-9);
  wtl_meter_close(m);
  tree_free(t);
}

static void a_node_that_is_measured_whole_contains_its_gpus(void)
{
  tree *t = machine_with_gpus("5000 100000 1 0 71");
  interval i;
  wattle_joules_t sum;
  tree_remove(t, "intel-rapl:0");
  tree_remove(t, "intel-rapl:0:0");
  put(t, "cray/pm_counters/freshness", "1\n");
  put(t, "cray/pm_counters/energy", "1000 J 1700000000000000 us\n");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "cray+nvml");
  begin(m, &i);
  t->now += 1;
  put(t, "cray/pm_counters/freshness", "2\n");
  put(t, "cray/pm_counters/energy", "1900 J 1700000001000000 us\n");
  set_gpus(t, "305000 150000 1 0 71");
  end(m, &i);
  CHECK(get(&i, "gpu-0")->nested && !get(&i, "node")->nested);
  CHECK_NEAR(get(&i, "gpu-0")->joules, 300, 1e-6);
  wattle_joules_sum(i.f, i.n, &sum);
  CHECK_NEAR(sum.joules, 900, 1e-6);
  wtl_meter_close(m);
  tree_free(t);
}

static void two_meters_of_the_node_have_different_names(void)
{
  tree *t = machine_with_gpus("5000 100000 1 0");
  interval i;
  supply(t, "700000000");
  put(t, "cray/pm_counters/freshness", "1\n");
  put(t, "cray/pm_counters/energy", "1000 J 1700000000000000 us\n");
  put(t, "cray/pm_counters/cpu_energy", "500 J 1700000000000000 us\n");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "powercap+cray+hwmon+nvml");
  begin(m, &i);
  t->now += 1;
  end(m, &i);
  CHECK(i.n == 5);
  CHECK(get(&i, "node")->nested && get(&i, "node-hwmon")->nested);
  CHECK_NEAR(get(&i, "node-hwmon")->joules, 700, 1e-6);
  wtl_meter_close(m);
  tree_free(t);
}

/* The hwmon drivers of GPUs have no list of processes: no PE has 0 J of such a GPU, and no other program either. */
static void a_gpu_whose_driver_names_no_processes_is_not_divided(void)
{
  static const char *const reason = "hwmon i915 hwmon5 energy1_input: its driver names no processes";
  tree *t = machine_with_gpus("0 0 0");
  const wtl_activity pe[2] = {{.wall_s = 2, .active_s = 2, .pid = 71}, {.wall_s = 2, .active_s = 1, .pid = 72}};
  result r;
  drop(t, "gpus"); /* no NVIDIA driver */
  put(t, "class/hwmon/hwmon5/name", "i915\n");
  put(t, "class/hwmon/hwmon5/energy1_input", "1000000\n");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_why(m), "");
  wtl_meter_start(m);
  t->now += 2;
  draw(t, 200, 40);
  put(t, "class/hwmon/hwmon5/energy1_input", "101000000\n");
  r.n = wtl_meter_finish(m, pe, 2, r.node, r.idle, r.part);
  size_t gpu = place(&r, "i915-0");
  CHECK(r.node[gpu].provenance == WATTLE_MEASURED);
  CHECK_NEAR(r.node[gpu].joules, 100, 1e-6);
  const wattle_joules_t *shares[] = {&r.idle[gpu], &r.part[gpu], &r.part[r.n + gpu]};
  for (size_t i = 0; i < 3; i++) {
    CHECK(shares[i]->provenance == WATTLE_UNAVAILABLE && isnan(shares[i]->joules) && isnan(shares[i]->uncertainty));
    CHECK(shares[i]->scope == WATTLE_SCOPE_DEVICE);
    CHECK_TEXT(shares[i]->source, reason);
  }
  CHECK(r.part[place(&r, "package-0")].joules > 0);
  CHECK_TEXT(wtl_meter_why(m), "i915-0: its driver names no processes");
  wtl_meter_close(m);
  tree_free(t);
}

/* GPUs of AMD and Intel by hwmon (drivers/gpu/drm/amd/pm, sysfs-driver-intel-i915-hwmon, sysfs-driver-intel-xe-hwmon). */
static void gpus_of_other_makers_are_read_by_hwmon(void)
{
  tree *t = machine_with_gpus("0 0 0");
  interval i;
  drop(t, "gpus"); /* no NVIDIA driver */
  put(t, "class/hwmon/hwmon3/name", "amdgpu\n");
  put(t, "class/hwmon/hwmon3/power1_average", "200000000\n");
  put(t, "class/hwmon/hwmon3/power1_cap_max", "300000000\n");
  put(t, "class/hwmon/hwmon4/name", "amdgpu\n"); /* in the processor's package */
  put(t, "class/hwmon/hwmon4/power1_input", "15000000\n");
  put(t, "class/hwmon/hwmon5/name", "i915\n");
  put(t, "class/hwmon/hwmon5/energy1_input", "1000000\n");
  put(t, "class/hwmon/hwmon5/power1_rated_max", "225000000\n");
  put(t, "class/hwmon/hwmon6/name", "i915_gt0\n"); /* a part of the card */
  put(t, "class/hwmon/hwmon6/energy1_input", "1000000\n");
  put(t, "class/hwmon/hwmon7/name", "xe\n");
  put(t, "class/hwmon/hwmon7/energy1_input", "1000000\n");
  put(t, "class/hwmon/hwmon7/energy2_input", "1000000\n");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "powercap+hwmon");
  begin(m, &i);
  t->now += 1;
  draw(t, 50, 10);
  put(t, "class/hwmon/hwmon5/energy1_input", "101000000\n");
  put(t, "class/hwmon/hwmon7/energy1_input", "61000000\n");
  end(m, &i);
  CHECK(i.n == 6);
  CHECK_NEAR(get(&i, "amdgpu-0")->joules, 200, 1e-6);
  CHECK(get(&i, "amdgpu-0")->scope == WATTLE_SCOPE_DEVICE && !get(&i, "amdgpu-0")->nested);
  CHECK_NEAR(get(&i, "amdgpu-1")->joules, 15, 1e-6);
  CHECK(get(&i, "amdgpu-1")->nested); /* its watts are those of the package */
  CHECK_NEAR(get(&i, "i915-0")->joules, 100, 1e-6);
  CHECK_NEAR(get(&i, "xe-0")->joules, 60, 1e-6);
  CHECK_TEXT(get(&i, "i915-0")->source, "hwmon i915 hwmon5 energy1_input");
  begin(m, &i);
  t->now += 1;
  put(t, "class/hwmon/hwmon3/power1_average", "460000000\n"); /* beyond 1.5 times its limit */
  put(t, "class/hwmon/hwmon5/energy1_input", "601000000\n");
  end(m, &i);
  CHECK(get(&i, "amdgpu-0")->provenance == WATTLE_UNAVAILABLE && get(&i, "i915-0")->provenance == WATTLE_UNAVAILABLE);
  CHECK_CONTAINS(wtl_meter_why(m), "amdgpu-0: 1 reading beyond 450 W left out");
  wtl_meter_close(m);
  tree_free(t);
}

/* Joules of a domain of the meter of hwmon, in a second of the tree's clock. */
static double second_of(tree *t, const char *domain, wattle_provenance_t *provenance)
{
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  interval i;
  begin(m, &i);
  t->now += 1;
  end(m, &i);
  double joules = get(&i, domain)->joules;
  *provenance = get(&i, domain)->provenance;
  wtl_meter_close(m);
  return joules;
}

static void sockets_of_epyc_are_read_by_hsmp_without_rights(void)
{
  tree *t = tree_new();
  wattle_provenance_t p;
  for (int socket = 0; socket < 2; socket++) {
    char name[64], watts[64];
    snprintf(name, sizeof name, "class/hwmon/hwmon%d/name", socket);
    snprintf(watts, sizeof watts, "class/hwmon/hwmon%d/power1_input", socket);
    put(t, name, "amd_hsmp_hwmon\n");
    put(t, watts, socket ? "90000000\n" : "45000000\n");
  }
  CHECK_NEAR(second_of(t, "package-0", &p), 45, 1e-6);
  CHECK(p == WATTLE_MEASURED);
  CHECK_NEAR(second_of(t, "package-1", &p), 90, 1e-6);
  tree_free(t);
}

static void rails_of_altra_are_read_by_their_labels(void)
{
  tree *t = tree_new();
  wattle_provenance_t p;
  put(t, "class/hwmon/hwmon0/name", "smpro\n");
  static const char *const rail[][2] = {{"power1 CORE VRD", "80000000"}, {"power2 SoC", "20000000"},
                                        {"power3 DIMM VRD1", "7000000"}, {"power4 DIMM VRD2", "6000000"},
                                        {"power5 RCA VRD", "3000000"},   {"power6 next year", "1000000"}};
  for (int i = 0; i < 6; i++) {
    char file[64];
    snprintf(file, sizeof file, "class/hwmon/hwmon0/power%d_label", i + 1);
    put(t, file, rail[i][0]);
    snprintf(file, sizeof file, "class/hwmon/hwmon0/power%d_input", i + 1);
    put(t, file, rail[i][1]);
  }
  CHECK_NEAR(second_of(t, "core-0", &p), 80, 1e-6);
  CHECK_NEAR(second_of(t, "soc-0", &p), 20, 1e-6);
  CHECK_NEAR(second_of(t, "dram-0-2", &p), 6, 1e-6);
  put(t, "class/hwmon/hwmon1/name", "apm_xgene\n");
  put(t, "class/hwmon/hwmon1/power1_label", "CPU power\n");
  put(t, "class/hwmon/hwmon1/power1_input", "70000000\n");
  CHECK_NEAR(second_of(t, "core-1", &p), 70, 1e-6);
  tree_free(t);
}

/* A Jetson Orin Nano: the sensor has volts and amperes, and the whole board beside its rails. */
static void rails_of_a_jetson_are_volts_times_amperes_and_the_board_is_in_no_sum(void)
{
  tree *t = tree_new();
  put(t, "class/hwmon/hwmon0/name", "ina3221\n");
  static const char *const rail[][3] = {
      {"VDD_IN", "5000", "2000"}, {"VDD_CPU_GPU_CV", "5000", "800"}, {"VDD_SOC", "5000", "400"}};
  for (int i = 0; i < 3; i++) {
    char file[64];
    snprintf(file, sizeof file, "class/hwmon/hwmon0/in%d_label", i + 1);
    put(t, file, rail[i][0]);
    snprintf(file, sizeof file, "class/hwmon/hwmon0/in%d_input", i + 1);
    put(t, file, rail[i][1]);
    snprintf(file, sizeof file, "class/hwmon/hwmon0/curr%d_input", i + 1);
    put(t, file, rail[i][2]);
  }
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  interval i;
  begin(m, &i);
  t->now += 1;
  end(m, &i);
  CHECK_NEAR(get(&i, "node")->joules, 10, 1e-6);
  CHECK(get(&i, "node")->nested);
  CHECK_NEAR(get(&i, "vdd-cpu-gpu-cv")->joules, 4, 1e-6);
  CHECK_NEAR(get(&i, "vdd-soc")->joules, 2, 1e-6);
  CHECK(!get(&i, "vdd-soc")->nested);
  wtl_meter_close(m);
  tree_free(t);
}

static void apple_silicon_states_the_whole_system(void)
{
  tree *t = tree_new();
  wattle_provenance_t p;
  put(t, "class/hwmon/hwmon0/name", "macsmc_hwmon\n");
  put(t, "class/hwmon/hwmon0/power1_label", "AC Input Power\n");
  put(t, "class/hwmon/hwmon0/power1_input", "12000000\n");
  put(t, "class/hwmon/hwmon0/power2_label", "Total System Power\n");
  put(t, "class/hwmon/hwmon0/power2_input", "9000000\n");
  CHECK_NEAR(second_of(t, "node", &p), 9, 1e-6);
  tree_free(t);
}

static void a_battery_is_the_node_only_while_it_is_discharged(void)
{
  tree *t = tree_new();
  wattle_provenance_t p;
  put(t, "class/power_supply/AC/type", "Mains\n");
  put(t, "class/power_supply/BAT0/type", "Battery\n");
  put(t, "class/power_supply/BAT0/status", "Discharging\n");
  put(t, "class/power_supply/BAT0/power_now", "8400000\n");
  put(t, "class/power_supply/hidpp_battery_0/type", "Battery\n");
  put(t, "class/power_supply/hidpp_battery_0/scope", "Device\n");
  put(t, "class/power_supply/hidpp_battery_0/power_now", "1\n");
  CHECK_NEAR(second_of(t, "battery-0", &p), 8.4, 1e-6);
  CHECK(p == WATTLE_MEASURED);
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  interval i;
  t->now += 1;
  put(t, "class/power_supply/BAT0/status", "Charging\n");
  begin(m, &i);
  t->now += 1;
  end(m, &i);
  CHECK(get(&i, "battery-0")->provenance == WATTLE_UNAVAILABLE);
  wtl_meter_close(m);
  drop(t, "class/power_supply/BAT0/power_now");
  put(t, "class/power_supply/BAT0/status", "Discharging\n");
  put(t, "class/power_supply/BAT0/voltage_now", "12000000\n");
  put(t, "class/power_supply/BAT0/current_now", "-500000\n");
  CHECK_NEAR(second_of(t, "battery-0", &p), 6, 1e-6);
  tree_free(t);
}

static void a_sensor_of_cpu_and_gpu_is_in_no_sum_and_a_stuck_card_hides_no_package(void)
{
  tree *t = tree_new();
  put(t, "class/hwmon/hwmon0/name", "amdgpu\n");
  put(t, "class/hwmon/hwmon0/power1_average", "400000000\n");
  put(t, "class/hwmon/hwmon0/power1_cap_max", "760000000\n");
  put(t, "class/hwmon/hwmon0/device/product_name", "AMD Instinct MI300A Accelerator\n");
  put(t, "class/hwmon/hwmon1/name", "xe\n");
  put(t, "class/hwmon/hwmon1/energy1_input", "0\n");
  put(t, "class/hwmon/hwmon1/energy2_input", "5000000\n");
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  interval i;
  begin(m, &i);
  t->now += 1;
  put(t, "class/hwmon/hwmon1/energy2_input", "35000000\n");
  end(m, &i);
  CHECK_NEAR(get(&i, "amdgpu-0")->joules, 400, 1e-6);
  CHECK(get(&i, "amdgpu-0")->nested);
  CHECK_NEAR(get(&i, "xe-0")->joules, 30, 1e-6);
  CHECK_TEXT(get(&i, "xe-0")->source, "hwmon xe hwmon1 energy2_input");
  wtl_meter_close(m);
  tree_free(t);
}

TESTS(TEST(a_sensor_of_cpu_and_gpu_is_in_no_sum_and_a_stuck_card_hides_no_package),
      TEST(sockets_of_epyc_are_read_by_hsmp_without_rights), TEST(rails_of_altra_are_read_by_their_labels),
      TEST(rails_of_a_jetson_are_volts_times_amperes_and_the_board_is_in_no_sum),
      TEST(apple_silicon_states_the_whole_system), TEST(a_battery_is_the_node_only_while_it_is_discharged),
      TEST(processors_gpus_and_supply_are_rows_of_one_meter),
      TEST(a_gpus_joules_belong_to_the_pe_whose_process_uses_it), TEST(a_gpu_that_others_use_too_is_divided),
      TEST(a_gpu_without_known_users_belongs_to_the_node), TEST(a_process_keeps_what_it_drew_until_its_context_ended),
      TEST(a_list_of_processes_that_is_too_long_loses_nothing_of_the_node),
      TEST(without_a_driver_its_library_is_not_loaded), TEST(pes_of_one_process_share_its_gpu),
      TEST(without_a_sensor_of_the_processors_the_model_stands_beside_gpus), TEST(a_meter_that_was_asked_for_is_alone),
      TEST(a_node_that_is_measured_whole_contains_its_gpus), TEST(two_meters_of_the_node_have_different_names),
      TEST(gpus_of_other_makers_are_read_by_hwmon), TEST(a_gpu_whose_driver_names_no_processes_is_not_divided))
