/* counter.c - turns the readings of a counter into a sum of 64 bits. */
#include "power/sensor/counter.h"

#include <math.h>

/*
 * Sensors update at their own moments. A step may include the joules of a little more time than the time between two
 * readings.
 */
static const double UPDATE_SLACK_S = 0.1;

/* Returns the most microjoules that a step can have. */
static double most_in(const wtl_counter *c, double gap)
{
  return 1e6 * c->limit_w * (gap + fmax(UPDATE_SLACK_S, c->update_s));
}

/* Goes on from a reading that was refused, because a second one has confirmed it. */
static void go_on_from_odd(wtl_counter *c, uint64_t raw, double at)
{
  c->excess_j += 1e-6 * most_in(c, fmax(0, c->odd.at - c->good_at));
  c->uj += raw - c->odd.raw;
  c->covered_s += at - c->odd.at;
}

static bool is_explained_by_odd(const wtl_counter *c, uint64_t raw, double at)
{
  return c->odd.have && raw >= c->odd.raw && (double)(raw - c->odd.raw) <= most_in(c, fmax(0, at - c->odd.at));
}

/* Takes a reading that the last good one does not explain. */
static bool take_odd(wtl_counter *c, uint64_t raw, double at)
{
  if (is_explained_by_odd(c, raw, at)) {
    go_on_from_odd(c, raw, at);
    c->odd.have = false;
    return true;
  }
  c->refused++;
  c->odd.have = true;
  c->odd.raw = raw;
  c->odd.at = at;
  return false;
}

bool wtl_counter_take(wtl_counter *c, uint64_t raw, double at)
{
  if (!c->have) {
    c->have = true;
    c->raw = raw;
    c->first_at = c->good_at = at;
    return true;
  }
  double gap = fmax(0, at - c->good_at);
  double most_uj = most_in(c, gap);
  bool wrapped = raw < c->raw;
  bool possible = wrapped ? c->range_uj > 0 && c->raw <= c->range_uj : true;
  uint64_t step = wrapped ? (possible ? c->range_uj - c->raw + raw : 0) : raw - c->raw;
  if (!possible || (double)step > most_uj) {
    if (!take_odd(c, raw, at)) return false;
  } else {
    double more_wraps = c->range_uj > 0 ? floor((most_uj - (double)step) / (double)c->range_uj) : 0;
    double most_counted = (double)step + more_wraps * (double)c->range_uj;
    if (wrapped && more_wraps >= 1) step = raw; /* such a long gap may be a suspend, in which the counter was reset */
    c->uj += step;
    if (more_wraps >= 1)
      c->excess_j += 1e-6 * (most_counted - (double)step);
    else
      c->covered_s += gap;
    c->odd.have = false;
  }
  c->raw = raw;
  c->good_at = at;
  return true;
}

double wtl_counter_period(const wtl_counter *c)
{
  return c->range_uj > 0 ? 1e-6 * (double)c->range_uj / c->limit_w / 4 : INFINITY;
}
