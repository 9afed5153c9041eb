#include "record/record.h"

#include <math.h>
#include <string.h>
#include <time.h>

double wtl_record_cpu_seconds(void)
{
#ifdef WTL_THREADS
  const clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
#else
  const clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
#endif
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void wtl_record_start(wtl_record *r)
{
  r->start_tick = wtl_ticks();
  r->start_cpu_s = r->so_far.cpu_s = wtl_record_cpu_seconds();
  for (int stage = 0; stage < WTL_N_STAGES; stage++) r->door->ticks[stage] = 0;
  r->door->sleeps = 0;
  if (r->settings->timeline.bytes > 0 && r->profile->on) {
    wtl_profile_keep_timeline(r->profile, (size_t)r->settings->timeline.bytes);
    r->door->noted = r->profile;
  }
}

void wtl_record_states(const wtl_record *r, wtl_activity *a)
{
  double s = r->door->stages.ns_per_tick * 1e-9;
  memset(a, 0, sizeof *a);
  a->wall_s = (double)(wtl_ticks() - r->start_tick) * s;
  a->spin_s = (double)r->door->ticks[WTL_STAGE_SPIN] * s;
  a->yield_s = (double)r->door->ticks[WTL_STAGE_YIELD] * s;
  a->asleep_s = (double)r->door->ticks[WTL_STAGE_ASLEEP] * s;
  a->active_s = fmax(0, a->wall_s - a->spin_s - a->yield_s - a->asleep_s);
  a->bytes = (double)wtl_profile_bytes(r->profile);
}

/* One interval by the wall clock, as time on a core. */
static void put_on_core(wtl_activity *a, double cpu_s)
{
  double awake_s = a->active_s + a->spin_s + a->yield_s, share;
  if (cpu_s >= awake_s) {
    a->active_s += cpu_s - awake_s;
    return;
  }
  share = cpu_s / awake_s;
  a->active_s *= share;
  a->spin_s *= share;
  a->yield_s *= share;
  a->asleep_s += awake_s - cpu_s;
}

void wtl_record_activity(wtl_record *r, wtl_activity *out)
{
  wtl_ledger *l = &r->so_far;
  double cpu_s = wtl_record_cpu_seconds();
  wtl_activity now, step;
  wtl_record_states(r, &now);
  step.wall_s = now.wall_s - l->states.wall_s;
  step.active_s = fmax(0, now.active_s - l->states.active_s);
  step.spin_s = now.spin_s - l->states.spin_s;
  step.yield_s = now.yield_s - l->states.yield_s;
  step.asleep_s = now.asleep_s - l->states.asleep_s;
  put_on_core(&step, cpu_s - l->cpu_s);
  l->states = now;
  l->cpu_s = cpu_s;
  l->on_core.wall_s += step.wall_s;
  l->on_core.active_s += step.active_s;
  l->on_core.spin_s += step.spin_s;
  l->on_core.yield_s += step.yield_s;
  l->on_core.asleep_s += step.asleep_s;
  l->on_core.bytes = now.bytes;
  *out = l->on_core;
}

#ifdef WTL_THREADS
void wtl_record_register(wtl_record *r)
{
  (void)r; /* wattle.h speaks of the process, which here has many PEs */
}
#else
static void tell_activity(void *arg, wtl_activity *a)
{
  wtl_record_activity(arg, a);
}

void wtl_record_register(wtl_record *r)
{
  wtl_activity_register(tell_activity, r);
}
#endif

void wtl_record_unregister(void)
{
  wtl_activity_register(NULL, NULL);
}

void wtl_record_rates(const wtl_machine *m, wtl_rates rate[2])
{
  const wtl_activity unit[5] = {
      {1, 1, 0, 0, 0, 0}, {1, 0, 1, 0, 0, 0}, {1, 0, 0, 1, 0, 0}, {1, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 1e9}};
  wattle_joules_t j[5][2];
  if (!m) {
    rate[0] = rate[1] = (wtl_rates){NAN, NAN, NAN, NAN, NAN};
    return;
  }
  for (int i = 0; i < 5; i++) wtl_model_pe(m, &unit[i], j[i]);
  for (int d = 0; d < 2; d++) {
    rate[d].active = j[0][d].joules;
    rate[d].spin = j[1][d].joules;
    rate[d].yield = j[2][d].joules;
    rate[d].asleep = j[3][d].joules;
    rate[d].byte = j[4][d].joules * 1e-9;
  }
}

double wtl_record_modelled(const wtl_share *share, int domain, const wtl_activity *a)
{
  const wtl_rates *r = &share->rate[domain];
  return r->active * a->active_s + r->spin * a->spin_s + r->yield * a->yield_s + r->asleep * a->asleep_s +
         r->byte * a->bytes;
}

static bool is_dram(const wattle_joules_t *j)
{
  return j->scope == WATTLE_SCOPE_DRAM || strncmp(j->domain, "dram", 4) == 0;
}

double wtl_record_share(const wtl_share *share, int dram)
{
  double sum = share->n_domains ? 0 : NAN;
  for (size_t d = 0; d < share->n_domains; d++)
    if (is_dram(&share->mine[d]) == dram) sum += share->mine[d].joules;
  return sum;
}
