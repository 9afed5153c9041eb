/*
 * layout_test.c - sensors in the layouts of the kernel's drivers and documentation (Documentation/hwmon,
 * Documentation/power/powercap, drivers/hwmon, arch/x86/events/rapl.c), and readings that cannot be true.
 */
#include <sys/mman.h>

#include "check.h"
#include "readings.h"

static const unsigned long long RANGE = 262143328850ull, DRAM_RANGE = 65712999613ull;

/* The value of an ACPI power meter without a reading: 0xFFFFFFFF mW (_PMM), which the driver turns to uW. */
static const char *const ACPI_UNKNOWN = "4294967295000\n";

/* An ACPI power meter. Its files are in the folder of the ACPI device, hwmonN/device; newer kernels have `name` twice. */
static void acpi_meter(const tree *t, int n, const char *oem_info, const char *uw)
{
  char file[96];
  snprintf(file, sizeof file, "class/hwmon/hwmon%d/device/name", n);
  put(t, file, "power_meter\n");
  snprintf(file, sizeof file, "class/hwmon/hwmon%d/device/power1_oem_info", n);
  put(t, file, "%s\n", oem_info);
  snprintf(file, sizeof file, "class/hwmon/hwmon%d/device/power1_is_battery", n);
  put(t, file, "0\n");
  snprintf(file, sizeof file, "class/hwmon/hwmon%d/device/power1_average_interval", n);
  put(t, file, "50\n");
  snprintf(file, sizeof file, "class/hwmon/hwmon%d/device/power1_average", n);
  put(t, file, "%s", uw);
}

static void an_acpi_meter_has_its_files_at_its_acpi_device(void)
{
  for (int newer = 0; newer < 3; newer++) { /* 1: `name` in both folders; 2: all files in hwmonN */
    tree *t = tree_new();
    interval i;
    if (newer < 2) acpi_meter(t, 0, "", "250000000\n");
    if (newer > 0) put(t, "class/hwmon/hwmon0/name", "power_meter\n");
    if (newer == 2) put(t, "class/hwmon/hwmon0/power1_average", "250000000\n");
    wtl_meter *m = tree_open(t, WTL_METER_AUTO);
    CHECK_TEXT(wtl_meter_name(m), "hwmon");
    begin(m, &i);
    t->now += 2;
    end(m, &i);
    CHECK_NEAR(get(&i, "node")->joules, 500, 1e-6);
    CHECK(get(&i, "node")->scope == WATTLE_SCOPE_NODE && !get(&i, "node")->nested);
    CHECK_TEXT(get(&i, "node")->source, "hwmon hwmon0 power1_average");
    wtl_meter_close(m);
    tree_free(t);
  }
}

/* NVIDIA Grace: a device for each rail of each socket (Grace Performance Tuning Guide, "Power and Thermals"). */
static void grace_has_a_device_for_each_rail(void)
{
  static const char *const rails[] = {"Module", "Grace", "CPU", "SysIO"};
  static const char *const uw[] = {"600000000\n", "300000000\n", "200000000\n", "50000000\n"};
  tree *t = tree_new();
  interval i;
  for (int socket = 0; socket < 2; socket++)
    for (int rail = 0; rail < 4; rail++) {
      char label[48];
      snprintf(label, sizeof label, "%s Power Socket %d", rails[rail], socket);
      acpi_meter(t, 4 * socket + rail, label, uw[rail]);
    }
  acpi_meter(t, 8, "", "1500000000\n"); /* the node's supply */
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  begin(m, &i);
  t->now += 1;
  end(m, &i);
  CHECK(i.n == 9);
  CHECK_NEAR(get(&i, "package-0")->joules, 300, 1e-6);
  CHECK_NEAR(get(&i, "package-1")->joules, 300, 1e-6);
  CHECK_TEXT(get(&i, "package-1")->source, "hwmon Grace Power Socket 1");
  CHECK(get(&i, "core-1")->nested && get(&i, "sysio-1")->nested && get(&i, "module-1")->nested);
  CHECK(get(&i, "node")->nested);
  wattle_joules_t sum;
  wattle_joules_sum(i.f, i.n, &sum);
  CHECK_NEAR(sum.joules, 600, 1e-6);
  wtl_meter_close(m);
  tree_free(t);
}

