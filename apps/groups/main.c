/*
 * main.c - the program of the study of groups. Cases: CR, or CR:V. Each second PE computes CR times as much as the
 * others. The work of each PE in each instance differs by up to V percent, the same in all runs of a seed.
 *
 * Work is a number of turns (work.h). Nothing is left out at the beginning, because a governor's learning is a part of
 * its result.
 */
#include "../common/random.h"
#include "../slack/sample.h"
#include "../slack/work.h"
#include "groups.h"

enum { PATTERN, WORK, TURNS, INSTANCES, SEED, N_OPTIONS };

static option options[N_OPTIONS] = {
    [PATTERN] = OPTION_WORD("pattern", 0, groups_names, "the PEs that wait for each other"),
    [WORK] = OPTION_NUMBER("work", 1, 0.001, 10000, "milliseconds that a PE with little work computes"),
    [TURNS] = OPTION_NUMBER("turns", 0, 0, 1e12, "turns of work in a millisecond; 0: measured on this machine now"),
    [INSTANCES] = OPTION_WHOLE("instances", 200, 1, 1 << 20, "instances in a sample"),
    [SEED] = OPTION_WHOLE("seed", 1, 1, 1 << 20, "the differences of the work"),
};

static double turns; /* in a millisecond, the same on all PEs */
static sample_case now_running;
static long instance; /* in the sample */

/* A random number from 1 - V to 1 + V for the seed, the PE and the instance. */
static double varied(void)
{
  uint64_t k = (uint64_t)options[SEED].value << 40 | (uint64_t)job_me() << 20 | (uint64_t)instance;
  return 1 + 1e-2 * now_running.y * (2 * (double)(random_at(0, k - 1) >> 11) / 9007199254740992.0 - 1);
}

void groups_compute(bool much)
{
  work_compute(turns * options[WORK].value * (much ? now_running.x : 1) * varied());
}

static void measure(sample_case c)
{
  static long before;
  measured m;
  int pattern = (int)options[PATTERN].value;
  now_running = c;
  measure_begin();
  for (instance = 0; instance < (long)options[INSTANCES].value; instance++) groups_run(pattern, before + instance);
  measure_end(&m);
  before += instance;
  bool right = sample_all(groups_right(pattern, before));
  if (job_me() != 0) return;
  sample_print(groups_names[pattern], "all", c, (int)options[SEED].value, &m, right);
  end_line();
}

static void begin(const sample_case *cases, int n)
{
  turns = work_agreed_turns(options[TURNS].value);
  groups_make();
}

static void print_turns(void)
{
  print_number("turns", turns);
}

static const char *wrong(const sample_case *cases, int n)
{
  int side = (int)sqrt(job_n_pes());
  return job_n_pes() < 4 || job_n_pes() % 2 || side * side != job_n_pes()
             ? "the PEs form a square of even size: 4, 16, 36, 64, ..."
             : NULL;
}

static void run(const sample_case *cases, int n)
{
  for (int i = 0; i < n; i++) measure(cases[i]);
}

int main(int argc, char **argv)
{
  return sample_main(
      argc, argv,
      &(sample_program){.name = "groups",
                        .words = "CASE...",
                        .purpose = "PEs that wait for some of the others; cases: compute ratio CR, or CR:PERCENT",
                        .options = options,
                        .n_options = N_OPTIONS,
                        .most_x = 1000,
                        .most_y = 90,
                        .wrong = wrong,
                        .begin = begin,
                        .print_setup = print_turns,
                        .run = run});
}
