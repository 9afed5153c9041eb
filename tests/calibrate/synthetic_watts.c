/*
 * synthetic_watts.c - `wattle-calibrate watts` on a machine whose true profile is known: a powercap tree, a cpufreq
 * tree and four cores that draw what truth() says, on a clock that only sleeping moves. Prints what the tool would.
 *
 * usage: synthetic_watts [noclocks | valley | noisy | wandering | warming | gaps | blind:KHZ | stuck:KHZ | hint | node]
 *
 * noclocks: none can be set, cores run at 3 GHz. valley: 1 GHz draws more than 2 GHz. noisy: each 10 ms are off by up to
 * 5 %. wandering: each second is off by up to 40 %. warming: the node draws up to 6 W more as time goes by. gaps: one
 * reading in three fails. blind: all fail at this clock. stuck: this clock cannot be set. hint: only the
 * preference can. node: there is one sensor, with memory and processors in it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

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
  double now_s, off;
  bool is_valley, is_noisy, is_wandering, is_warming, has_gaps, is_node;
  const char *blind_at, *stuck_at;
  int readings;
} machine;

/* Watts of a core beyond idle: at 1 GHz 2, at 2 GHz 6, at 3 GHz 12 while it computes; less in the other states. */
static machine here;

static double truth(enum watts_state state, double ghz)
{
  static const double share[WATTS_STATES] = {0, 1, 0.75, 0.875, 0.0625, 0.5};
  return share[state] * (here.is_valley && ghz < 1.5 ? 9 : ghz * ghz + ghz);
}

static const double idle_w = 20, dram_idle_w = 4, joules_per_byte = 0.25e-9, bytes_per_s = 8e9, step_s = 0.01;

static double within(double most)
{
  return 1 + most * (2.0 * rand() / RAND_MAX - 1);
}

static double off(double seconds)
{
  bool is_next = floor(here.now_s + seconds) > floor(here.now_s) || here.off == 0;
  here.now_s += seconds;
  if (is_next) here.off = within(0.4);
  return here.is_noisy ? within(0.05) : here.is_wandering ? here.off : 1;
}

static double warmth_w(void)
{
  return here.is_warming ? 6 * (1 - exp(-here.now_s / 60)) : 0;
}

static void pass(double seconds, double ghz)
{
  double moved = here.state == WATTS_STREAM ? bytes_per_s * seconds : 0;
  here.bytes += moved;
  double share = off(seconds);
  here.package_j += share * seconds * (idle_w + warmth_w() + CORES * truth(here.state, ghz));
  here.dram_j += share * (seconds * dram_idle_w + moved * joules_per_byte);
}

static void advance(tree *t, double seconds)
{
  const char *khz = clock_get(t->root, 0, "cpufreq/scaling_max_freq");
  for (double left = seconds; left > 0; left -= step_s) pass(left < step_s ? left : step_s, atof(khz) * 1e-6);
  tree_energy(t, "intel-rapl:0", (unsigned long long)((here.package_j + (here.is_node ? here.dram_j : 0)) * 1e6));
  if (!here.is_node) tree_energy(t, "intel-rapl:0:0", (unsigned long long)(here.dram_j * 1e6));
  bool is_blind = here.blind_at && strcmp(khz, here.blind_at) == 0;
  tree_fault(t, "intel-rapl:0", is_blind || (here.has_gaps && here.readings++ % 3 == 2) ? EIO : 0);
}

static int open_some(void *arg, const char *path)
{
  if (arg && clock_ends_with(path, "scaling_max_freq")) return -EACCES;
  return wtl_knob_sys_real.open(NULL, path);
}

static int write_some(void *arg, int fd, const char *text)
{
  if (here.stuck_at && strcmp(text, here.stuck_at) == 0) return -EIO;
  return wtl_knob_sys_real.write(arg, fd, text);
}

static int lock_any(void *arg, int fd)
{
  (void)arg;
  return wtl_knob_sys_real.lock(NULL, fd);
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
  const char *how = argc > 1 ? argv[1] : "";
  wtl_settings s = clock_settings(t, strcmp(how, "noclocks") == 0 ? WTL_KNOB_NONE : WTL_KNOB_CPUFREQ);
  wtl_knob_sys os = {.sys = &wtl_sys_real, .open = open_some, .write = write_some, .lock = lock_any};
  here.is_valley = strcmp(how, "valley") == 0;
  here.is_noisy = strcmp(how, "noisy") == 0;
  here.is_wandering = strcmp(how, "wandering") == 0;
  here.is_warming = strcmp(how, "warming") == 0;
  here.is_node = strcmp(how, "node") == 0;
  here.has_gaps = strcmp(how, "gaps") == 0;
  here.blind_at = strncmp(how, "blind:", 6) == 0 ? how + 6 : NULL;
  here.stuck_at = strncmp(how, "stuck:", 6) == 0 ? how + 6 : NULL;
  if (strcmp(how, "hint") == 0) os.arg = &os;
  for (int cpu = 0; cpu < CORES; cpu++) {
    clock_cpu(t->root, cpu, "acpi-cpufreq", "performance", "1000000", "3000000");
    clock_put(t->root, cpu, "cpufreq/scaling_available_frequencies", "1000000 2000000 3000000");
    clock_put(t->root, cpu, "cpufreq/base_frequency", "2000000");
    clock_put(t->root, cpu, "cpufreq/energy_performance_preference", "default");
  }
  tree_zone(t, "intel-rapl:0", here.is_node ? "psys" : "package-0", 0, RANGE);
  if (!here.is_node) tree_zone(t, "intel-rapl:0:0", "dram", 0, RANGE);
  t->on_sleep = advance;
  wtl_meter *meter = tree_open(t, WTL_METER_POWERCAP);
  wtl_knob *knob = wtl_knob_open_with(&s, &cpus, NULL, &os);
  watts_load load = {.arg = &here, .cores = CORES, .start = start, .stop = stop, .bytes = bytes};
  for (size_t d = 0; d < wtl_knob_domains(knob) && wtl_knob_acts(knob); d++) CHECK(wtl_knob_claim(knob, d) == 0);
  watts_measure(stdout, meter, knob, &t->sys, &load, 10, NULL);
  wtl_knob_restore(knob);
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/scaling_max_freq"), "3000000");
  CHECK_TEXT(clock_get(t->root, 0, "cpufreq/energy_performance_preference"), "default");
  wtl_knob_close(knob);
  wtl_meter_close(meter);
  tree_free(t);
  return check_failures != 0;
}