static void two_supplies_are_both_the_nodes(void)
{
  tree *t = tree_new();
  interval i;
  wattle_joules_t sum;
  acpi_meter(t, 1, "", "250000000\n");
  acpi_meter(t, 2, "", "240000000\n");
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  begin(m, &i);
  t->now += 1;
  end(m, &i);
  CHECK(i.n == 2);
  CHECK_NEAR(get(&i, "supply-0")->joules, 250, 1e-6);
  CHECK_NEAR(get(&i, "supply-1")->joules, 240, 1e-6);
  wattle_joules_sum(i.f, i.n, &sum);
  CHECK_NEAR(sum.joules, 490, 1e-6);
  wtl_meter_close(m);
  tree_free(t);
}

static void a_battery_is_no_node(void)
{
  tree *t = tree_new();
  acpi_meter(t, 1, "", "25000000\n");
  put(t, "class/hwmon/hwmon1/device/power1_is_battery", "1\n");
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  CHECK_TEXT(wtl_meter_name(m), "none");
  CHECK_CONTAINS(wtl_meter_why(m), "no power or energy of processors");
  wtl_meter_close(m);
  tree_free(t);
}

static void the_error_value_of_acpi_is_never_watts(void)
{
  tree *t = tree_new();
  interval i;
  acpi_meter(t, 1, "", ACPI_UNKNOWN);
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  CHECK_TEXT(wtl_meter_name(m), "none");
  CHECK_CONTAINS(wtl_meter_why(m), "beyond the watts that it can draw");
  wtl_meter_close(m);
  acpi_meter(t, 1, "", "250000000\n");
  m = tree_open(t, WTL_METER_HWMON);
  begin(m, &i);
  t->now += 1;
  acpi_meter(t, 1, "", ACPI_UNKNOWN);
  end(m, &i);
  CHECK(get(&i, "node")->provenance == WATTLE_UNAVAILABLE && isnan(get(&i, "node")->joules));
  t->now += 1;
  acpi_meter(t, 1, "", "250000000\n");
  end(m, &i);
  t->now += 1;
  end(m, &i);
  CHECK_NEAR(get(&i, "node")->joules, 250, 1e-6); /* of the last second */
  CHECK_NEAR(get(&i, "node")->covered_s, 1, 1e-9);
  CHECK(get(&i, "node")->uncertainty >= 2 * 250);
  CHECK_CONTAINS(wtl_meter_why(m), "hwmon: node: 1 reading beyond 20000 W left out");
  wtl_meter_close(m);
  tree_free(t);
}

static void a_supply_is_limited_by_its_rating(void)
{
  tree *t = tree_new();
  interval i;
  acpi_meter(t, 1, "", "500000000\n");
  put(t, "class/hwmon/hwmon1/device/power1_cap_max", "800000000\n");
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  begin(m, &i);
  t->now += 1;
  acpi_meter(t, 1, "", "1100000000\n"); /* a peak above the rating */
  end(m, &i);
  CHECK_NEAR(get(&i, "node")->joules, 800, 1e-6);
  t->now += 1;
  acpi_meter(t, 1, "", "5000000000\n");
  end(m, &i);
  CHECK(get(&i, "node")->covered_s <= 1 + 1e-9);
  CHECK_CONTAINS(wtl_meter_why(m), "beyond 1200 W left out");
  wtl_meter_close(m);
  put(t, "class/hwmon/hwmon1/device/power1_cap_max", "%s", ACPI_UNKNOWN);
  acpi_meter(t, 1, "", "5000000000\n");
  m = tree_open(t, WTL_METER_HWMON); /* a rating that is unknown limits nothing */
  CHECK_TEXT(wtl_meter_name(m), "hwmon");
  wtl_meter_close(m);
  tree_free(t);
}

/* The counters of the four "sockets" of amd_sockets. */
static void amd_socket_energy(const tree *t, const unsigned long long uj[4])
{
  char file[64];
  for (int node = 0; node < 4; node++) {
    snprintf(file, sizeof file, "class/hwmon/hwmon2/energy%d_input", 129 + node);
    put(t, file, "%llu\n", uj[node]);
  }
}

