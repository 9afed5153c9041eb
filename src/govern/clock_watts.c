/* clock_watts.c - reads the watts of each clock from the machine profile, and finds the clock of least energy. */
#include "govern/clock_watts.h"

#include <math.h>

#include "govern/intensity.h"

/* Steps of a driver that takes any clock. */
enum { STEPS = 32 };

static void add(wtl_clock_watts *w, double khz, double normal_khz, const wtl_machine *m)
{
  double watts = wtl_machine_core_watts(m, khz * 1e-6);
  if (khz > normal_khz || w->n == WTL_CLOCK_WATTS || !(watts > 0)) return;
  w->at[w->n].share = (uint32_t)lround(1e6 * khz / normal_khz);
  w->at[w->n++].watts = watts;
}

void wtl_clocks_watts_read(wtl_clock_watts *w, const wtl_vote *vote, const wtl_machine *m)
{
  w->n = 0;
  if (!m || wtl_machine_clocks(m) < 2 || vote->own == vote->n_domains) return;
  const wtl_clock_domain *d = wtl_knob_domain(vote->knob, vote->own);
  double normal = wtl_vote_normal_khz(vote, vote->own), range = normal - d->min_khz;
  for (size_t i = 0; i < d->n_steps; i++) add(w, d->step[i], normal, m);
  for (int i = 0; !d->n_steps && i <= STEPS; i++) add(w, d->min_khz + range * i / STEPS, normal, m);
}

uint32_t wtl_clocks_watts_best(const wtl_clock_watts *w, double follows, uint32_t least)
{
  double best = INFINITY;
  uint32_t found = least;
  for (size_t i = 0; i < w->n; i++) {
    double joules = w->at[i].watts * wtl_intensity_time(follows, 1e-6 * w->at[i].share);
    if (w->at[i].share < least || joules >= best) continue;
    best = joules;
    found = w->at[i].share;
  }
  return found;
}
