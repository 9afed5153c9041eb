/*
 * slack.c - early and late PEs at a barrier. Cases: CR or CR:EC. EC PEs compute `--work`, the others CR times as
 * much, and all PEs synchronize. This repeats, because the governor learns. EC 0: all but the last are early.
 * `--loads steps`: PE i computes 1 + (CR - 1) i / (n - 1) times as much as PE 0, so that PEs wait in different
 * groups. `--loads rotate`: another PE computes CR times as much in each instance. `--loads bt-mz`, `sp-mz` and `lu-mz`: PE i computes as much as the i-th process of that program (zones.h),
 * relative to the mean of all; the case has no effect.
 *
 * `--kernel`: a turn is an element of a kernel of STREAM, over arrays of `--arrays` MiB, and not a turn of multiply-adds.
 * So memory bounds the work.
 *
 * `--meet pairs`: a PE waits only for its partner, by a flag. The time of a sample ends when all PEs have done.
 *
 * Work is a number of turns (work.h), not a time, so that the clock changes its time. Jobs at different clocks are
 * comparable if all have the same `--turns`.
 */
#include <limits.h>
#include <shmem.h>

#include "sample.h"
#include "work.h"
#include "zones.h"

enum { WORK, TURNS, INSTANCES, LEAST, WARM, REPEAT, LOADS, MEET, KERNEL, ARRAYS, N_OPTIONS };
enum { LOADS_TWO, LOADS_STEPS, LOADS_ROTATE, LOADS_ZONES }; /* the last: the first of zones_program */

static const char *const loads[] = {"two", "steps", "rotate", "bt-mz", "sp-mz", "lu-mz", NULL};
static const char *const meets[] = {"barrier", "pairs", NULL};
static const char *const kernels[] = {"fma", "copy", "scale", "add", "triad", NULL}; /* enum work_kernel */
static option options[N_OPTIONS] = {
    [WORK] = OPTION_NUMBER("work", 2, 0.001, 10000, "milliseconds that an early PE computes"),
    [TURNS] = OPTION_NUMBER("turns", 0, 0, 1e12, "turns of work in a millisecond; 0: measured on this machine now"),
    [INSTANCES] = OPTION_NUMBER("instances", 20, 1, 1e6, "synchronizations in a sample"),
    [LEAST] = OPTION_NUMBER("least", 0, 0, 3600, "seconds that a sample lasts at least, by more synchronizations"),
    [WARM] = OPTION_NUMBER("warm", 6, 0, 1e6, "synchronizations before it that do not count"),
    [REPEAT] = OPTION_NUMBER("repeat", 1, 1, 10000, "number of measurements of each case"),
    [LOADS] = OPTION_WORD("loads", LOADS_TWO, loads, "distribution of the work"),
    [MEET] =
        OPTION_WORD("meet", 0, meets, "the PEs that synchronize with each other: all, or an even one and the next"),
    [KERNEL] = OPTION_WORD("kernel", WORK_FMA, kernels, "what a turn of work computes"),
    [ARRAYS] = OPTION_NUMBER("arrays", 24, 0.001, 1 << 20, "MiB of a PE's arrays, for a kernel of STREAM"),
};
static work_arrays arrays; /* for a kernel of STREAM */

static void compute(double turns)
{
  if ((int)options[KERNEL].value == WORK_FMA)
    work_compute(turns);
  else
    work_passes((enum work_kernel)options[KERNEL].value, &arrays, turns);
}

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

static bool rotates(void)
{
  return (int)options[LOADS].value == LOADS_ROTATE;
}

static bool in_pairs(void)
{
  return options[MEET].value != 0;
}

static double factor(sample_case c)
{
  int n = job_n_pes(), early = c.y > 0 ? (int)c.y : n - 1;
  if (program_of_zones() >= 0) return of_zones(n);
  if ((int)options[LOADS].value == LOADS_STEPS) return n > 1 ? 1 + (c.x - 1) * job_me() / (n - 1) : 1;
  return job_me() < early || rotates() ? 1 : c.x;
}

static long arrived; /* symmetric; on PE 0: number of arrivals of the last PE */
static long partner; /* symmetric: number of arrivals of the other PE of a pair */
static long unmet;   /* on PE 0: how often it continued before that arrival */

static void meet(long met)
{
  if (in_pairs()) {
    shmem_long_p(&partner, met, job_me() ^ 1);
    shmem_long_wait_until(&partner, SHMEM_CMP_GE, met);
    return;
  }
  if (job_me() == job_n_pes() - 1) shmem_long_p(&arrived, met, 0);
  job_barrier();
  unmet += job_me() == 0 && arrived < met;
}