/* amd_energy of two sockets with 64 cores each and two NUMA nodes a socket: 128 cores, then a "socket" a node. */
static void amd_sockets(const tree *t, const char *driver, const unsigned long long uj[4])
{
  char file[64];
  put(t, "class/hwmon/hwmon2/name", "%s\n", driver);
  for (int core = 0; core < 128; core++) {
    snprintf(file, sizeof file, "class/hwmon/hwmon2/energy%d_label", core + 1);
    put(t, file, "Ecore%03d\n", core);
    snprintf(file, sizeof file, "class/hwmon/hwmon2/energy%d_input", core + 1);
    put(t, file, "1000000\n");
  }
  for (int node = 0; node < 4; node++) {
    snprintf(file, sizeof file, "class/hwmon/hwmon2/energy%d_label", 129 + node);
    put(t, file, "Esocket%d\n", node);
  }
  amd_socket_energy(t, uj);
}

static void numa_nodes(const tree *t)
{
  char file[80];
  for (int node = 0; node < 4; node++) {
    snprintf(file, sizeof file, "devices/system/node/node%d/cpulist", node);
    put(t, file, "%d-%d\n", 32 * node, 32 * node + 31);
    snprintf(file, sizeof file, "devices/system/cpu/cpu%d/topology/physical_package_id", 32 * node);
    put(t, file, "%d\n", node / 2);
  }
}

static void amd_sockets_come_after_the_cores_and_once_for_each_numa_node(void)
{
  static const char *const drivers[] = {"amd_energy", "zenergy"};
  for (int d = 0; d < 2; d++) {
    tree *t = tree_new();
    interval i;
    amd_sockets(t, drivers[d], (const unsigned long long[]){1000000, 1000000, 2000000, 2000000});
    numa_nodes(t);
    wtl_meter *m = tree_open(t, WTL_METER_HWMON);
    begin(m, &i);
    t->now += 2;
    amd_sockets(t, drivers[d], (const unsigned long long[]){201000000, 201000000, 302000000, 302000000});
    end(m, &i);
    CHECK(i.n == 2);
    CHECK_NEAR(get(&i, "package-0")->joules, 200, 1e-6);
    CHECK_NEAR(get(&i, "package-1")->joules, 300, 1e-6);
    CHECK_TEXT(get(&i, "package-1")->source, "hwmon Esocket2");
    wtl_meter_close(m);
    tree_free(t);
  }
}

/* As above without the topology: the counters are compared while they advance. */
static void advance(tree *t, double seconds)
{
  t->watch[0] += (uint64_t)(seconds * 200e6) + t->watch[0] % 977;
  t->watch[1] += (uint64_t)(seconds * 150e6) + t->watch[1] % 991;
  amd_socket_energy(t, (const unsigned long long[]){t->watch[0], t->watch[0] + 5, t->watch[1], t->watch[1] + 7000000});
}

static void amd_sockets_that_show_one_counter_count_once(void)
{
  tree *t = tree_new();
  t->watch[0] = t->watch[1] = 5000000;
  t->on_sleep = advance;
  amd_sockets(t, "amd_energy", (const unsigned long long[]){0, 0, 0, 0});
  advance(t, 0);
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  wtl_domain d[WTL_MAX_DOMAINS];
  CHECK(wtl_meter_domains(m, d) == 2);
  CHECK_TEXT(d[0].name, "package-0");
  CHECK_TEXT(d[1].name, "package-2");
  wtl_meter_close(m);
  tree_free(t);
}

static void one_bad_value_of_a_counter_is_no_joule(void)
{
  tree *t = tree_new();
  interval i;
  amd_sockets(t, "amd_energy", (const unsigned long long[]){1000000, 1000000, 2000000, 2000000});
  numa_nodes(t);
  wtl_meter *m = tree_open(t, WTL_METER_HWMON);
  begin(m, &i);
  t->now += 1;
  amd_sockets(t, "amd_energy", (const unsigned long long[]){9223372036854775807, 0, 102000000, 0});
  end(m, &i);
  CHECK(get(&i, "package-0")->provenance == WATTLE_UNAVAILABLE);
  CHECK_NEAR(get(&i, "package-1")->joules, 100, 1e-6);
  t->now += 1;
  amd_sockets(t, "amd_energy", (const unsigned long long[]){201000000, 0, 202000000, 0});
  end(m, &i);
  CHECK_NEAR(get(&i, "package-0")->joules, 200, 1e-6); /* the counter went on counting */
  CHECK_NEAR(get(&i, "package-0")->covered_s, 2, 1e-9);
  CHECK_CONTAINS(wtl_meter_why(m), "hwmon: package-0: 1 reading beyond 1000 W left out");
  wtl_meter_close(m);
  tree_free(t);
}

