/* cpu_table_test.c - the table of CPUs: the right generation is found, and its watts fit the machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "power/machine/machine_cpu.h"
#include "power/sensor/watt_limit.h"
#include "tree.h"

/* The text of /proc/cpuinfo of a machine with this many processors, two threads a core. */
static char *cpuinfo(const char *first, int sockets, int threads)
{
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  if (!f) exit(2);
  for (int i = 0; i < threads; i++)
    fprintf(f, "processor\t: %d\n%sphysical id\t: %d\nsiblings\t: %d\ncpu cores\t: %d\n\n", i, first,
            i * sockets / threads, threads / sockets, threads / sockets / 2);
  fclose(f);
  return text;
}

static const char *const GENOA = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
                                 "model name\t: AMD EPYC 9654 96-Core Processor\nstepping\t: 1\ncpu MHz\t: 2400.0\n";
static const char *const TIGER_LAKE = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 140\nstepping\t: 1\n"
                                      "model name\t: 11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz\n";
static const char *const GENOA_GUEST = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
                                       "model name\t: AMD EPYC\nstepping\t: 1\nflags\t\t: fpu hypervisor\n";
static const char *const HIDDEN_XEON =
    "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 167\nmodel name\t: Intel(R) Xeon(R) Processor\n"
    "stepping\t: 1\ncache size\t: 491520 KB\nflags\t\t: fpu hypervisor amx_tile\n";

static wtl_machine *load(const char *first, int sockets, int threads)
{
  char error[512] = "", *text = cpuinfo(first, sockets, threads);
  wtl_machine *m = wtl_machine_load_for("auto", text, error, sizeof error);
  if (!m) fprintf(stderr, "%s\n", error);
  free(text);
  return m;
}

static void text_of_cpuinfo_gives_sockets_cores_and_threads(void)
{
  char *text = cpuinfo(GENOA, 2, 384);
  wtl_cpu_here here;
  wtl_cpu_here_read(text, &here);
  CHECK(here.sockets == 2 && here.cores == 192 && here.threads == 384);
  CHECK(here.family == 25 && here.model == 17 && here.stepping == 1 && !here.is_virtual && !here.has_amx);
  CHECK_NEAR(here.ghz, 2.4, 1e-9);
  free(text);
  wtl_cpu_here_read("", &here);
  CHECK(here.sockets == 1 && here.cores == 1 && here.threads == 1 && here.family == -1);
}

static void text_of_an_arm_cpu_gives_implementer_and_part(void)
{
  wtl_cpu_here here;
  wtl_cpu_here_read("processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n\n", &here);
  const wtl_cpu *cpu = wtl_cpu_find(&here);
  CHECK_TEXT(cpu ? cpu->name : "none", "ampere-altra");
}

static void a_named_processor_has_its_own_tdp(void)
{
  wtl_machine *m = load(GENOA, 2, 384);
  if (!m) exit(1);
  CHECK_TEXT(wtl_machine_name(m), "amd-epyc-genoa");
  CHECK_CONTAINS(m->clocks[0].active.how, "EPYC 9654: TDP 360 W over 192 threads");
  CHECK(m->sockets == 2 && m->cores_per_socket == 96);
  /* All cores at once draw about the TDP of a socket beyond idle: no more than 1.3 of it, no less than 0.4. */
  CHECK_CONTAINS(m->wake->how, "first busy core");
  double all = m->wake->value + 96 * (m->clocks[0].active.value + m->second->value);
  CHECK(all > 0.4 * 360 && all < 1.3 * 360);
  CHECK(m->idle.cpu.value > 0.05 * 360 && m->idle.cpu.value < 0.5 * 360);
  wtl_machine_free(m);
}

static double limit_of(const char *cpuinfo)
{
  wtl_machine *m = load(cpuinfo, 1, 4);
  if (!m) exit(1);
  wtl_meter_env env = {.machine = m};
  double limit = wtl_watt_limit_package(&env);
  wtl_machine_free(m);
  return limit;
}

static void readings_beyond_the_tdp_of_the_table_are_implausible(void)
{
  CHECK_NEAR(limit_of(GENOA), 4 * 360, 1e-9);
  CHECK_NEAR(limit_of(TIGER_LAKE), 300, 1e-9); /* 28 W */
}

