/*
 * slack.c - early and late PEs at a barrier. Cases: CR or CR:EC. EC PEs compute `--work`, the others CR times as
 * much, and all PEs synchronize. This repeats, because the governor learns. EC 0: all but the last are early.
 * `--loads steps`: PE i computes 1 + (CR - 1) i / (n - 1) times as much as PE 0, so that PEs wait in different
 * groups. `--loads bt-mz`, `sp-mz` and `lu-mz`: PE i computes as much as the i-th process of that program (zones.h),
 * relative to the mean of all; the case has no effect.
 *
 * Work is a number of turns (work.h), not a time, so that the clock changes its time. Jobs at different clocks are
 * comparable if all have the same `--turns`.
 */
#include <limits.h>
#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/clocks.h"
#include "../common/job.h"
#include "../common/options.h"
#include "sample.h"
#include "work.h"
#include "zones.h"

enum { EX_USAGE = 64 };
enum { WORK, TURNS, INSTANCES, LEAST, WARM, REPEAT, LOADS, N_OPTIONS };
enum { LOADS_TWO, LOADS_STEPS, LOADS_ZONES }; /* the last: the first of zones_program */

static const char *const loads[] = {"two", "steps", "bt-mz", "sp-mz", "lu-mz", NULL};
static bool any_wrong; /* on PE 0 */
static option options[N_OPTIONS] = {
    [WORK] = {"work", 2, 0.001, 10000, "milliseconds that an early PE computes", NULL},
    [TURNS] = {"turns", 0, 0, 1e12, "turns of work in a millisecond; 0: measured on this machine now", NULL},
    [INSTANCES] = {"instances", 20, 1, 1e6, "synchronizations in a sample", NULL},
    [LEAST] = {"least", 0, 0, 3600, "seconds that a sample lasts at least, by more synchronizations", NULL},
    [WARM] = {"warm", 6, 0, 1e6, "synchronizations before it that do not count", NULL},
    [REPEAT] = {"repeat", 1, 1, 10000, "number of measurements of each case", NULL},
    [LOADS] = {"loads", LOADS_TWO, 0, 0, "distribution of the work", loads},
};

/* The mean work of a PE in an instance. */
typedef struct split {
  double compute_s, slack_s;
} split;

/* The program whose zones are the loads; -1: none. */
static int program_of_zones(void)
{
  int kind = (int)options[LOADS].value;
  return kind >= LOADS_ZONES ? kind - LOADS_ZONES : -1;
}

/* One PE computes the partition, so that its cost does not grow with the square of the PEs. */
static double of_zones(int n)
{
  double all[ZONES_MOST];
  if (job_me() == 0) zones_loads((zones_program)program_of_zones(), n, all);
  job_broadcast(all, (size_t)n * sizeof all[0]);
  return all[job_me()];
}

static double factor(sample_case c)
{
  int n = job_n_pes(), early = c.y > 0 ? (int)c.y : n - 1;
  if (program_of_zones() >= 0) return of_zones(n);
  if ((int)options[LOADS].value == LOADS_STEPS) return n > 1 ? 1 + (c.x - 1) * job_me() / (n - 1) : 1;
  return job_me() < early ? 1 : c.x;
}

static long arrived; /* symmetric; on PE 0: number of arrivals of the last PE */
static long unmet;   /* on PE 0: how often it continued before that arrival */

static split meet_often(double turns, long times)
{
  static long met;
  split s = {0};
  for (long i = 0; i < times; i++) {
    double begin = seconds_now();
    work_compute(turns);
    double arrive = seconds_now();
    met++;
    if (job_me() == job_n_pes() - 1) shmem_long_p(&arrived, met, 0);
    job_barrier();
    s.compute_s += arrive - begin;
    s.slack_s += seconds_now() - arrive;
    unmet += job_me() == 0 && arrived < met;
  }
  s.compute_s /= (double)times;
  s.slack_s /= (double)times;
  return s;
}

static void print_splits(const split *all)
{
  int n = job_n_pes();
  double *compute = calloc((size_t)n, sizeof *compute), *slack = calloc((size_t)n, sizeof *slack);
  if (!compute || !slack) job_abort(1);
  for (int pe = 0; pe < n; pe++) {
    compute[pe] = all[pe].compute_s;
    slack[pe] = all[pe].slack_s;
  }
  sample_print_list("compute_s", compute, n);
  sample_print_list("slack_s", slack, n);
  free(compute);
  free(slack);
}

/* Synchronizes without counting, and returns the number of synchronizations of a sample. */
static long warm_up(double turns)
{
  double least = options[LEAST].value;
  long n = (long)options[INSTANCES].value, warm = (long)fmax(options[WARM].value, least > 0);
  double before = seconds_now();
  if (warm > 0) meet_often(turns, warm);
  if (least <= 0) return n;
  long enough = sample_rounds((seconds_now() - before) / (double)warm, least);
  if (enough > n) n = enough;
  job_broadcast(&n, sizeof n);
  return n;
}

static void measure(sample_case c, int repeat, double turns)
{
  measured m;
  split mine, *all = job_me() == 0 ? calloc((size_t)job_n_pes(), sizeof *all) : NULL;
  if (job_me() == 0 && !all) job_abort(1);
  turns *= factor(c);
  long times = warm_up(turns);
  measure_begin();
  mine = meet_often(turns, times);
  measure_end(&m);
  measure_divide(&m, (double)times);
  job_gather(&mine, sizeof mine, all);
  if (job_me() != 0) return;
  any_wrong |= unmet != 0;
  sample_print(loads[(int)options[LOADS].value], "all", c, repeat, &m, unmet == 0);
  print_splits(all);
  printf("}\n");
  fflush(stdout);
  free(all);
}

/* Turns in a millisecond, the same on all PEs. */
static double agreed_turns(void)
{
  double turns = options[TURNS].value > 0 ? options[TURNS].value : 1e-3 * work_turns_per_second();
  job_broadcast(&turns, sizeof turns);
  return turns;
}

int main(int argc, char **argv)
{
  int words, n = 0;
  sample_case cases[SAMPLE_MOST_CASES];
  job_begin(&argc, &argv);
  int code = options_parse(argc, argv, "CASE...", "early and late PEs at a barrier; cases: compute ratio CR, or CR:EC",
                           options, N_OPTIONS, job_me() == 0, &words);
  if (code == OPTIONS_GO && (n = sample_cases(argc, argv, words, 1000, job_n_pes(), job_me() == 0, cases)) < 0)
    code = OPTIONS_WRONG;
  int most = program_of_zones() >= 0 ? zones_of((zones_program)program_of_zones()) : INT_MAX;
  if (code == OPTIONS_GO && job_n_pes() > most) {
    if (job_me() == 0)
      fprintf(stderr, "slack: --loads %s has %d zones: use at most that many PEs\n", loads[(int)options[LOADS].value],
              most);
    code = OPTIONS_WRONG;
  }
  if (code == OPTIONS_GO) {
    double turns = agreed_turns();
    if (job_me() == 0) {
      sample_print_setup("slack");
      putchar(',');
      json_number("turns", turns);
      printf("}\n");
    }
    for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++)
      for (int i = 0; i < n; i++) measure(cases[i], repeat, turns * options[WORK].value);
  }
  job_end();
  return code == OPTIONS_WRONG ? EX_USAGE : any_wrong;
}