/* ratio: of the work of the late PE, where it is another one each time. */
static split meet_often(double turns, double ratio, long times)
{
  static long met;
  split s = {0};
  for (long i = 0; i < times; i++) {
    double begin = now();
    compute(rotates() && met % job_n_pes() == job_me() ? turns * ratio : turns);
    double arrive = now();
    meet(++met);
    s.compute_s += arrive - begin;
    s.slack_s += now() - arrive;
  }
  double done = now();
  if (in_pairs()) job_barrier();
  s.slack_s += now() - done;
  s.compute_s /= (double)times;
  s.slack_s /= (double)times;
  return s;
}

static void print_splits(const split *all)
{
  int n = job_n_pes();
  double *compute = job_calloc((size_t)n, sizeof *compute), *slack = job_calloc((size_t)n, sizeof *slack);
  for (int pe = 0; pe < n; pe++) {
    compute[pe] = all[pe].compute_s;
    slack[pe] = all[pe].slack_s;
  }
  print_list("compute_s", compute, n);
  print_list("slack_s", slack, n);
  free(compute);
  free(slack);
}

/* Synchronizes without counting, and returns the number of synchronizations of a sample. */
static long warm_up(double turns, double ratio)
{
  double least = options[LEAST].value;
  long n = (long)options[INSTANCES].value, warm = (long)fmax(options[WARM].value, least > 0);
  double before = now();
  if (warm > 0) meet_often(turns, ratio, warm);
  if (least <= 0) return n;
  long enough = sample_rounds((now() - before) / (double)warm, least);
  return enough > n ? enough : n;
}

static void measure(sample_case c, int repeat, double turns)
{
  measured m;
  split mine, *all = job_me() == 0 ? job_calloc((size_t)job_n_pes(), sizeof *all) : NULL;
  turns *= factor(c);
  long times = warm_up(turns, c.x);
  measure_begin();
  mine = meet_often(turns, c.x, times);
  measure_end(&m);
  measure_divide(&m, (double)times);
  job_gather(&mine, sizeof mine, all);
  if (job_me() != 0) return;
  int kernel = (int)options[KERNEL].value;
  const char *of_loads = rotates() ? meets[(int)options[MEET].value] : loads[(int)options[LOADS].value];
  sample_print(kernel == WORK_FMA ? of_loads : kernels[kernel], "all", c, repeat, &m, unmet == 0);
  print_splits(all);
  end_line();
  free(all);
}

static double turns; /* in a millisecond, the same on all PEs */

static void agree(const sample_case *cases, int n)
{
  turns = work_agreed_turns(options[TURNS].value);
  if ((int)options[KERNEL].value == WORK_FMA) return;
  if (!work_arrays_make(&arrays, (size_t)(options[ARRAYS].value * (1 << 20) / 3 / sizeof(double)))) {
    fprintf(stderr, "PE %d: no memory for %g MiB of arrays\n", job_me(), options[ARRAYS].value);
    job_abort(1);
  }
}

static void print_turns(void)
{
  print_number("turns", turns);
}

static const char *wrong(const sample_case *cases, int n)
{
  static char text[128];
  if (in_pairs() && job_n_pes() % 2) return "--meet pairs needs an even number of PEs";
  for (int i = 0; i < n; i++)
    if (cases[i].y > job_n_pes()) return "EC is the number of early PEs, at most of all";
  int program = program_of_zones(), most = program >= 0 ? zones_of((zones_program)program) : INT_MAX;
  snprintf(text, sizeof text, "--loads %s has %d zones: use at most that many PEs", loads[(int)options[LOADS].value],
           most);
  return job_n_pes() > most ? text : NULL;
}

static void run(const sample_case *cases, int n)
{
  for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++)
    for (int i = 0; i < n; i++) measure(cases[i], repeat, turns * options[WORK].value);
}

int main(int argc, char **argv)
{
  return sample_main(argc, argv,
                     &(sample_program){.name = "slack",
                                       .words = "CASE...",
                                       .purpose = "early and late PEs at a barrier; cases: compute ratio CR, or CR:EC",
                                       .options = options,
                                       .n_options = N_OPTIONS,
                                       .most_x = 1000,
                                       .most_y = 1 << 24,
                                       .wrong = wrong,
                                       .begin = agree,
                                       .print_setup = print_turns,
                                       .run = run});
}
