/* dry_run.c - models the joules of a dry run at its recorded clocks. */
#include "record/dry_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "power/figure.h"

static wattle_joules_t cpu_of(const wtl_machine *m, const wtl_activity *a)
{
  wattle_joules_t by_domain[2];
  wtl_model_pe(m, a, by_domain);
  return by_domain[0];
}

/* Stretches computing at a recorded clock. Waits get shorter or longer by the difference, as far as there are any. */
static void stretch(wtl_activity *a)
{
  double off = a->off.active_s, waits = a->spin_s + a->yield_s + a->asleep_s;
  if (!(off > 0) || !(a->off.active_clock > 0)) return;
  double longer = off * off / a->off.active_clock - off, left = waits > 0 ? fmax(0, 1 - longer / waits) : 0;
  a->off.active_clock *= (off + longer) / off;
  a->off.active_s += longer;
  a->active_s += longer;
  a->wall_s += fmax(0, longer - waits);
  a->spin_s *= left;
  a->yield_s *= left;
  a->asleep_s = waits > 0 ? a->asleep_s * left : fmax(0, -longer);
  a->off.spin_s *= left;
  a->off.yield_s *= left;
  a->off.asleep_s *= left;
  a->off.wait_clock *= left;
}

/* Removes the common part of both: time in a state at the normal clock. */
static void leave_differences(wtl_activity *was, wtl_activity *then)
{
  double *const before[] = {&was->active_s, &was->spin_s, &was->yield_s, &was->asleep_s};
  double *const after[] = {&then->active_s, &then->spin_s, &then->yield_s, &then->asleep_s};
  const double off[] = {then->off.active_s, then->off.spin_s, then->off.yield_s, then->off.asleep_s};
  for (int state = 0; state < 4; state++) {
    double common = fmin(*before[state], fmax(0, *after[state] - off[state]));
    *before[state] -= common;
    *after[state] -= common;
  }
  was->wake_s = was->second_s = then->wake_s = then->second_s = 0; /* taken as the same at any clock */
}

bool wtl_dry_run_joules(const wtl_machine *m, const wtl_activity *ran, wattle_joules_t *would, wattle_joules_t *saved)
{
  wtl_figure_none(would, "cpu", WATTLE_SCOPE_PROCESS, ran->wall_s);
  *saved = *would;
  if (!m || wtl_machine_clocks(m) < 2) return false;
  wtl_activity was = *ran, then = *ran;
  memset(&was.off, 0, sizeof was.off);
  stretch(&then);
  *would = cpu_of(m, &then);
  double as_long = cpu_of(m, ran).joules, bound = fabs(would->joules - as_long);
  would->uncertainty += bound;
  leave_differences(&was, &then);
  *saved = cpu_of(m, &was);
  wattle_joules_t less = cpu_of(m, &then);
  saved->joules -= less.joules;
  saved->uncertainty += less.uncertainty + bound;
  snprintf(would->source, sizeof would->source, "model %.60s at recorded clocks", wtl_machine_name(m));
  memcpy(saved->source, would->source, sizeof saved->source);
  return true;
}
