/* usual.c - the mean of the middle values, and their spread. After Yuen, "The two-sample trimmed t for unequal
 * population variances" (Biometrika, 1974), with the spread of the values that remain when the farthest are dropped. */
#include "govern/usual.h"

#include <math.h>
#include <string.h>

/* The least difference of two means that counts, in standard errors. */
static const double believed = 2;

static int count_of(const wtl_usual *u)
{
  return u->n < WTL_USUAL_OF ? (int)u->n : WTL_USUAL_OF;
}

/* How many values may be unusual on either side: of three or four one, of fifteen four. */
static int dropped(int n)
{
  return (n + 1) / 4;
}

static void sort(float *x, int n)
{
  for (int i = 1; i < n; i++)
    for (int k = i; k > 0 && x[k] < x[k - 1]; k--) {
      float last = x[k];
      x[k] = x[k - 1];
      x[k - 1] = last;
    }
}

/* So many values are above a median once in 256 times by chance. */
enum { ALL = 8 };

void wtl_usual_add(wtl_usual *u, double value)
{
  u->recent[u->n++ % WTL_USUAL_OF] = (float)value;
}

double wtl_usual_mean(const wtl_usual *u)
{
  float x[WTL_USUAL_OF];
  int n = count_of(u), out = dropped(n);
  double sum = 0;
  if (!n) return 0;
  memcpy(x, u->recent, sizeof x);
  sort(x, n);
  for (int i = out; i < n - out; i++) sum += (double)x[i];
  return sum / (n - 2 * out);
}

/* The largest distance from `mean` once the farthest values are dropped: about one standard deviation. */
static double spread(const wtl_usual *u, double mean)
{
  float x[WTL_USUAL_OF];
  int n = count_of(u);
  for (int i = 0; i < n; i++) x[i] = fabsf(u->recent[i] - (float)mean);
  sort(x, n);
  return (double)x[n - 1 - dropped(n)];
}

double wtl_usual_excess(const wtl_usual *a, const wtl_usual *b)
{
  int n = count_of(a), m = count_of(b);
  if (!n || !m) return 0;
  double mean_a = wtl_usual_mean(a), mean_b = wtl_usual_mean(b), apart = mean_a - mean_b;
  if (apart <= 0) return 0;
  double deviation = fmax(spread(a, mean_a), spread(b, mean_b));
  return fmax(0, apart - believed * deviation * sqrt(1.0 / (n - dropped(n)) + 1.0 / (m - dropped(m))));
}

double wtl_usual_shift(const wtl_usual *a, const wtl_usual *b)
{
  float x[WTL_USUAL_OF];
  int n = count_of(a), m = count_of(b);
  if (n < ALL || !m) return 0;
  memcpy(x, b->recent, sizeof x);
  sort(x, m);
  float median = x[m / 2];
  memcpy(x, a->recent, sizeof x);
  sort(x, n);
  return fmax(0, (double)(x[0] - median));
}