static void a_virtual_machine_has_its_part_of_the_host(void)
{
  wtl_machine *two = load(GENOA_GUEST, 1, 2), *eight = load(GENOA_GUEST, 1, 8);
  if (!two || !eight) exit(1);
  CHECK_TEXT(wtl_machine_name(two), "amd-epyc-genoa");
  CHECK_NEAR(eight->idle.cpu.value, 4 * two->idle.cpu.value, 1e-6);
  CHECK_NEAR(eight->clocks[0].active.value, two->clocks[0].active.value, 1e-9);
  CHECK_CONTAINS(two->idle.cpu.how, "part of its host");
  CHECK_CONTAINS(two->idle.cpu.how, "middle of the 95 % range, median ");
  const wtl_number *idle = &two->idle.cpu;
  double median = sqrt(idle->value * idle->value - idle->plus_minus * idle->plus_minus);
  CHECK_NEAR(check_number(strstr(idle->how, "median ") + strlen("median ")), median, 0.01 * median);
  CHECK_CONTAINS(two->title, "2 of about");
  CHECK_CONTAINS(two->title, "threads of a host's socket");
  CHECK(!two->wake && !two->second); /* the load of the host is not known */
  wtl_machine_free(two);
  wtl_machine_free(eight);
}

static void cache_tells_the_model_that_a_hypervisor_hides(void)
{
  wtl_machine *m = load(HIDDEN_XEON, 1, 2);
  if (!m) exit(1);
  CHECK_TEXT(wtl_machine_name(m), "intel-graniterapids-sp");
  CHECK_CONTAINS(m->clocks[0].active.how, "480 MiB of cache");
  wtl_machine_free(m);
}

static wtl_cpu_here guest_of(const wtl_cpu *cpu, enum wtl_clock_class clock)
{
  wtl_cpu_here here = {.sockets = 1, .cores = 2, .threads = 2, .is_virtual = true, .memory_gb = 8, .clock = clock};
  snprintf(here.vendor, sizeof here.vendor, "%s", cpu->vendor);
  here.family = cpu->family;
  here.model = cpu->models[0];
  here.stepping = cpu->first_stepping;
  return here;
}

static void every_generation_is_found_by_its_own_numbers(void)
{
  for (size_t i = 0; i < wtl_n_cpus; i++) {
    const wtl_cpu *cpu = &wtl_cpus[i];
    wtl_cpu_here here = guest_of(cpu, WTL_CLOCK_ANY);
    for (int m = 0; m < cpu->n_models; m++) {
      here.model = cpu->models[m];
      snprintf(here.name, sizeof here.name, "%s", cpu->processors[0].name);
      const wtl_cpu *found = wtl_cpu_find(&here);
      CHECK_TEXT(found ? found->name : "none", cpu->name);
    }
    CHECK(wtl_cpu_named(cpu->name) == cpu);
  }
}

/* The condition for every claim of a saving. */
static void a_sleeping_thread_draws_less_at_the_worst_ends_of_every_generation(void)
{
  for (size_t i = 0; i < wtl_n_cpus; i++) {
    for (int clock = 0; clock < WTL_CLOCK_CLASSES; clock++) {
      char error[512] = "";
      wtl_cpu_here here = guest_of(&wtl_cpus[i], clock);
      wtl_machine *m = wtl_machine_of_cpu(&wtl_cpus[i], &here, error, sizeof error);
      if (!m) exit(1);
      const wtl_clock *c = &m->clocks[0];
      CHECK(c->asleep.value + c->asleep.plus_minus < c->spin.value - c->spin.plus_minus);
      CHECK(c->asleep.value + c->asleep.plus_minus < c->yield.value - c->yield.plus_minus);
      wtl_machine_free(m);
    }
  }
}

