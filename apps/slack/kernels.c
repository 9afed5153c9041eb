/*
 * kernels.c - a phase limited by arithmetic and four limited by memory (work.h), on all PEs at once. Cases: MiB of
 * the three arrays together, on each PE. Times and joules are those of a pass.
 */
#include "sample.h"
#include "work.h"

enum { REPEAT, LEAST, N_OPTIONS };

static option options[N_OPTIONS] = {
    [REPEAT] = OPTION_NUMBER("repeat", 1, 1, 10000, "number of measurements of each kernel"),
    [LEAST] = OPTION_NUMBER("least", 0.02, 0, 60, "shortest time of a sample, in seconds"),
};

static long passes_of(enum work_kernel k, work_arrays *w)
{
  work_pass(k, w);
  double before = now();
  work_pass(k, w);
  return sample_rounds(now() - before, options[LEAST].value);
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
  bool right = sample_all(k == WORK_FMA || work_check(k, w, (double)passes + 2));
  if (job_me() != 0) return;
  sample_print(kind->name, "all", c, repeat, &m, right);
  printf(",\"intensity\":%g,\"bytes\":%.0f", kind->intensity, kind->bytes * (double)w->n * job_n_pes());
  end_line();
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

static void run(const sample_case *cases, int n)
{
  for (int i = 0; i < n; i++) measure_all(cases[i]);
}

int main(int argc, char **argv)
{
  return sample_main(
      argc, argv,
      &(sample_program){.name = "kernels",
                        .words = "MIB...",
                        .purpose = "phases limited by arithmetic and by memory; cases: MiB of arrays on a PE",
                        .options = options,
                        .n_options = N_OPTIONS,
                        .most_x = 1 << 20,
                        .run = run});
}
