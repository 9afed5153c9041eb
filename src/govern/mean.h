/* mean.h - a moving mean and variance, which weigh each of the first values alike and later ones by an eighth. */
#ifndef WTL_GOVERN_MEAN_H
#define WTL_GOVERN_MEAN_H

#include <math.h>
#include <stdint.h>

/* The mean of `n` values so far. Once they are many it counts as WTL_MEAN_WORTH values. */
typedef struct wtl_mean {
  double mean, variance;
  uint32_t n;
} wtl_mean;

enum { WTL_MEAN_OF = 8, WTL_MEAN_WORTH = 15 };

static inline void wtl_mean_add(wtl_mean *m, double value)
{
  double weight = fmax(1.0 / ++m->n, 1.0 / WTL_MEAN_OF), off = value - m->mean;
  m->mean += weight * off;
  m->variance = (1 - weight) * (m->variance + weight * off * off);
}

/* The standard error of the difference of two means whose values vary as those of `a` do. */
static inline double wtl_mean_error(const wtl_mean *a, uint32_t n_b)
{
  double n = fmin(a->n, WTL_MEAN_WORTH), m = fmin(n_b, WTL_MEAN_WORTH);
  return sqrt(a->variance * (1 / fmax(n - 1, 1) + 1 / fmax(m, 1)));
}

#endif
