/*
 * history_test.c - compares the cost of waiting by history with that of the best fixed limit, found afterwards by
 * trying all.
 *
 * The waits are drawn from constant distributions, chosen by an adversary that knows the limit, or recorded.
 */
#include "govern/history.h"

#include <dirent.h>
#include <stdlib.h>

#include "power/check.h"

enum { PRICE = 130000 /* ticks: 50 us at 2.6 GHz */, WAITS = 20000 };

/* --- what a sequence costs ---------------------------------------------------------------------------------------- */

static double cost(double length, double limit)
{
  return length <= limit ? length : limit + PRICE;
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The least that a limit which stays could have cost: sleeping at once, or the length of one of the waits. */
static double best_fixed(const double *lengths, int n)
{
  double *sorted = malloc((size_t)n * sizeof *sorted);
  memcpy(sorted, lengths, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, compare);
  double best = (double)n * PRICE, awake = 0;
  for (int i = 0; i < n; i++) {
    awake += sorted[i];
    best = fmin(best, awake + (n - 1 - i) * (sorted[i] + PRICE));
  }
  free(sorted);
  return best;
}

static double with_history(const double *lengths, int n)
{
  wtl_wait_history h = {0};
  double sum = 0;
  for (int i = 0; i < n; i++) {
    uint64_t limit = wtl_history_limit(&h, PRICE);
    sum += cost(lengths[i], (double)limit);
    wtl_history_add(&h, PRICE, limit, (uint64_t)lengths[i]);
  }
  return sum;
}

static double ratio(const double *lengths, int n)
{
  return with_history(lengths, n) / best_fixed(lengths, n);
}

/* --- waits -------------------------------------------------------------------------------------------------------- */

static double uniform(void)
{
  static uint64_t state = 88172645463325252ull;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double constant(double mean)
{
  return mean;
}

static double exponential(double mean)
{
  return -mean * log(uniform());
}

static double even(double mean)
{
  return 2 * mean * uniform();
}

/* Nine in ten are short, one is very long. */
static double mostly_short(double mean)
{
  return uniform() < 0.9 ? mean * (0.9 + 0.2 * uniform()) : 20 * PRICE;
}

static double half_and_half(double mean)
{
  return uniform() < 0.5 ? mean : 10 * mean;
}

/* Heavy-tailed, as waits for a PE that is now and then interrupted: Pareto with exponent 1.5. */
static double heavy(double mean)
{
  return mean / 3 * pow(uniform(), -1 / 1.5);
}

typedef double (*distribution)(double mean);
static const struct {
  const char *name;
  distribution draw;
} distributions[] = {{"constant", constant},         {"exponential", exponential},     {"even", even},
                     {"mostly short", mostly_short}, {"half and half", half_and_half}, {"heavy", heavy}};
enum { DISTRIBUTIONS = sizeof distributions / sizeof distributions[0] };

static double lengths[WAITS];

/* --- tests -------------------------------------------------------------------------------------------------------- */

static void a_site_without_a_past_rents_skis(void)
{
  wtl_wait_history h = {0};
  CHECK(wtl_history_limit(&h, PRICE) == PRICE);
  CHECK(wtl_history_limit(&h, 2 * PRICE) == 2 * PRICE);
}

static void equal_waits_cost_at_most_a_tenth_more_than_under_the_best_limit(void)
{
  for (int d = 0; d < DISTRIBUTIONS; d++)
    for (double mean = 0.01; mean < 30; mean *= 1.7) {
      for (int i = 0; i < WAITS; i++) lengths[i] = distributions[d].draw(mean * PRICE);
      double r = ratio(lengths, WAITS);
      if (!(r <= 1.1)) fprintf(stderr, "%s, mean %.3g prices: %.3f of the best\n", distributions[d].name, mean, r);
      CHECK(r <= 1.1);
    }
}

/* Waits become of another kind again and again, each time when the history has just learned them. */
static void changing_waits_cost_at_most_about_twice(void)
{
  for (int stay = 1; stay <= 4096; stay *= 2)
    for (int d = 0; d < DISTRIBUTIONS; d++) {
      for (int i = 0; i < WAITS; i++) lengths[i] = distributions[d].draw(i / stay % 2 ? 0.02 * PRICE : 8.0 * PRICE);
      CHECK(ratio(lengths, WAITS) <= 2.15);
    }
}

/* Each wait ends when that costs most, the limit being known: right after one began to sleep. */
static void an_adversary_gets_at_most_about_twice(void)
{
  static const double after[] = {1.0001, 1.5, 3};
  for (int kind = 0; kind < 3; kind++) {
    wtl_wait_history h = {0};
    double sum = 0;
    for (int i = 0; i < WAITS; i++) {
      uint64_t limit = wtl_history_limit(&h, PRICE);
      lengths[i] = floor((double)limit * after[kind]) + 1;
      sum += cost(lengths[i], (double)limit);
      wtl_history_add(&h, PRICE, limit, (uint64_t)lengths[i]);
    }
    CHECK(sum <= 2.15 * best_fixed(lengths, WAITS) + 10 * PRICE);
  }
}

/* A wait never stays awake for ever, with any history. */
static void the_limit_is_bounded(void)
{
  wtl_wait_history h = {0};
  for (int i = 0; i < 1000; i++) {
    CHECK(wtl_history_limit(&h, PRICE) <= 4 * PRICE);
    wtl_history_add(&h, PRICE, wtl_history_limit(&h, PRICE), UINT64_MAX / 4 + (uint64_t)i);
  }
  CHECK(wtl_history_limit(&h, PRICE) == 0);
}

/* Short waits are noticed at once: the first few prevent a sleep that is too early. */
static void a_handful_of_waits_is_enough_to_learn_from(void)
{
  wtl_wait_history h = {0};
  for (int i = 0; i < 8; i++) wtl_history_add(&h, PRICE, wtl_history_limit(&h, PRICE), 50 * PRICE);
  CHECK(wtl_history_limit(&h, PRICE) == 0);
  memset(&h, 0, sizeof h);
  for (int i = 0; i < 8; i++) wtl_history_add(&h, PRICE, wtl_history_limit(&h, PRICE), PRICE / 20);
  CHECK(wtl_history_limit(&h, PRICE) >= PRICE / 20 && wtl_history_limit(&h, PRICE) < PRICE / 5);
}

/* One file a site: lengths in ns, as PEs of the examples waited (recorded/README says how). */
static int read_lengths(const char *name)
{
  char path[4096];
  int n = 0;
  double ns;
  snprintf(path, sizeof path, "%s/%s", RECORDED, name);
  FILE *f = fopen(path, "r");
  while (f && n < WAITS && fscanf(f, "%lf", &ns) == 1) lengths[n++] = ns * 2.6;
  if (f) fclose(f);
  return n;
}

static void recorded_waits_cost_at_most_about_twice(void)
{
  struct dirent **names;
  int files = scandir(RECORDED, &names, NULL, alphasort), checked = 0;
  for (int i = 0; i < files; i++) {
    const char *end = strrchr(names[i]->d_name, '.');
    int n = end && strcmp(end, ".txt") == 0 ? read_lengths(names[i]->d_name) : 0;
    if (n > 0) {
      checked++;
      CHECK(n >= 100 && with_history(lengths, n) <= 2.15 * best_fixed(lengths, n) + 10 * PRICE);
      fprintf(stderr, "%s: %d waits, %.3f of the best\n", names[i]->d_name, n, ratio(lengths, n));
    }
    free(names[i]);
  }
  if (files > 0) free(names);
  CHECK(checked >= 4);
}

TESTS(TEST(a_site_without_a_past_rents_skis), TEST(equal_waits_cost_at_most_a_tenth_more_than_under_the_best_limit),
      TEST(changing_waits_cost_at_most_about_twice), TEST(an_adversary_gets_at_most_about_twice),
      TEST(the_limit_is_bounded), TEST(a_handful_of_waits_is_enough_to_learn_from),
      TEST(recorded_waits_cost_at_most_about_twice))
