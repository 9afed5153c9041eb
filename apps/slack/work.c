/* work.c - computes a fixed amount of work, see work.h. */
#include "work.h"

#include <math.h>
#include <stdlib.h>

#include <wattle_sim.h>

#include "../../bench/clocks.h"
#include "../common/job.h"

enum { CHAINS = 8, TRIES = 5 };
static const double try_turns = 1e6, scalar = 3.0;

const work_kind work_kinds[WORK_KERNELS] = {
    [WORK_FMA] = {"fma", 6, 0},     [WORK_COPY] = {"copy", 0.5, 16},    [WORK_SCALE] = {"scale", 0.67, 16},
    [WORK_ADD] = {"add", 0.67, 24}, [WORK_TRIAD] = {"triad", 0.75, 24},
};

#ifdef WATTLE_SIMULATED

/* Eight independent multiply-adds, each of which depends on the turn before: eight cycles at 2.6 GHz. The time is
 * given instead of counted, because counting would take as long as computing. */
static const double turn_s = 8 / 2.6e9;

void work_compute(double turns)
{
  wattle_sim_compute(turns * turn_s);
}

#else

static volatile double sink; /* keeps the compiler from removing the computation */

void work_compute(double turns)
{
  double x[CHAINS], m = 0.999999, add = 1e-6;
  for (int i = 0; i < CHAINS; i++) x[i] = 1.0 + i;
  for (double t = 0; t < turns; t++)
    for (int i = 0; i < CHAINS; i++) x[i] = x[i] * m + add;
  double sum = 0;
  for (int i = 0; i < CHAINS; i++) sum += x[i];
  sink = sum;
}

#endif

/* The number of turns that this core computes in a second now: the best of several tries. */
static double work_turns_per_second(void)
{
  double best = INFINITY;
  for (int i = 0; i < TRIES; i++) {
    double before = now();
    work_compute(try_turns);
    best = fmin(best, now() - before);
  }
  return try_turns / best;
}

double work_agreed_turns(double given)
{
  double turns = given > 0 ? given : 1e-3 * work_turns_per_second();
  job_broadcast(&turns, sizeof turns);
  return turns;
}

static void fill(work_arrays *w)
{
  for (size_t i = 0; i < w->n; i++) {
    w->a[i] = 1;
    w->b[i] = 2;
    w->c[i] = 0;
  }
}

bool work_arrays_make(work_arrays *w, size_t n)
{
  *w = (work_arrays){malloc(n * sizeof(double)), malloc(n * sizeof(double)), malloc(n * sizeof(double)), n};
  if (!w->a || !w->b || !w->c) {
    work_arrays_free(w);
    return false;
  }
  fill(w);
  return true;
}

void work_arrays_free(work_arrays *w)
{
  free(w->a);
  free(w->b);
  free(w->c);
  *w = (work_arrays){0};
}

void work_pass(enum work_kernel k, work_arrays *w)
{
  double *restrict a = w->a, *restrict b = w->b, *restrict c = w->c;
  size_t n = w->n;
  switch (k) {
  case WORK_COPY:
    for (size_t i = 0; i < n; i++) c[i] = a[i];
    break;
  case WORK_SCALE:
    for (size_t i = 0; i < n; i++) c[i] = scalar * a[i];
    break;
  case WORK_ADD:
    for (size_t i = 0; i < n; i++) c[i] = a[i] + b[i];
    break;
  case WORK_TRIAD:
    for (size_t i = 0; i < n; i++) c[i] = a[i] + scalar * b[i];
    break;
  default: work_compute((double)n);
  }
  wattle_sim_move((size_t)work_kinds[k].bytes * n);
  /* keeps the compiler from removing a pass that the next one repeats */
  __asm__ volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
}

void work_passes(enum work_kernel k, work_arrays *w, double elements)
{
  work_arrays part = *w;
  for (; elements >= 1; elements -= (double)part.n) {
    if (elements < (double)part.n) part.n = (size_t)elements;
    work_pass(k, &part);
  }
}

bool work_check(enum work_kernel k, work_arrays *w, double passes)
{
  static const double left[WORK_KERNELS] = {0, 1, 3, 3, 7};
  double want = passes > 0 ? left[k] : 0;
  bool right = true;
  for (size_t i = 0; i < w->n; i++) right = right && w->a[i] == 1 && w->b[i] == 2 && w->c[i] == want;
  fill(w);
  return right;
}
