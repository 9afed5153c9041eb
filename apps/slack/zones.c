/* zones.c - computes the loads of BT-MZ, see zones.h. */
#include "zones.h"

#include <math.h>
#include <stdlib.h>

enum { ZONES = ZONES_X * ZONES_Y, POINTS_X = 1632, POINTS_Y = 1216 };
static const double last_over_first = 4.5;

/* Computes whole widths whose sum is `points`, by rounding the ends of intervals. */
static void widths(int n, int points, int *width)
{
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

void zones_loads(int n, double *loads)
{
  int x[ZONES_X], y[ZONES_Y];
  long zone[ZONES];
  double total = 0;
  widths(ZONES_X, POINTS_X, x);
  widths(ZONES_Y, POINTS_Y, y);
  for (int i = 0; i < ZONES; i++) total += (double)(zone[i] = (long)x[i % ZONES_X] * y[i / ZONES_X]);
  qsort(zone, ZONES, sizeof zone[0], larger_first);
  for (int p = 0; p < n; p++) loads[p] = 0;
  for (int i = 0; i < ZONES; i++) {
    int least = 0;
    for (int p = 1; p < n; p++)
      if (loads[p] < loads[least]) least = p;
    loads[least] += (double)zone[i];
  }
  for (int p = 0; p < n; p++) loads[p] *= n / total;
}