/* Half-widths are the spread of servers. A wider spread in new measurements would fail here. */
static void a_clock_in_turbo_narrows_the_watts_of_a_virtual_server_to_45_per_cent(void)
{
  static const char *const servers[] = {"amd-epyc-genoa", "amd-epyc-milan", "amd-epyc-turin", "intel-icelake-sp",
                                        "intel-sapphirerapids-sp"};
  for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
    char error[512] = "";
    const wtl_cpu *cpu = wtl_cpu_named(servers[i]);
    if (!cpu) exit(1);
    wtl_cpu_here here = guest_of(cpu, WTL_CLOCK_TURBO);
    wtl_machine *m = wtl_machine_of_cpu(cpu, &here, error, sizeof error);
    if (!m) exit(1);
    const wtl_number *active = &m->clocks[0].active;
    double asleep = i == 0 ? m->clocks[0].asleep.plus_minus : 0; /* of a thread that also sleeps for as long */
    if (active->plus_minus + asleep > 0.45 * active->value) {
      fprintf(stderr, "%s: %g +- %g W\n", servers[i], active->value, active->plus_minus);
      check_failures++;
    }
    wtl_machine_free(m);
  }
}

/* Writes a file of the tree and makes its folders. */
static void put(const tree *t, const char *file, const char *text)
{
  char path[512];
  snprintf(path, sizeof path, "%s/%s", t->root, file);
  for (char *slash = path + strlen(t->root) + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
  FILE *f = fopen(path, "w");
  if (!f) exit(2);
  fprintf(f, "%s\n", text);
  fclose(f);
}

static wtl_cpu_here limits_of(const tree *t)
{
  wtl_cpu_here here = {.sockets = 1};
  wtl_cpu_here_system(t->root, &here);
  return here;
}

static void files_of_the_kernel_tell_tdp_and_sleep_states(void)
{
  tree *t = tree_new();
  CHECK(limits_of(t).tdp_w == 0 && limits_of(t).residency_s == 0);
  put(t, "class/powercap/intel-rapl:0/constraint_0_name", "long_term");
  put(t, "class/powercap/intel-rapl:0/constraint_0_max_power_uw", "205000000");
  CHECK_NEAR(limits_of(t).tdp_w, 205, 1e-9);
  put(t, "devices/system/cpu/cpu0/cpuidle/state0/residency", "0");
  put(t, "devices/system/cpu/cpu0/cpuidle/state1/residency", "20");
  put(t, "devices/system/cpu/cpu0/cpuidle/state2/residency", "600");
  put(t, "devices/system/cpu/cpu0/cpuidle/state2/disable", "0");
  CHECK_NEAR(limits_of(t).residency_s, 600e-6, 1e-12);
  put(t, "devices/system/cpu/cpu0/cpuidle/state2/disable", "1");
  CHECK_NEAR(limits_of(t).residency_s, 20e-6, 1e-12);
  put(t, "devices/system/cpu/cpu0/cpuidle/state1/residency", "4294967295");
  CHECK(limits_of(t).residency_s == 0);
  put(t, "class/powercap/intel-rapl:0/constraint_0_max_power_uw", "4294967295000000");
  CHECK(limits_of(t).tdp_w == 0);
  tree_free(t);
}

static void a_stated_tdp_narrows_a_bare_machine_and_its_sleep_states_the_sleep(void)
{
  char error[512] = "";
  const wtl_cpu *cpu = wtl_cpu_named("intel-skylake-sp");
  if (!cpu) exit(1);
  wtl_cpu_here here = guest_of(cpu, WTL_CLOCK_ANY);
  here.is_virtual = false;
  here.cores = 24;
  here.threads = 48;
  wtl_machine *wide = wtl_machine_of_cpu(cpu, &here, error, sizeof error);
  here.residency_s = 400e-6; /* half of the longest one of servers */
  here.tdp_w = 240;
  wtl_machine *narrow = wtl_machine_of_cpu(cpu, &here, error, sizeof error);
  if (!wide || !narrow) exit(1);
  CHECK_CONTAINS(narrow->idle.cpu.how, "states 240 W");
  double narrow_sleep = narrow->clocks[0].asleep.plus_minus / narrow->clocks[0].active.value;
  double wide_sleep = wide->clocks[0].asleep.plus_minus / wide->clocks[0].active.value;
  CHECK_NEAR(narrow_sleep, 0.5 * wide_sleep, 1e-9);
  CHECK(wide_sleep > 0.001 && wide_sleep < 0.02);
  CHECK(narrow->clocks[0].active.plus_minus / narrow->clocks[0].active.value <
        wide->clocks[0].active.plus_minus / wide->clocks[0].active.value);
  wtl_machine_free(wide);
  wtl_machine_free(narrow);
}

/* Measured machines that are no cloud's lie outside of the range that a clock above the base clock would give. */
static void the_clock_of_a_bare_machine_does_not_narrow_it(void)
{
  char error[512] = "";
  const wtl_cpu *cpu = wtl_cpu_named("intel-haswell-ep");
  if (!cpu) exit(1);
  wtl_cpu_here any = guest_of(cpu, WTL_CLOCK_ANY), turbo = guest_of(cpu, WTL_CLOCK_TURBO);
  any.is_virtual = turbo.is_virtual = false;
  wtl_machine *a = wtl_machine_of_cpu(cpu, &any, error, sizeof error);
  wtl_machine *b = wtl_machine_of_cpu(cpu, &turbo, error, sizeof error);
  if (!a || !b) exit(1);
  CHECK_NEAR(a->clocks[0].active.plus_minus, b->clocks[0].active.plus_minus, 0);
  CHECK_NEAR(a->idle.cpu.plus_minus, b->idle.cpu.plus_minus, 0);
  wtl_machine_free(a);
  wtl_machine_free(b);
}

/* The machine of a /proc/cpuinfo, and of files of the kernel where there are some, with four cores of one thread. */
static wtl_machine *four_cores(const char *first, const char *sysfs)
{
  char text[4096] = "", error[512];
  for (int i = 0; i < 4; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "processor\t: %d\n%s\n", i, first);
  wtl_cpu_here here;
  wtl_cpu_here_read(text, &here);
  here.memory_gb = 8;
  if (sysfs) wtl_cpu_here_system(sysfs, &here);
  const wtl_cpu *cpu = wtl_cpu_find(&here);
  if (!cpu && !wtl_cpu_has_class(&here)) return NULL;
  return wtl_machine_of_cpu(cpu ? cpu : &wtl_any_cpu, &here, error, sizeof error);
}

/* Watts of a package whose four cores all compute. */
static double full(const wtl_machine *m)
{
  return m->idle.cpu.value + m->wake->value + 4 * m->clocks[0].active.value;
}

static void a_notebook_has_the_watts_of_its_class_and_of_its_name(void)
{
  wtl_machine *m = four_cores("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 142\nstepping\t: 9\n"
                              "model name\t: Intel(R) Core(TM) i7-7600U CPU @ 2.80GHz\n",
                              NULL);
  if (!m) exit(1);
  CHECK_TEXT(wtl_machine_name(m), "intel-kabylake");
  CHECK_CONTAINS(m->title, "i7-7600U, notebook, readings of");
  CHECK_CONTAINS(m->idle.cpu.how, "i7-7600U: TDP 15 W");
  CHECK(m->idle.cpu.value < 4 && m->idle.cpu.plus_minus < m->idle.cpu.value); /* 1.4 W by RAPL */
  CHECK(full(m) > 10 && full(m) < 25);                                        /* 15.7 W */
  CHECK(m->idle.dram.value < 1);
  wtl_machine_free(m);
}

static void a_board_is_known_by_its_device_tree_or_by_its_cores(void)
{
  static const char *const a76 = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0b\n";
  tree *pi = tree_new();
  put(pi, "firmware/devicetree/base/model", "Raspberry Pi 5 Model B Rev 1.0");
  wtl_machine *named = four_cores(a76, pi->root), *other = four_cores(a76, NULL);
  if (!named || !other) exit(1);
  CHECK_TEXT(wtl_machine_name(named), "board");
  CHECK_CONTAINS(named->title, "Raspberry Pi 5, single-board computer");
  CHECK_CONTAINS(other->title, "Cortex-A76");
  CHECK_NEAR(full(named), full(other), 0.01 * full(named));
  CHECK(full(named) > 4 && full(named) < 14);
  wtl_machine_free(named);
  wtl_machine_free(other);
  tree_free(pi);
}

static void a_cpu_without_a_known_name_has_the_class_of_its_chassis(void)
{
  static const char *const next_year = "vendor_id\t: GenuineIntel\ncpu family\t: 99\nmodel\t\t: 1\n"
                                       "model name\t: a CPU of next year\nstepping\t: 1\n";
  static const struct {
    const char *type, *name;
  } chassis[] = {{"10", "notebook"}, {"3", "desktop"}, {"17", NULL}, {"", NULL}};
  for (size_t i = 0; i < sizeof chassis / sizeof *chassis; i++) {
    tree *t = tree_new();
    put(t, "class/dmi/id/chassis_type", chassis[i].type);
    wtl_machine *m = four_cores(next_year, t->root);
    CHECK_TEXT(m ? wtl_machine_name(m) : "none", chassis[i].name ? chassis[i].name : "none");
    wtl_machine_free(m);
    tree_free(t);
  }
  tree *t = tree_new();
  put(t, "class/power_supply/BAT0/type", "Battery\n");
  wtl_machine *m = four_cores(next_year, t->root);
  CHECK_TEXT(m ? wtl_machine_name(m) : "none", "notebook");
  wtl_machine_free(m);
  tree_free(t);
}

static void a_desktop_with_the_numbers_of_a_server_is_told_by_its_name(void)
{
  static const char *const numbers = "vendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 1\n";
  static const char *const names[] = {"AMD Ryzen 5 1600 Six-Core Processor", "AMD Ryzen 5 1500", "AMD EPYC 7351P",
                                      "AMD EPYC Processor"};
  static const char *const wanted[] = {"amd-zen", "amd-zen", "amd-epyc-naples", "amd-epyc-naples"};
  for (size_t i = 0; i < 4; i++) {
    char first[256];
    snprintf(first, sizeof first, "%smodel name\t: %s\nstepping\t: 1\n", numbers, names[i]);
    wtl_machine *m = load(first, 1, 12);
    CHECK_TEXT(m ? wtl_machine_name(m) : "none", wanted[i]);
    if (m && i == 2) CHECK_CONTAINS(m->wake->how, "EPYC 7351: TDP");
    wtl_machine_free(m);
  }
}

static double joules_of(const wtl_machine *m, int busy)
{
  enum { MOST = 256 };
  wtl_activity a[MOST] = {{0}};
  wattle_joules_t by_domain[2];
  double sum = 0;
  for (int i = 0; i < busy; i++) a[i] = (wtl_activity){.wall_s = 1, .active_s = 1};
  wtl_model_cores(m, 1, 0, a, (size_t)busy);
  for (int i = 0; i < busy; i++) {
    wtl_model_pe(m, &a[i], by_domain);
    sum += by_domain[0].joules;
  }
  return sum;
}

static void the_first_busy_core_draws_most_and_second_threads_least(void)
{
  wtl_machine *m = load(GENOA, 1, 192);
  if (!m) exit(1);
  double one = joules_of(m, 1), two = joules_of(m, 2), cores = joules_of(m, 96), threads = joules_of(m, 192);
  CHECK(one > 2 * (two - one));                      /* the socket wakes */
  CHECK_NEAR(cores, one + 95 * (two - one), 1e-6);   /* then each core draws the same */
  CHECK((threads - cores) / 96 < 0.5 * (two - one)); /* a second thread draws less than a first one */
  CHECK_NEAR(joules_of(m, 192), m->wake->value + 96 * (m->clocks[0].active.value + m->second->value), 1e-6);
  wtl_machine_free(m);
}

static void a_bare_core_that_sleeps_draws_less_at_the_worst_ends(void)
{
  for (size_t i = 0; i < wtl_n_cpus; i++) {
    for (int clock = 0; clock < WTL_CLOCK_CLASSES; clock++) {
      char error[512] = "";
      wtl_cpu_here here = guest_of(&wtl_cpus[i], clock);
      here.is_virtual = false;
      here.cores = wtl_cpus[i].cores;
      here.threads = wtl_cpus[i].threads;
      wtl_machine *m = wtl_machine_of_cpu(&wtl_cpus[i], &here, error, sizeof error);
      if (!m) exit(1);
      const wtl_clock *c = &m->clocks[0];
      CHECK(c->asleep.value + c->asleep.plus_minus < c->spin.value - c->spin.plus_minus);
      CHECK(m->wake->value >= m->wake->plus_minus);
      CHECK((m->second != NULL) == (here.threads > here.cores));
      CHECK(!m->second || m->second->value >= m->second->plus_minus);
      wtl_machine_free(m);
    }
  }
}

static void older_memory_draws_more_for_each_gigabyte(void)
{
  const wtl_cpu *ddr3 = wtl_cpu_named("intel-sandybridge-ep"), *ddr4 = wtl_cpu_named("amd-epyc-milan");
  if (!ddr3 || !ddr4) exit(1);
  CHECK(ddr3->ddr == 3 && ddr4->ddr == 4);
  CHECK(ddr3->dram_idle_w_per_gb.value > 1.5 * ddr4->dram_idle_w_per_gb.value);
  CHECK(ddr3->dram_idle_w_per_gb.spread > ddr4->dram_idle_w_per_gb.spread);
}

static void a_generation_is_taken_by_its_name(void)
{
  char error[512] = "";
  wtl_machine *m = wtl_machine_load("amd-epyc-rome", "/sys", error, sizeof error);
  CHECK_TEXT(m ? wtl_machine_name(m) : error, "amd-epyc-rome");
  wtl_machine_free(m);
}

static void a_title_names_the_cpu_whose_servers_are_counted(void)
{
  static const char *const titles[][2] = {
      {"amd-epyc-genoa", "17 servers at the wall, 7 by RAPL"},
      {"nvidia-grace", "NVIDIA Grace, 2 of about 72 threads of a host's socket, assumed to be as ampere-altra, "
                       "6 servers at the wall, 7 by RAPL"},
      {"amd-zen3", "assumed to be as amd-zen4, 1 server at the wall, 7 by RAPL"},
  };
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
    char error[512] = "";
    wtl_cpu_here here = guest_of(wtl_cpu_named(titles[i][0]), WTL_CLOCK_ANY);
    wtl_machine *m = wtl_machine_of_cpu(wtl_cpu_named(titles[i][0]), &here, error, sizeof error);
    if (!m) exit(1);
    CHECK_CONTAINS(m->title, titles[i][1]);
    wtl_machine_free(m);
  }
}

