/*
 * main.c - runs the two-stage pattern of LSMS and prints its samples: the time of each stage on each PE, joules, and
 * whether the result is right. Cases: PARAMETERS or PARAMETERS:CR. Each message has PARAMETERS parameters. With a CR
 * each member of a group computes: the last one CR times as much as the master, `--work` in the mean.
 *
 * Work is a number of turns (../slack/work.h), not a time, so that the clock changes its time. Jobs at different
 * clocks are comparable if all have the same `--turns`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/clocks.h"
#include "../common/job.h"
#include "../common/options.h"
#include "../slack/sample.h"
#include "../slack/work.h"
#include "lsms.h"

enum { EX_USAGE = 64, MOST_PARAMETERS = 1 << 20, CACHE_LINE = 64 };
enum { PATTERN, GROUPS, BYTES, WORK, TURNS, STEPS, LEAST, WARM, REPEAT, SEED, N_OPTIONS };
enum { TRANSFER, COMPUTE, WAIT, COLLECT, STAGES };

static const char *const stage_names[STAGES] = {"transfer_s", "compute_s", "sync_s", "collect_s"};
static const char *const end_names[STAGES] = {"transfer_end", "compute_end", "sync_end", "collect_end"};
static bool any_wrong; /* on PE 0 */
static struct {
  long warm, counted;
} made; /* steps of the current sample */
static option options[N_OPTIONS] = {
    [PATTERN] = {"pattern", PPQ, 0, 0, "how a master sends parameters", lsms_patterns},
    [GROUPS] = {"groups", 2, 1, 4096, "groups of PEs; at most one for each PE without the root", NULL},
    [BYTES] = {"bytes", 64, 8, 1 << 20, "bytes of a parameter, a multiple of 8", NULL},
    [WORK] = {"work", 1, 0.001, 10000, "mean milliseconds that a member of a group computes in a step", NULL},
    [TURNS] = {"turns", 0, 0, 1e12, "turns of work in a millisecond; 0: measured on this machine now", NULL},
    [STEPS] = {"steps", 20, 1, 1e6, "steps in a sample", NULL},
    [LEAST] = {"least", 0, 0, 3600, "seconds that a sample lasts at least, by more steps", NULL},
    [WARM] = {"warm", 6, 0, 1e6, "steps before it that do not count", NULL},
    [REPEAT] = {"repeat", 1, 1, 10000, "number of measurements of each case", NULL},
    [SEED] = {"seed", 1, 0, 1e9, "determines all parameters", NULL},
};

/* The seconds of each stage on a PE, and the times (CLOCK_MONOTONIC) of the last step's beginning and stages' ends. */
typedef struct stages {
  double s[STAGES];
  double begin, end[STAGES];
} stages;

/* This PE's turns of work in a step: the mean over its group is `turns`. */
static double own_turns(const lsms_job *j, double turns, double ratio)
{
  if (ratio <= 0 || j->group < 0) return 0;
  int last = j->end - 1 - j->master;
  return last > 0 ? turns * 2 / (1 + ratio) * (1 + (ratio - 1) * (j->me - j->master) / last) : turns;
}

/* Adds the time since *before to a stage. */
static void pass(stages *s, int stage, double *before)
{
  double now = seconds_now();
  s->s[stage] += now - *before;
  *before = s->end[stage] = now;
}

/* The transfer stage. Returns the parameters of this PE. */
static void *transfer(const lsms_job *j, uint64_t seed, void *outgoing)
{
  if (j->group < 0)
    for (int group = 0; group < j->groups; group++) {
      lsms_configure(j, seed, group, outgoing);
      version_send(j, lsms_first(j, group), outgoing);
    }
  else
    version_receive(j, j->me == j->master ? 0 : j->master);
  for (int pe = j->master + 1; j->me == j->master && pe < j->end; pe++) {
    lsms_derive(j, version_inbox(), pe, outgoing);
    version_send(j, pe, outgoing);
  }
  return version_inbox();
}

/* A step. Returns, on the root, the sum of all results. */
static uint64_t step(const lsms_job *j, uint64_t seed, void *outgoing, double turns, stages *s)
{
  double before = s->begin = seconds_now();
  uint64_t result = 0;
  void *parameters = transfer(j, seed, outgoing);
  pass(s, TRANSFER, &before);
  if (j->group >= 0) result = lsms_result(j, parameters);
  if (turns > 0) work_compute(turns);
  if (j->group >= 0 && j->me != j->master) version_report(j, result);
  pass(s, COMPUTE, &before);
  job_barrier();
  pass(s, WAIT, &before);
  if (j->me == j->master) version_conclude(j, result + version_collect(j));
  if (j->group < 0) result = version_total(j);
  pass(s, COLLECT, &before);
  return result;
}

/* Makes `n` steps and returns, on the root, the last sum. Adds the time of the stages. */
static uint64_t steps(const lsms_job *j, uint64_t *seed, void *outgoing, long n, double turns, stages *s)
{
  uint64_t sum = 0;
  for (long i = 0; i < n; i++) {
    sum = step(j, *seed, outgoing, turns, s);
    *seed = lsms_next(sum);
  }
  return sum;
}

/* Prints a value of each PE: the double at `offset` in its stages, less `from`, divided by `by`. */
static void print_of_all(const char *name, const stages *all, size_t offset, double from, double by)
{
  int n = job_n_pes();
  double *values = calloc((size_t)n, sizeof *values);
  if (!values) job_abort(1);
  for (int pe = 0; pe < n; pe++) values[pe] = (*(const double *)((const char *)&all[pe] + offset) - from) / by;
  sample_print_list(name, values, n);
  free(values);
}

