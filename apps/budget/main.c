/*
 * main.c - the program of the study of power budgets: a loop with a barrier of all PEs. Cases: CR, or CR:V. The work of a
 * PE in an instance is between 1 and CR parts, by its pattern, and differs by up to V percent, the same in all runs of a
 * seed.
 *
 * PEs in a row have equal work, as many as a package of the studies' machine has cores.
 *
 *   static       each second row has CR parts, the others 1
 *   drifting     each second row has 1.01 times as much as in the instance before, from 1 up to CR parts and down again;
 *                the others have CR divided by that
 *   alternating  each second row has CR parts in each second instance, and the others in those between
 *
 * In simulation the work is described. Else it is a number of turns (work.h).
 */
#include <wattle_sim.h>

#include "../common/random.h"
#include "../slack/sample.h"
#include "../slack/work.h"

enum { PATTERN, WORK, ROW, TURNS, BEFORE, INSTANCES, SEED, N_OPTIONS };
enum { STATIC, DRIFTING, ALTERNATING };

static const char *const patterns[] = {
    [STATIC] = "static", [DRIFTING] = "drifting", [ALTERNATING] = "alternating", NULL};

static option options[N_OPTIONS] = {
    [PATTERN] = OPTION_WORD("pattern", STATIC, patterns, "how the work is divided"),
    [WORK] = OPTION_NUMBER("work", 10, 0.001, 10000, "milliseconds of one part of the work"),
    [ROW] = OPTION_WHOLE("row", 8, 1, 1 << 20, "PEs in a row with equal work"),
    [TURNS] = OPTION_NUMBER("turns", 0, 0, 1e12, "turns of work in a millisecond; 0: measured on this machine now"),
    [BEFORE] = OPTION_WHOLE("before", 20, 0, 1 << 20, "instances before the sample"),
    [INSTANCES] = OPTION_WHOLE("instances", 200, 1, 1 << 20, "instances in a sample"),
    [SEED] = OPTION_WHOLE("seed", 1, 1, 1 << 20, "the differences of the work"),
};

static double turns; /* in a millisecond, the same on all PEs */

/* From 1 up to `most` by 1 % an instance, and down again. */
static double drifted(double most, long at)
{
  long rise = (long)ceil(log(most) / log(1.01)), phase = rise > 0 ? at % (2 * rise) : 0;
  return fmin(pow(1.01, (double)(phase < rise ? phase : 2 * rise - phase)), most);
}

static double parts(sample_case c, long at)
{
  bool is_second = job_me() / (int)options[ROW].value % 2;
  switch ((int)options[PATTERN].value) {
  case DRIFTING: return is_second ? drifted(c.x, at) : c.x / drifted(c.x, at);
  case ALTERNATING: return is_second == (at % 2 == 0) ? c.x : 1;
  default: return is_second ? c.x : 1;
  }
}

/* A random number from 1 - V to 1 + V for the seed, the PE and the instance. */
static double varied(sample_case c, long at)
{
  uint64_t k = (uint64_t)options[SEED].value << 40 | (uint64_t)job_me() << 20 | (uint64_t)at;
  return 1 + 1e-2 * c.y * (2 * (double)(random_at(0, k - 1) >> 11) / 9007199254740992.0 - 1);
}

static void run_instance(sample_case c, long at)
{
  double ms = options[WORK].value * parts(c, at) * varied(c, at);
#ifdef WATTLE_SIMULATED
  wattle_sim_compute(1e-3 * ms);
#else
  work_compute(turns * ms);
#endif
  job_barrier();
}

static void measure(sample_case c)
{
  measured m;
  long before = (long)options[BEFORE].value, all = before + (long)options[INSTANCES].value;
  for (long i = 0; i < before; i++) run_instance(c, i);
  measure_begin();
  for (long i = before; i < all; i++) run_instance(c, i);
  measure_end(&m);
  if (job_me() != 0) return;
  sample_print(patterns[(int)options[PATTERN].value], "all", c, (int)options[SEED].value, &m, true);
  end_line();
}

static void begin(const sample_case *cases, int n)
{
#ifndef WATTLE_SIMULATED
  turns = work_agreed_turns(options[TURNS].value);
#endif
}

static void print_turns(void)
{
  print_number("turns", turns);
}

static void run(const sample_case *cases, int n)
{
  for (int i = 0; i < n; i++) measure(cases[i]);
}

int main(int argc, char **argv)
{
  return sample_main(argc, argv,
                     &(sample_program){.name = "budget",
                                       .words = "CASE...",
                                       .purpose = "unequal work between barriers; cases: ratio CR, or CR:PERCENT",
                                       .options = options,
                                       .n_options = N_OPTIONS,
                                       .most_x = 1000,
                                       .most_y = 90,
                                       .begin = begin,
                                       .print_setup = print_turns,
                                       .run = run});
}
