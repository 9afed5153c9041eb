/* zones.c - computes the loads of the multi-zone programs, see zones.h. */
#include "zones.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS_X = 1632, POINTS_Y = 1216, MOST_ALONG = 32 };

/* Zones along x and y, and how much wider the last one is than the first. */
static const struct {
  int along;
  double last_over_first;
} shape[] = {[ZONES_BT_MZ] = {32, 4.5}, [ZONES_SP_MZ] = {32, 1}, [ZONES_LU_MZ] = {4, 1}};

/* Computes whole widths whose sum is `points`, by rounding the ends of intervals. */
static void widths(int n, int points, double last_over_first, int *width)
{
  if (last_over_first <= 1) {
    for (int i = 0; i < n; i++) width[i] = points / n; /* both sides of class D are multiples */
    return;
  }
  double r = exp(log(last_over_first) / (n - 1)), first = points * (r - 1) / (pow(r, n) - 1);
  int before = 0;
  for (int i = 0; i < n; i++) {
    int end = (int)(first * (pow(r, i + 1) - 1) / (r - 1) + 0.45);
    if (i == n - 1) end = points;
    width[i] = end - before;
    before = end;
  }
}

static int larger_first(const void *a, const void *b)
{
  long x = *(const long *)a, y = *(const long *)b;
  return (x < y) - (x > y);
}

int zones_of(zones_program program)
{
  return shape[program].along * shape[program].along;
}

void zones_loads(zones_program program, int n, double *loads)
{
  int x[MOST_ALONG], y[MOST_ALONG], along = shape[program].along, zones = zones_of(program);
  long zone[ZONES_MOST];
  double total = 0;
  widths(along, POINTS_X, shape[program].last_over_first, x);
  widths(along, POINTS_Y, shape[program].last_over_first, y);
  for (int i = 0; i < zones; i++) total += (double)(zone[i] = (long)x[i % along] * y[i / along]);
  qsort(zone, (size_t)zones, sizeof zone[0], larger_first);
  for (int p = 0; p < n; p++) loads[p] = 0;
  for (int i = 0; i < zones; i++) {
    int least = 0;
    for (int p = 1; p < n; p++)
      if (loads[p] < loads[least]) least = p;
    loads[least] += (double)zone[i];
  }
  for (int p = 0; p < n; p++) loads[p] *= n / total;
}