/* Files of amd_energy have mode 0440, labels too (CVE-2020-12912). A reader without rights gets EACCES. */
static int refused_energy(void *arg, const char *path, char *buf, size_t size)
{
  return strstr(path, "/energy") ? -EACCES : tree_read(arg, path, buf, size);
}

static void labels_that_may_not_be_read_name_the_permission(void)
{
  tree *t = tree_new();
  amd_sockets(t, "amd_energy", (const unsigned long long[]){1000000, 1000000, 2000000, 2000000});
  t->sys.read_file = refused_energy;
  for (int any = 0; any < 2; any++) {
    wtl_meter *m = tree_open(t, any ? WTL_METER_AUTO : WTL_METER_HWMON);
    CHECK_TEXT(wtl_meter_name(m), any ? "model" : "none");
    CHECK_CONTAINS(wtl_meter_why(m), "energy1_label: Permission denied");
    CHECK_CONTAINS(wtl_meter_why(m), "/sys/devices/platform/amd_energy.0/hwmon/*/energy* 0440 root power");
    CHECK(!strstr(wtl_meter_why(m), "a+r") && !strstr(wtl_meter_why(m), "0444"));
    wtl_meter_close(m);
  }
  tree_free(t);
}

static void two_packages_in_topology(const tree *t)
{
  put(t, "devices/system/cpu/online", "0-3\n");
  for (int cpu = 0; cpu < 4; cpu++) {
    char file[80];
    snprintf(file, sizeof file, "devices/system/cpu/cpu%d/topology/package_cpus_list", cpu);
    put(t, file, cpu < 2 ? "0-1\n" : "2-3\n");
  }
}

static void one_package_of_two_is_reported(void)
{
  tree *t = tree_new();
  two_packages_in_topology(t);
  tree_zone(t, "intel-rapl:0", "package-0", 1000000, RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "powercap");
  CHECK_CONTAINS(wtl_meter_why(m), "only 1 of 2 packages can be read");
  wtl_meter_close(m);
  tree_zone(t, "intel-rapl:1", "package-1", 1000000, RANGE);
  m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_why(m), "");
  wtl_meter_close(m);
  tree_fault(t, "intel-rapl:1", EACCES);
  m = tree_open(t, WTL_METER_AUTO);
  CHECK_CONTAINS(wtl_meter_why(m), "only 1 of 2 packages can be read");
  wtl_meter_close(m);
  tree_free(t);
}

static void twenty_packages_with_memory_are_all_read(void)
{
  tree *t = tree_new();
  interval i;
  for (int n = 0; n < 20; n++) {
    char zone[64], name[32];
    snprintf(zone, sizeof zone, "intel-rapl:%x", n);
    snprintf(name, sizeof name, "package-%d", n);
    tree_zone(t, zone, name, 1000000, RANGE);
    snprintf(zone, sizeof zone, "intel-rapl:%x:0", n);
    tree_zone(t, zone, "dram", 1000000, DRAM_RANGE);
  }
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_why(m), "");
  begin(m, &i);
  t->now += 1;
  tree_energy(t, "intel-rapl:13", 51000000);
  tree_energy(t, "intel-rapl:13:0", 11000000);
  end(m, &i);
  CHECK(i.n == 40);
  CHECK_NEAR(get(&i, "package-19")->joules, 50, 1e-6);
  CHECK_NEAR(get(&i, "dram-19")->joules, 10, 1e-6);
  wtl_meter_close(m);
  tree_free(t);
}

static void zones_beyond_the_limit_are_counted(void)
{
  tree *t = tree_new();
  for (int n = 0; n < 70; n++) {
    char zone[64], name[32];
    snprintf(zone, sizeof zone, "intel-rapl:%x", n);
    snprintf(name, sizeof name, "package-%d", n);
    tree_zone(t, zone, name, 1000000, RANGE);
  }
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  wtl_domain d[WTL_MAX_DOMAINS];
  CHECK(wtl_meter_domains(m, d) == WTL_MAX_DOMAINS);
  CHECK_CONTAINS(wtl_meter_why(m), "6 more zones are not read, because a meter has at most 64 domains");
  wtl_meter_close(m);
  tree_free(t);
}

