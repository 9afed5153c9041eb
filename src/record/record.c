/* record.c - computes time by state, time on a core, and a process's share of the joules. */
#include "record/record.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/floats.h"
#include "os/os.h"
#include "profile/user_region.h"
#include "record/recall.h"

void wtl_record_govern(wtl_record *r, const wtl_clocks *clocks)
{
  if (wtl_knob_acts(clocks->knob)) {
    r->off = &clocks->governor.off;
  } else {
    r->noted = &clocks->governor.off;
    r->noted_prices = clocks->machine;
  }
}

void wtl_record_start(wtl_record *r)
{
  wtl_user_region_start();
  r->start_tick = wtl_ticks();
  r->start_cpu_s = r->so_far.cpu_s = wtl_os_cpu_seconds();
  if (r->meter) r->start_machine_s = wtl_os_machine_cpu_seconds();
  for (int stage = 0; stage < WTL_N_STAGES; stage++) r->door->ticks[stage] = 0;
  r->door->sleeps = 0;
  r->door->rings = 0;
  r->door->calls = r->calls;
  r->door->live = wtl_live_start(r->me, r->n);
  wtl_no_core_start(&r->door->no_core, NULL, r->door->stages.ns_per_tick, r->door->stages.yields);
  wtl_record_cores_start(&r->cores);
  if (r->profile->on) wtl_profile_keep_partners(r->profile, r->n);
  wtl_record_keep(r);
  if (r->settings->counters.on) wtl_operations_start(&r->operations, NULL);
  if (r->settings->counters.on && r->meter) wtl_interfaces_start(&r->interfaces, r->settings->sysfs.text);
  if (r->settings->timeline.bytes > 0 && r->profile->on) {
    wtl_profile_keep_timeline(r->profile, (size_t)r->settings->timeline.bytes);
    r->door->noted = r->profile;
    if (r->meter) wtl_meter_trace(r->meter, r->settings->timeline_power.seconds);
  }
}

/* Sets the part of the states at another clock, at most the whole. */
static void put_off_clock(const wtl_off_clock *off, wtl_activity *a, double s)
{
  if (!off) return;
  a->off.active_s = fmin((double)off->computed * s, a->active_s);
  a->off.spin_s = fmin((double)off->waited[WTL_STAGE_SPIN] * s, a->spin_s);
  a->off.yield_s = fmin((double)off->waited[WTL_STAGE_YIELD] * s, a->yield_s);
  a->off.asleep_s = fmin((double)off->waited[WTL_STAGE_ASLEEP] * s, a->asleep_s);
  uint64_t waited = off->waited[WTL_STAGE_SPIN] + off->waited[WTL_STAGE_YIELD] + off->waited[WTL_STAGE_ASLEEP];
  if (off->computed) a->off.active_clock = a->off.active_s * off->computed_clock / (double)off->computed;
  if (waited)
    a->off.wait_clock = (a->off.spin_s + a->off.yield_s + a->off.asleep_s) * off->waited_clock / (double)waited;
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
  a->no_core_s = fmin(a->active_s, wtl_no_core_outside_waits(&r->door->no_core));
  a->active_s -= a->no_core_s;
  a->bytes = (double)wtl_profile_bytes(r->profile);
  put_off_clock(r->off, a, s);
}

void wtl_record_put_on_core(wtl_activity *a, double cpu_s)
{
  double awake_s = a->active_s + a->spin_s + a->yield_s, share;
  a->asleep_s += a->no_core_s;
  a->no_core_s = 0;
  if (cpu_s >= awake_s) {
    a->active_s += cpu_s - awake_s;
    return;
  }
  share = cpu_s / awake_s;
  a->active_s *= share;
  a->spin_s *= share;
  a->yield_s *= share;
  a->asleep_s += awake_s - cpu_s;
  double off_s = a->off.active_s + a->off.spin_s + a->off.yield_s; /* time at the other clock that becomes asleep */
  a->off.wait_clock += a->off.active_clock * (1 - share);
  a->off.active_clock *= share;
  a->off.active_s *= share;
  a->off.spin_s *= share;
  a->off.yield_s *= share;
  a->off.asleep_s += off_s * (1 - share);
}

