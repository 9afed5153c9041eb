/* price.c - measures the cost of a change of clock by writes and by a loop of fixed work. */
#include "govern/price.h"

#include <math.h>

#include "os/os.h"

static const double patience_s = 20e-3;

static double now_s(void)
{
  return 1e-9 * (double)wtl_clock_ns();
}

/* A fixed amount of work of some microseconds that depends on the core alone. Returns its time. */
static double turn_s(void)
{
  double before = now_s();
  volatile unsigned x = 1;
  unsigned y = x;
  for (int i = 0; i < 8000; i++) y = y * 1664525u + 1013904223u; /* each turn depends on the one before */
  x = y;
  return now_s() - before;
}

/* The shortest of a few, in which nothing interrupted the loop. */
static double usual_turn_s(void)
{
  double least = turn_s();
  for (int i = 0; i < 7; i++) least = fmin(least, turn_s());
  return least;
}

/* Waits until usual turns take at least `limit_s`, or at most `limit_s` if not `slower`. Returns the time before the
 * first such turn; NaN if none came. */
static double until_turns_change(double limit_s, bool slower)
{
  double begin = now_s();
  while (now_s() - begin < patience_s) {
    double before = now_s() - begin, usual = usual_turn_s();
    if (slower ? usual >= limit_s : usual <= limit_s) return before;
  }
  return NAN;
}

/* Other work on the machine makes turns longer, too. So a turn must show a large part of the ratio of the two
 * clocks. */
static double settle_s(wtl_knob *k, size_t domain)
{
  const wtl_clock_domain *c = wtl_knob_domain(k, domain);
  double usual = usual_turn_s(), ratio = (double)c->base_khz / c->min_khz, down, up;
  if (ratio < 1.25) return NAN; /* too small to measure */
  if (wtl_knob_set(k, domain, c->min_khz) != 0) return NAN;
  down = until_turns_change((0.3 + 0.7 * ratio) * usual, true);
  if (wtl_knob_set(k, domain, c->found_khz) != 0 || isnan(down)) return NAN;
  up = until_turns_change((0.8 + 0.2 * ratio) * usual, false);
  return fmax(down, up);
}

static double write_s(wtl_knob *k, size_t domain)
{
  double least = INFINITY;
  for (int i = 0; i < 3; i++) {
    double before = now_s();
    if (wtl_knob_set(k, domain, wtl_knob_domain(k, domain)->found_khz) != 0) return 0;
    least = fmin(least, now_s() - before);
  }
  return least;
}

wtl_clock_price wtl_clocks_price_measure(wtl_knob *k, size_t domain, double cost_s)
{
  wtl_clock_price p = {.write_s = 0, .settle_s = cost_s};
  if (cost_s >= 0) return p;
  if (!isnan(wtl_knob_domain(k, domain)->write_s)) {
    p.write_s = wtl_knob_domain(k, domain)->write_s;
    p.settle_s = wtl_knob_domain(k, domain)->latency_s;
    return p;
  }
  p.settle_s = wtl_knob_domain(k, domain)->latency_s;
  if (wtl_knob_acts(k)) {
    double seen = settle_s(k, domain);
    p.write_s = write_s(k, domain);
    if (!isnan(seen)) p.settle_s = seen;
  }
  if (isnan(p.settle_s)) p.settle_s = WTL_CLOCK_PRICE_S;
  return p;
}
