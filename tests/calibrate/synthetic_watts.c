/*
 * synthetic_watts.c - `wattle-calibrate watts` on a machine whose true profile is known: a powercap tree, a cpufreq
 * tree and four cores that draw what truth() says, on a clock that only sleeping moves. Prints what the tool would.
 *
 * usage: synthetic_watts [noclocks]
 */
#include "calibrate/watts.h"
#include "power/check.h"
#include "power/clocks.h"

enum { CORES = 4 };
static const unsigned long long RANGE = 262143328850ull;

typedef struct machine {
  tree *t;
  enum watts_state state;
  double bytes;
  double package_j, dram_j;
} machine;

/* Watts of a core beyond idle: at 1 GHz 2, at 2 GHz 6, at 3 GHz 12 while it computes; less in the other states. */
static double truth(enum watts_state state, double ghz)
{
  static const double share[WATTS_STATES] = {0, 1, 0.75, 0.875, 0.0625, 0.5};
  return share[state] * (ghz * ghz + ghz);
}

static const double idle_w = 20, dram_idle_w = 4, joules_per_byte = 0.25e-9, bytes_per_s = 8e9;
static machine here;

static void advance(tree *t, double seconds)
{
  double ghz = atof(clock_get(t->root, 0, "cpufreq/scaling_max_freq")) * 1e-6;
  double moved = here.state == WATTS_STREAM ? bytes_per_s * seconds : 0;
  here.bytes += moved;
  here.package_j += seconds * (idle_w + CORES * truth(here.state, ghz));
  here.dram_j += seconds * dram_idle_w + moved * joules_per_byte;
  tree_energy(t, "intel-rapl:0", (unsigned long long)(here.package_j * 1e6));
  tree_energy(t, "intel-rapl:0:0", (unsigned long long)(here.dram_j * 1e6));
}

static void start(void *arg, enum watts_state state)
{
  ((machine *)arg)->state = state;
}

static void stop(void *arg)
{
  ((machine *)arg)->state = WATTS_IDLE;
}

static double bytes(void *arg)
{
  return ((machine *)arg)->bytes;
}

int main(int argc, char **argv)
{
  tree *t = here.t = tree_new();
  cpu_set_t cpus = clock_cpus(CORES);
  wtl_settings s = clock_settings(t, argc > 1 && strcmp(argv[1], "noclocks") == 0 ? WTL_KNOB_NONE : WTL_KNOB_CPUFREQ);
  for (int cpu = 0; cpu < CORES; cpu++) {
    clock_cpu(t->root, cpu, "acpi-cpufreq", "performance", "1000000", "3000000");
    clock_put(t->root, cpu, "cpufreq/scaling_available_frequencies", "1000000 2000000 3000000");
    clock_put(t->root, cpu, "cpufreq/base_frequency", "2000000");
  }
  tree_zone(t, "intel-rapl:0", "package-0", 0, RANGE);
  tree_zone(t, "intel-rapl:0:0", "dram", 0, RANGE);
  t->on_sleep = advance;
  wtl_meter *meter = tree_open(t, WTL_METER_POWERCAP);
  wtl_knob *knob = wtl_knob_open(&s, &cpus, NULL);
  watts_load load = {.arg = &here, .cores = CORES, .start = start, .stop = stop, .bytes = bytes};
  for (size_t d = 0; d < wtl_knob_domains(knob) && wtl_knob_acts(knob); d++) CHECK(wtl_knob_claim(knob, d) == 0);
  watts_measure(stdout, meter, knob, &t->sys, &load, 10, NULL);
  wtl_knob_restore(knob);
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "3000000");
  wtl_knob_close(knob);
  wtl_meter_close(meter);
  tree_free(t);
  return check_failures != 0;
}