/* The difference of two readings. Rounding may make a difference negative, so it is at least 0. */
static wtl_activity between(const wtl_activity *p, const wtl_activity *q)
{
  return (wtl_activity){.wall_s = q->wall_s - p->wall_s,
                        .active_s = fmax(0, q->active_s - p->active_s),
                        .spin_s = q->spin_s - p->spin_s,
                        .yield_s = q->yield_s - p->yield_s,
                        .asleep_s = q->asleep_s - p->asleep_s,
                        .no_core_s = fmax(0, q->no_core_s - p->no_core_s),
                        .off = {.active_s = fmax(0, q->off.active_s - p->off.active_s),
                                .spin_s = fmax(0, q->off.spin_s - p->off.spin_s),
                                .yield_s = fmax(0, q->off.yield_s - p->off.yield_s),
                                .asleep_s = fmax(0, q->off.asleep_s - p->off.asleep_s),
                                .active_clock = fmax(0, q->off.active_clock - p->off.active_clock),
                                .wait_clock = fmax(0, q->off.wait_clock - p->off.wait_clock)}};
}

static void add(wtl_activity *sum, const wtl_activity *step)
{
  sum->wall_s += step->wall_s;
  sum->active_s += step->active_s;
  sum->spin_s += step->spin_s;
  sum->yield_s += step->yield_s;
  sum->asleep_s += step->asleep_s;
  sum->off.active_s += step->off.active_s;
  sum->off.spin_s += step->off.spin_s;
  sum->off.yield_s += step->off.yield_s;
  sum->off.asleep_s += step->off.asleep_s;
  sum->off.active_clock += step->off.active_clock;
  sum->off.wait_clock += step->off.wait_clock;
}

/* Since the start of the process, at least as many as in the record. 0: not known of a single PE, or simulated. */
static double wake_ups_so_far(void)
{
  struct rusage use;
  if (WTL_OS_PES_ARE_THREADS || WTL_OS_IS_SIMULATED) return 0;
  return getrusage(RUSAGE_SELF, &use) == 0 ? (double)use.ru_nvcsw : 0;
}

void wtl_record_activity(wtl_record *r, wtl_activity *out)
{
  wtl_ledger *l = &r->so_far;
  double cpu_s = wtl_os_cpu_seconds();
  wtl_activity now, step;
  wtl_record_states(r, &now);
  step = between(&l->states, &now);
  wtl_record_put_on_core(&step, cpu_s - l->cpu_s);
  l->states = now;
  l->cpu_s = cpu_s;
  add(&l->on_core, &step);
  l->on_core.bytes = now.bytes;
  l->on_core.pid = getpid();
  l->on_core.wake_ups = wake_ups_so_far();
  *out = l->on_core;
}

bool wtl_record_noted(const wtl_record *r, wtl_activity *out)
{
  if (!r->noted) return false;
  *out = r->so_far.states;
  put_off_clock(r->noted, out, r->door->stages.ns_per_tick * 1e-9);
  wtl_record_put_on_core(out, r->so_far.cpu_s - r->start_cpu_s);
  out->bytes = r->so_far.on_core.bytes;
  return true;
}

static void report_activity(void *arg, wtl_activity *a)
{
  WTL_FLOATS_APART;
  wtl_record_activity(arg, a);
}

void wtl_record_register(wtl_record *r)
{
  if (!WTL_OS_PES_ARE_THREADS) wtl_activity_register(report_activity, r); /* wattle.h describes a process with one PE */
}

void wtl_record_unregister(void)
{
  wtl_activity_register(NULL, NULL);
}

/* One second of a state, with the mean share at another clock. */
static wtl_activity second_of(const wtl_activity *a, int state)
{
  const double all[] = {a->active_s, a->spin_s, a->yield_s, a->asleep_s};
  const double off[] = {a->off.active_s, a->off.spin_s, a->off.yield_s, a->off.asleep_s};
  double share = off[state] > 0 && all[state] > 0 ? fmin(1, off[state] / all[state]) : 0,
         waits = off[1] + off[2] + off[3];
  wtl_activity s = {.wall_s = 1};
  double *const second[] = {&s.active_s, &s.spin_s, &s.yield_s, &s.asleep_s};
  double *const apart[] = {&s.off.active_s, &s.off.spin_s, &s.off.yield_s, &s.off.asleep_s};
  double busy = a->active_s + a->spin_s + a->yield_s;
  *second[state] = 1;
  if (state < 3 && busy > 0) {
    s.wake_s = a->wake_s / busy;
    s.second_s = a->second_s / busy;
  }
  *apart[state] = share;
  if (share > 0 && state == 0) s.off.active_clock = share * a->off.active_clock / off[0];
  if (share > 0 && state != 0) s.off.wait_clock = share * a->off.wait_clock / waits;
  return s;
}

void wtl_record_rates(const wtl_machine *m, const wtl_activity *a, wtl_rates rate[2])
{
  const wtl_activity unit[5] = {second_of(a, 0), second_of(a, 1), second_of(a, 2), second_of(a, 3), {.bytes = 1e9}};
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
    if (share->mine[d].scope != WATTLE_SCOPE_DEVICE && is_dram(&share->mine[d]) == dram) sum += share->mine[d].joules;
  return sum;
}
