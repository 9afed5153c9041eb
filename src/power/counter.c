/* counter.c - turns the readings of a counter that wraps into a sum of 64 bits. */
#include "power/counter.h"

#include <math.h>

/*
 * Sensors update at their own moments. A step may include the joules of a little more time than the time between two
 * readings.
 */
static const double UPDATE_SLACK_S = 0.1;

/* Takes a reading that the limit does not explain. At best the counter was reset to 0 at a moment within the gap. */
static void take_reset(wtl_counter *c, uint64_t raw, double most_uj)
{
  uint64_t since_reset = (double)raw <= most_uj ? raw : 0;
  c->uj += since_reset;
  c->excess_j += 1e-6 * (most_uj - (double)since_reset);
}

void wtl_counter_take(wtl_counter *c, uint64_t raw, double at)
{
  if (!c->have) {
    *c = (wtl_counter){
        .range_uj = c->range_uj, .limit_w = c->limit_w, .have = true, .raw = raw, .first_at = at, .good_at = at};
    return;
  }
  double gap = fmax(0, at - c->good_at);
  double most_uj = 1e6 * c->limit_w * (gap + UPDATE_SLACK_S);
  bool wrapped = raw < c->raw;
  bool possible = wrapped ? c->range_uj > 0 && c->raw <= c->range_uj : true;
  uint64_t step = wrapped ? (possible ? c->range_uj - c->raw + raw : 0) : raw - c->raw;
  if (!possible || (double)step > most_uj) {
    take_reset(c, raw, most_uj);
  } else {
    double more_wraps = c->range_uj > 0 ? floor((most_uj - (double)step) / (double)c->range_uj) : 0;
    double most_counted = (double)step + more_wraps * (double)c->range_uj;
    if (wrapped && more_wraps >= 1) step = raw; /* such a long gap may be a suspend, in which the counter was reset */
    c->uj += step;
    if (more_wraps >= 1)
      c->excess_j += 1e-6 * (most_counted - (double)step);
    else
      c->covered_s += gap;
  }
  c->raw = raw;
  c->good_at = at;
}

double wtl_counter_period(const wtl_counter *c)
{
  return c->range_uj > 0 ? 1e-6 * (double)c->range_uj / c->limit_w / 4 : INFINITY;
}