static void the_version_of_a_processor_is_part_of_its_name(void)
{
  wtl_machine *m = load("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 79\n"
                        "model name\t: Intel(R) Xeon(R) CPU E5-2697 v4 @ 2.30GHz\nstepping\t: 1\n",
                        2, 72);
  if (!m) exit(1);
  CHECK_CONTAINS(m->clocks[0].active.how, "E5-2697 v4: TDP 145 W");
  wtl_machine_free(m);
}

TESTS(TEST(text_of_cpuinfo_gives_sockets_cores_and_threads), TEST(text_of_an_arm_cpu_gives_implementer_and_part),
      TEST(a_named_processor_has_its_own_tdp), TEST(readings_beyond_the_tdp_of_the_table_are_implausible),
      TEST(a_virtual_machine_has_its_part_of_the_host), TEST(cache_tells_the_model_that_a_hypervisor_hides),
      TEST(every_generation_is_found_by_its_own_numbers),
      TEST(a_sleeping_thread_draws_less_at_the_worst_ends_of_every_generation),
      TEST(a_clock_in_turbo_narrows_the_watts_of_a_virtual_server_to_45_per_cent),
      TEST(files_of_the_kernel_tell_tdp_and_sleep_states),
      TEST(a_stated_tdp_narrows_a_bare_machine_and_its_sleep_states_the_sleep),
      TEST(the_clock_of_a_bare_machine_does_not_narrow_it), TEST(a_notebook_has_the_watts_of_its_class_and_of_its_name),
      TEST(a_board_is_known_by_its_device_tree_or_by_its_cores),
      TEST(a_cpu_without_a_known_name_has_the_class_of_its_chassis),
      TEST(a_desktop_with_the_numbers_of_a_server_is_told_by_its_name),
      TEST(the_first_busy_core_draws_most_and_second_threads_least),
      TEST(a_bare_core_that_sleeps_draws_less_at_the_worst_ends), TEST(older_memory_draws_more_for_each_gigabyte),
      TEST(a_generation_is_taken_by_its_name), TEST(a_title_names_the_cpu_whose_servers_are_counted),
      TEST(the_version_of_a_processor_is_part_of_its_name))
