/*
 * main.c - runs the two-stage pattern of LSMS and prints its samples: the time of each stage on each PE, joules, and
 * whether the result is right. Cases: PARAMETERS or PARAMETERS:CR. Each message has PARAMETERS parameters. With a CR
 * each member of a group computes: the last one CR times as much as the master, `--work` in the mean.
 *
 * Work is a number of turns (../slack/work.h), not a time, so that the clock changes its time. Jobs at different
 * clocks are comparable if all have the same `--turns`.
 */
#include <inttypes.h>

#include "../slack/sample.h"
#include "../slack/work.h"
#include "lsms.h"

enum { MOST_PARAMETERS = 1 << 20, CACHE_LINE = 64 };
enum { PATTERN, GROUPS, BYTES, WORK, TURNS, STEPS, LEAST, WARM, REPEAT, SEED, N_OPTIONS };
enum { TRANSFER, COMPUTE, WAIT, COLLECT, STAGES };

static const char *const stage_names[STAGES] = {"transfer_s", "compute_s", "sync_s", "collect_s"};
static const char *const end_names[STAGES] = {"transfer_end", "compute_end", "sync_end", "collect_end"};
static struct {
  long warm, counted;
} made; /* steps of the current sample */
static option options[N_OPTIONS] = {
    [PATTERN] = OPTION_WORD("pattern", PPQ, lsms_patterns, "how a master sends parameters"),
    [GROUPS] = OPTION_NUMBER("groups", 2, 1, 4096, "groups of PEs; at most one for each PE without the root"),
    [BYTES] = OPTION_NUMBER("bytes", 64, 8, 1 << 20, "bytes of a parameter, a multiple of 8"),
    [WORK] = OPTION_NUMBER("work", 1, 0.001, 10000, "mean milliseconds that a member of a group computes in a step"),
    [TURNS] = OPTION_NUMBER("turns", 0, 0, 1e12, "turns of work in a millisecond; 0: measured on this machine now"),
    [STEPS] = OPTION_NUMBER("steps", 20, 1, 1e6, "steps in a sample"),
    [LEAST] = OPTION_NUMBER("least", 0, 0, 3600, "seconds that a sample lasts at least, by more steps"),
    [WARM] = OPTION_NUMBER("warm", 6, 0, 1e6, "steps before it that do not count"),
    [REPEAT] = OPTION_NUMBER("repeat", 1, 1, 10000, "number of measurements of each case"),
    [SEED] = OPTION_NUMBER("seed", 1, 0, 1e9, "determines all parameters"),
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
  s->end[stage] = now();
  s->s[stage] += s->end[stage] - *before;
  *before = s->end[stage];
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
  double before = s->begin = now();
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
  double *values = job_calloc((size_t)n, sizeof *values);
  for (int pe = 0; pe < n; pe++) values[pe] = (*(const double *)((const char *)&all[pe] + offset) - from) / by;
  print_list(name, values, n);
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
  snprintf(name, sizeof name, "%s %s", lsms_version, lsms_patterns[j->pattern]);
  sample_print(name, "all", c, repeat, m, sum == expected);
  printf(",\"groups\":%d,\"bytes\":%zu,\"checksum\":\"%016" PRIx64 "\"", j->groups, j->bytes, sum);
  print_stages(all, (double)made.counted);
  end_line();
}

/* Makes the steps that do not count, and finds how many steps count. */
static void warm_up(const lsms_job *j, uint64_t *seed, void *outgoing, double turns)
{
  stages ignored = {.begin = 0};
  double least = options[LEAST].value;
  made.warm = (long)fmax(options[WARM].value, least > 0);
  made.counted = (long)options[STEPS].value;
  job_barrier();
  double before = now();
  steps(j, seed, outgoing, made.warm, turns, &ignored);
  if (least <= 0) return;
  long enough = sample_rounds((now() - before) / (double)made.warm, least);
  if (enough > made.counted) made.counted = enough;
}

static void measure(lsms_job *j, sample_case c, int repeat, double turns)
{
  measured m;
  stages mine = {.begin = 0}, *all = j->me == 0 ? job_calloc((size_t)j->n_pes, sizeof *all) : NULL;
  uint64_t seed = (uint64_t)options[SEED].value;
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

static double turns; /* in a millisecond, the same on all PEs */

static const char *wrong(const sample_case *cases, int n)
{
  if (job_n_pes() < 2) return "needs at least 2 PEs, a root and a master";
  if (fmod(options[BYTES].value, 8) != 0) return "--bytes must be a multiple of 8";
  for (int i = 0; i < n; i++) {
    if (cases[i].x != floor(cases[i].x)) return "the number of parameters must be an integer";
    if (cases[i].y != 0 && cases[i].y < 1) return "CR must be at least 1";
  }
  return NULL;
}

static void agree(const sample_case *cases, int n)
{
  turns = work_agreed_turns(options[TURNS].value);
}

static void print_setup(void)
{
  print_text("version", lsms_version);
  print_number("turns", turns);
}

static void run(const sample_case *cases, int n)
{
  lsms_job j = {.bytes = (size_t)options[BYTES].value, .pattern = (lsms_pattern)options[PATTERN].value};
  lsms_roles(&j, job_me(), job_n_pes(), (int)options[GROUPS].value);
  j.stride = (j.bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE + CACHE_LINE;
  for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++)
    for (int i = 0; i < n; i++) measure(&j, cases[i], repeat, turns * options[WORK].value);
}

int main(int argc, char **argv)
{
  return sample_main(
      argc, argv,
      &(sample_program){.name = "lsms",
                        .words = "CASE...",
                        .purpose =
                            "root, masters and workers of LSMS; cases: PARAMETERS, or PARAMETERS:CR with computing",
                        .options = options,
                        .n_options = N_OPTIONS,
                        .most_x = MOST_PARAMETERS,
                        .most_y = 1000,
                        .wrong = wrong,
                        .begin = agree,
                        .print_setup = print_setup,
                        .run = run});
}