/* Times of the last step are relative to its beginning on the first PE, which is printed with all its digits. */
static void print_stages(const stages *all, double n_steps)
{
  double zero = all[0].begin;
  for (int pe = 1; pe < job_n_pes(); pe++) zero = fmin(zero, all[pe].begin);
  printf(",\"step_begins\":%.9f", zero);
  print_of_all("begin", all, offsetof(stages, begin), zero, 1);
  for (int stage = 0; stage < STAGES; stage++) {
    size_t offset = (size_t)stage * sizeof(double);
    print_of_all(stage_names[stage], all, offsetof(stages, s) + offset, 0, n_steps);
    print_of_all(end_names[stage], all, offsetof(stages, end) + offset, zero, 1);
  }
}

static void print(const lsms_job *j, sample_case c, int repeat, const measured *m, const stages *all, uint64_t sum)
{
  char name[32];
  uint64_t expected = 0;
  if (!lsms_expected(j, (uint64_t)options[SEED].value, made.warm + made.counted, &expected)) {
    fprintf(stderr, "lsms-%s: no memory to check the result; use fewer parameters\n", lsms_version);
    job_abort(1);
  }
  any_wrong |= sum != expected;
  snprintf(name, sizeof name, "%s %s", lsms_version, lsms_patterns[j->pattern]);
  sample_print(name, "all", c, repeat, m, sum == expected);
  printf(",\"groups\":%d,\"bytes\":%zu,\"checksum\":\"%016" PRIx64 "\"", j->groups, j->bytes, sum);
  print_stages(all, (double)made.counted);
  printf("}\n");
  fflush(stdout);
}

/* Makes the steps that do not count, and finds how many steps count. */
static void warm_up(const lsms_job *j, uint64_t *seed, void *outgoing, double turns)
{
  stages ignored = {.begin = 0};
  double least = options[LEAST].value;
  made.warm = (long)fmax(options[WARM].value, least > 0);
  made.counted = (long)options[STEPS].value;
  job_barrier();
  double before = seconds_now();
  steps(j, seed, outgoing, made.warm, turns, &ignored);
  if (least <= 0) return;
  long enough = sample_rounds((seconds_now() - before) / (double)made.warm, least);
  if (enough > made.counted) made.counted = enough;
  job_broadcast(&made.counted, sizeof made.counted);
}

static void measure(lsms_job *j, sample_case c, int repeat, double turns)
{
  measured m;
  stages mine = {.begin = 0}, *all = j->me == 0 ? calloc((size_t)j->n_pes, sizeof *all) : NULL;
  uint64_t seed = (uint64_t)options[SEED].value;
  if (j->me == 0 && !all) job_abort(1);
  j->n = (size_t)c.x;
  turns = own_turns(j, turns, c.y);
  void *outgoing = version_start(j);
  warm_up(j, &seed, outgoing, turns);
  measure_begin();
  uint64_t sum = steps(j, &seed, outgoing, made.counted, turns, &mine);
  measure_end(&m);
  measure_divide(&m, (double)made.counted);
  job_gather(&mine, sizeof mine, all);
  if (j->me == 0) print(j, c, repeat, &m, all, sum);
  version_end();
  free(all);
}

static bool is_possible(const sample_case *cases, int n)
{
  const char *wrong = NULL;
  if (job_n_pes() < 2) wrong = "needs at least 2 PEs, a root and a master";
  if (fmod(options[BYTES].value, 8) != 0) wrong = "--bytes must be a multiple of 8";
  for (int i = 0; i < n; i++) {
    if (cases[i].x != floor(cases[i].x)) wrong = "the number of parameters must be an integer";
    if (cases[i].y != 0 && cases[i].y < 1) wrong = "CR must be at least 1";
  }
  if (wrong && job_me() == 0) fprintf(stderr, "lsms-%s: %s\n", lsms_version, wrong);
  return !wrong;
}

/* Turns in a millisecond, the same on all PEs. */
static double agreed_turns(void)
{
  double turns = options[TURNS].value > 0 ? options[TURNS].value : 1e-3 * work_turns_per_second();
  job_broadcast(&turns, sizeof turns);
  return turns;
}

static void run(const sample_case *cases, int n)
{
  lsms_job j = {.bytes = (size_t)options[BYTES].value, .pattern = (lsms_pattern)options[PATTERN].value};
  double turns = agreed_turns();
  lsms_roles(&j, job_me(), job_n_pes(), (int)options[GROUPS].value);
  j.stride = (j.bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE + CACHE_LINE;
  if (j.me == 0) {
    sample_print_setup("lsms");
    printf(",\"version\":\"%s\",", lsms_version);
    json_number("turns", turns);
    printf("}\n");
  }
  for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++)
    for (int i = 0; i < n; i++) measure(&j, cases[i], repeat, turns * options[WORK].value);
}

int main(int argc, char **argv)
{
  int words, n = 0;
  sample_case cases[SAMPLE_MOST_CASES];
  job_begin(&argc, &argv);
  int code = options_parse(argc, argv, "CASE...",
                           "root, masters and workers of LSMS; cases: PARAMETERS, or PARAMETERS:CR with computing",
                           options, N_OPTIONS, job_me() == 0, &words);
  if (code == OPTIONS_GO && (n = sample_cases(argc, argv, words, MOST_PARAMETERS, 1000, job_me() == 0, cases)) < 0)
    code = OPTIONS_WRONG;
  if (code == OPTIONS_GO && !is_possible(cases, n)) code = OPTIONS_WRONG;
  if (code == OPTIONS_GO) run(cases, n);
  job_end();
  return code == OPTIONS_WRONG ? EX_USAGE : any_wrong;
}