/* As docker and podman show it: they hide /sys/devices/virtual/powercap, and the links to it stay. */
static void links_to_hidden_folders_are_a_containers(void)
{
  tree *t = tree_new();
  static const char *const zones[] = {"intel-rapl:0", "intel-rapl:0:0"};
  for (int z = 0; z < 2; z++) {
    char path[512];
    snprintf(path, sizeof path, "%s/class/powercap/%s", t->root, zones[z]);
    CHECK(symlink("../../devices/virtual/powercap/intel-rapl/none", path) == 0);
  }
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_TEXT(wtl_meter_name(m), "model");
  CHECK_CONTAINS(wtl_meter_why(m), "links to hidden folders (a container)");
  CHECK_CONTAINS(wtl_meter_why(m), "WATTLE_SYSFS=/host/sys");
  CHECK(!strstr(wtl_meter_why(m), "virtual machine"));
  wtl_meter_close(m);
  tree_free(t);
}

static void a_zone_that_stands_still_is_unknown(void)
{
  tree *t = tree_new();
  interval i;
  tree_zone(t, "intel-rapl:0", "package-0", 1000000, RANGE);
  tree_zone(t, "intel-rapl:0:0", "dram", 77, DRAM_RANGE);
  tree_zone(t, "intel-rapl:0:1", "uncore", 77, RANGE);
  tree_zone(t, "intel-rapl:1", "psys", 0, RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  begin(m, &i);
  t->now += 1;
  tree_energy(t, "intel-rapl:0", 51000000);
  end(m, &i);
  CHECK(get(&i, "package-0")->provenance == WATTLE_MEASURED);
  CHECK(get(&i, "dram-0")->provenance == WATTLE_UNAVAILABLE && isnan(get(&i, "dram-0")->joules));
  CHECK(get(&i, "psys")->provenance == WATTLE_UNAVAILABLE && get(&i, "psys")->nested);
  CHECK(get(&i, "uncore-0")->provenance == WATTLE_MEASURED); /* a graphics processor that is off */
  CHECK_TEXT(wtl_meter_why(m), "dram-0 stands still; psys stands still");
  wtl_meter_close(m);
  tree_free(t);
}

static void a_reading_above_its_range_says_so(void)
{
  tree *t = tree_new();
  tree_zone(t, "intel-rapl:0", "package-0", RANGE + 5, RANGE);
  tree_zone(t, "intel-rapl:1", "package-1", 1000000, RANGE);
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  CHECK_CONTAINS(wtl_meter_why(m), "intel-rapl:0/energy_uj: above its own max_energy_range_uj");
  wtl_meter_close(m);
  tree_free(t);
}

static void a_package_is_limited_by_the_maximum_of_its_constraint(void)
{
  tree *t = tree_new();
  interval i;
  tree_zone(t, "intel-rapl:0", "package-0", 1000000, RANGE);
  tree_put(t, "intel-rapl:0", "constraint_0_max_power_uw", "125000000\n");
  wtl_meter *m = tree_open(t, WTL_METER_AUTO);
  begin(m, &i);
  t->now += 10;
  tree_energy(t, "intel-rapl:0", 1000000 + 4000000000ull); /* 400 W */
  end(m, &i);
  CHECK_NEAR(get(&i, "package-0")->joules, 4000, 1e-6);
  begin(m, &i);
  t->now += 10;
  tree_energy(t, "intel-rapl:0", 1000000 + 4000000000ull + 6000000000ull); /* 600 W */
  end(m, &i);
  CHECK(get(&i, "package-0")->provenance == WATTLE_UNAVAILABLE);
  CHECK_CONTAINS(wtl_meter_why(m), "powercap: package-0: 1 reading beyond 500 W left out");
  wtl_meter_close(m);
  tree_free(t);
}

/* perf's PMU on a package of two dies. A file in memory replaces an event. */
static int die_fd[2];

static int die_event(void *arg, unsigned type, unsigned long long config, int cpu)
{
  (void)arg;
  (void)type;
  (void)config;
  int which = cpu != 0;
  const unsigned long long first = cpu == 0 ? 40 : 0; /* the second event is opened a moment later */
  die_fd[which] = memfd_create("event", 0);
  if (pwrite(die_fd[which], &first, sizeof first, 0) != (ssize_t)sizeof first) exit(2);
  return die_fd[which];
}

static void set_dies(unsigned long long a, unsigned long long b)
{
  if (pwrite(die_fd[0], &a, sizeof a, 0) != (ssize_t)sizeof a ||
      pwrite(die_fd[1], &b, sizeof b, 0) != (ssize_t)sizeof b)
    exit(2);
}

static void one_counter_for_both_dies(tree *t, double seconds)
{
  t->watch[0] += (uint64_t)(seconds * 1e11) + t->watch[0] % 977 + 1;
  set_dies(t->watch[0] + 40, t->watch[0]);
}

static void a_counter_for_each_die(tree *t, double seconds)
{
  t->watch[0] += (uint64_t)(seconds * 1e11) + t->watch[0] % 977 + 1;
  t->watch[1] += (uint64_t)(seconds * 1.5e11) + t->watch[1] % 991 + 1;
  set_dies(t->watch[0], t->watch[1]);
}

static tree *package_of_two_dies(void (*sensors)(tree *, double))
{
  tree *t = tree_new();
  put(t, "bus/event_source/devices/power/type", "9\n");
  put(t, "bus/event_source/devices/power/cpumask", "0,24\n");
  put(t, "bus/event_source/devices/power/events/energy-pkg", "event=0x02\n");
  put(t, "bus/event_source/devices/power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
  for (int cpu = 0; cpu <= 24; cpu += 24) {
    char file[80];
    snprintf(file, sizeof file, "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    put(t, file, "0\n");
    snprintf(file, sizeof file, "devices/system/cpu/cpu%d/topology/die_id", cpu);
    put(t, file, "%d\n", cpu / 24);
  }
  t->sys.perf_open = die_event;
  t->on_sleep = sensors;
  return t;
}

static void perfs_events_of_dies_have_different_names(void)
{
  tree *t = package_of_two_dies(a_counter_for_each_die);
  interval i;
  wtl_meter *m = tree_open(t, WTL_METER_PERF);
  begin(m, &i);
  t->now += 1;
  set_dies(t->watch[0] + (50ull << 32), t->watch[1] + (30ull << 32));
  end(m, &i);
  CHECK(i.n == 2);
  CHECK_NEAR(get(&i, "package-0-die-0")->joules, 50, 1e-5);
  CHECK_NEAR(get(&i, "package-0-die-1")->joules, 30, 1e-5);
  wtl_meter_close(m);
  tree_free(t);
}

/* AMD before Linux 6.12: a CPU of each die, and each of them reads the counter of the package. */
static void perfs_events_that_show_one_counter_count_once(void)
{
  tree *t = package_of_two_dies(one_counter_for_both_dies);
  wtl_meter *m = tree_open(t, WTL_METER_PERF);
  wtl_domain d[WTL_MAX_DOMAINS];
  CHECK(wtl_meter_domains(m, d) == 1);
  CHECK_TEXT(d[0].name, "package-0-die-0");
  wtl_meter_close(m);
  tree_free(t);
}

TESTS(TEST(an_acpi_meter_has_its_files_at_its_acpi_device), TEST(grace_has_a_device_for_each_rail),
      TEST(two_supplies_are_both_the_nodes), TEST(a_battery_is_no_node), TEST(the_error_value_of_acpi_is_never_watts),
      TEST(a_supply_is_limited_by_its_rating), TEST(amd_sockets_come_after_the_cores_and_once_for_each_numa_node),
      TEST(amd_sockets_that_show_one_counter_count_once), TEST(one_bad_value_of_a_counter_is_no_joule),
      TEST(labels_that_may_not_be_read_name_the_permission), TEST(one_package_of_two_is_reported),
      TEST(twenty_packages_with_memory_are_all_read), TEST(zones_beyond_the_limit_are_counted),
      TEST(links_to_hidden_folders_are_a_containers), TEST(a_zone_that_stands_still_is_unknown),
      TEST(a_reading_above_its_range_says_so), TEST(a_package_is_limited_by_the_maximum_of_its_constraint),
      TEST(perfs_events_of_dies_have_different_names), TEST(perfs_events_that_show_one_counter_count_once))
