/*
 * kernels.c - a phase limited by arithmetic and four limited by memory (work.h), on all PEs at once. Cases: MiB of
 * the three arrays together, on each PE. Times and joules are those of a pass.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../common/clocks.h"
#include "../common/job.h"
#include "../common/options.h"
#include "sample.h"
#include "work.h"

enum { EX_USAGE = 64 };
enum { REPEAT, LEAST, N_OPTIONS };

static bool any_wrong; /* on PE 0 */
static option options[N_OPTIONS] = {
    [REPEAT] = {"repeat", 1, 1, 10000, "number of measurements of each kernel", NULL},
    [LEAST] = {"least", 0.02, 0, 60, "shortest time of a sample, in seconds", NULL},
};

/* PE 0 decides the number for all PEs. */
static long passes_of(enum work_kernel k, work_arrays *w)
{
  work_pass(k, w);
  double before = seconds_now();
  work_pass(k, w);
  long passes = sample_rounds(seconds_now() - before, options[LEAST].value);
  job_broadcast(&passes, sizeof passes);
  return passes;
}

static void measure(enum work_kernel k, sample_case c, int repeat, work_arrays *w)
{
  measured m;
  const work_kind *kind = &work_kinds[k];
  long passes = passes_of(k, w);
  measure_begin();
  for (long i = 0; i < passes; i++) work_pass(k, w);
  measure_end(&m);
  measure_divide(&m, (double)passes);
  bool right = k == WORK_FMA || work_check(k, w, (double)passes + 2);
  right = job_sum(!right) == 0;
  if (job_me() != 0) return;
  any_wrong |= !right;
  sample_print(kind->name, "all", c, repeat, &m, right);
  printf(",\"intensity\":%g,\"bytes\":%.0f}\n", kind->intensity, kind->bytes * (double)w->n * job_n_pes());
  fflush(stdout);
}

static void measure_all(sample_case c)
{
  work_arrays w;
  if (!work_arrays_make(&w, (size_t)(c.x * (1 << 20) / 3 / sizeof(double)))) {
    fprintf(stderr, "PE %d: no memory for %g MiB of arrays\n", job_me(), c.x);
    job_abort(1);
  }
  for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++)
    for (int k = 0; k < WORK_KERNELS; k++) measure((enum work_kernel)k, c, repeat, &w);
  work_arrays_free(&w);
}

int main(int argc, char **argv)
{
  int words, n = 0;
  sample_case cases[SAMPLE_MOST_CASES];
  job_begin(&argc, &argv);
  int code =
      options_parse(argc, argv, "MIB...", "phases limited by arithmetic and by memory; cases: MiB of arrays on a PE",
                    options, N_OPTIONS, job_me() == 0, &words);
  if (code == OPTIONS_GO && (n = sample_cases(argc, argv, words, 1 << 20, 0, job_me() == 0, cases)) < 0)
    code = OPTIONS_WRONG;
  if (code == OPTIONS_GO) {
    if (job_me() == 0) {
      sample_print_setup("kernels");
      printf("}\n");
    }
    for (int i = 0; i < n; i++) measure_all(cases[i]);
  }
  job_end();
  return code == OPTIONS_WRONG ? EX_USAGE : any_wrong;
}
