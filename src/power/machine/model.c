/*
 * model.c - computes joules from seconds in each state and bytes, by a machine profile.
 *
 * DESIGN.
 *   PE:    cpu  = sum over states of watts(state, clock) x seconds   dram = joules per byte x bytes
 *                 + wake watts x wake seconds + second watts x second seconds
 *          Seconds on a core whose other thread is busy (second_s) are left out of the states.
 *          For the time at other clocks than the base clock, one mean clock is used for computing and one for waiting.
 *          The watts between two clocks of the profile are interpolated linearly.
 *   node:  cpu  = sockets x idle cpu watts x wall seconds            dram = sockets x idle dram watts x wall seconds
 *
 *   The cpu joules of a PE end at its part of what the power limits of the packages leave beyond idle (most_j).
 *
 * Half-widths are added in the same way. A number of the profile has the same error in every second, so its errors do
 * not average out.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "power/figure.h"
#include "power/machine/machine.h"

enum { ASLEEP = 3 }; /* the states are: active, spin, yield, asleep */

static bool is_valid(double x)
{
  return isfinite(x) && x >= 0;
}

static void fill(wattle_joules_t *f, const char *domain, const wtl_machine *m, wattle_scope_t scope, double wall_s,
                 double joules, double uncertainty)
{
  wtl_figure_none(f, domain, scope, wall_s);
  snprintf(f->source, sizeof f->source, "model %s", wtl_machine_name(m));
  if (!is_valid(joules) || !is_valid(uncertainty) || !is_valid(wall_s)) return;
  f->provenance = WATTLE_MODELLED;
  f->joules = joules;
  f->uncertainty = uncertainty;
  f->covered_s = wall_s;
}

/* Returns NaN for a negative or infinite time, so that a larger time of another state does not hide it. */
static double checked(double seconds)
{
  return is_valid(seconds) ? seconds : NAN;
}

typedef struct sum {
  double joules, uncertainty;
} sum;

typedef struct watts {
  double value, plus_minus;
} watts;

static void add(sum *s, double seconds, watts w)
{
  s->joules += seconds * w.value;
  s->uncertainty += seconds * w.plus_minus;
}

static watts of_number(const wtl_number *n)
{
  return (watts){n->value, n->plus_minus};
}

static watts of_state(const wtl_clock *c, int state)
{
  const wtl_number *const n[] = {&c->active, &c->spin, &c->yield, &c->asleep};
  return of_number(n[state]);
}

/* Finds the clocks of the profile below and above this one. Both are the same if it lies outside their range. */
static void find_neighbours(const wtl_machine *m, double ghz, const wtl_clock **below, const wtl_clock **above)
{
  *below = *above = NULL;
  for (unsigned i = 0; i < m->n_clocks; i++) {
    const wtl_clock *c = &m->clocks[i];
    if (c->ghz <= ghz && (!*below || c->ghz > (*below)->ghz)) *below = c;
    if (c->ghz >= ghz && (!*above || c->ghz < (*above)->ghz)) *above = c;
  }
  if (!*below) *below = *above;
  if (!*above) *above = *below;
}

/*
 * Returns the watts of a state at any clock. Outside the profile's clocks the nearest one's watts are used. Their
 * uncertainty covers a change with the cube of the clock, as when the voltage follows the clock.
 */
static watts watts_at(const wtl_machine *m, int state, double ghz)
{
  const wtl_clock *below, *above;
  find_neighbours(m, ghz, &below, &above);
  watts low = of_state(below, state), high = of_state(above, state);
  if (below == above) {
    low.plus_minus += low.value * fabs(1 - pow(ghz / below->ghz, 3));
    return low;
  }
  double part = (ghz - below->ghz) / (above->ghz - below->ghz);
  return (watts){low.value + part * (high.value - low.value),
                 low.plus_minus + part * (high.plus_minus - low.plus_minus)};
}

/* The watts of sleep. Counted wake-ups replace the usual rate of wake-ups that the profile's half-width has. */
static watts asleep_watts(const wtl_machine *m, const wtl_activity *a, watts usual)
{
  if (!(m->wake_up_j > 0 && a->wake_ups > 0 && a->asleep_s > 0)) return usual;
  double most = m->clocks[wtl_machine_base_clock(m)].active.value; /* a core that only wakes up is busy */
  usual.plus_minus = fmin(most, a->wake_ups * m->wake_up_j / a->asleep_s);
  return usual;
}

static double busy_s(const wtl_activity *a)
{
  return checked(a->active_s) + checked(a->spin_s) + checked(a->yield_s);
}

/* The part of the busy seconds that are those of a first thread of a core. */
static double first_part(const wtl_machine *m, const wtl_activity *a)
{
  double busy = busy_s(a);
  return m->second && busy > 0 ? 1 - fmin(1, a->second_s / busy) : 1;
}

/* The part of a sum that is possible within the power limits. */
static sum within(sum s, double most_j)
{
  if (!(most_j > 0) || !is_valid(s.joules)) return s;
  double upper = fmin(s.joules + s.uncertainty, most_j), lower = fmin(s.joules - s.uncertainty, most_j);
  return (sum){(upper + lower) / 2, (upper - lower) / 2};
}

/*
 * The most joules beyond idle that the power limits leave to all programs of the node; 0 without a limit. The mean over
 * a window is limited, so an interval may have the joules of one window more.
 */
static double most_joules(const wtl_machine *m, double wall_s)
{
  double most = INFINITY;
  for (int i = 0; i < WTL_POWER_LIMITS; i++)
    if (m->limit[i].watts > 0) most = fmin(most, m->limit[i].watts * (wall_s + m->limit[i].window_s));
  return isfinite(most) ? fmax(0, most - m->idle.cpu.value * wall_s) * m->sockets : 0;
}

/* Adds the joules of awake sockets and of second threads. */
static void add_cores(sum *cpu, const wtl_machine *m, const wtl_activity *a)
{
  if (m->wake) add(cpu, checked(a->wake_s), of_number(m->wake));
  if (m->second) add(cpu, (1 - first_part(m, a)) * busy_s(a), of_number(m->second));
}

static double or_0(double seconds)
{
  return is_valid(seconds) ? seconds : 0;
}

void wtl_model_cores(const wtl_machine *m, double wall_s, double others_s, wtl_activity *a, size_t n)
{
  double own = 0, cores = (double)m->sockets * m->cores_per_socket;
  for (size_t i = 0; i < n; i++) own += or_0(busy_s(&a[i]));
  double busy = own + or_0(others_s), wall = or_0(wall_s);
  double wake = m->wake ? fmin(wall, busy) * m->sockets : 0;
  double second = m->second && cores > 0 ? fmax(0, busy - cores * wall) : 0, most = most_joules(m, wall);
  for (size_t i = 0; i < n; i++) {
    double part = busy > 0 ? or_0(busy_s(&a[i])) / busy : 0;
    a[i].wake_s = wake * part;
    a[i].second_s = second * part;
    a[i].most_j = most * part;
  }
}

static void fill_pe(const wtl_machine *m, const wtl_activity *a, sum cpu, double bytes, wattle_joules_t out[2])
{
  const wtl_number *per_byte = &m->dram.per_byte;
  cpu = within(cpu, a->most_j);
  fill(&out[0], "cpu", m, WATTLE_SCOPE_PROCESS, a->wall_s, cpu.joules, cpu.uncertainty);
  fill(&out[1], "dram", m, WATTLE_SCOPE_PROCESS, a->wall_s, bytes * per_byte->value, bytes * per_byte->plus_minus);
}

size_t wtl_model_pe_at(const wtl_machine *m, size_t clock, const wtl_activity *a, wattle_joules_t out[2])
{
  const double seconds[] = {a->active_s, a->spin_s, a->yield_s, a->asleep_s};
  sum cpu = {0, 0};
  bool known = clock < m->n_clocks;
  double first = first_part(m, a);
  for (int state = 0; state < 4; state++)
    add(&cpu, known ? checked(seconds[state]) * (state == ASLEEP ? 1 : first) : NAN,
        known ? of_state(&m->clocks[clock], state) : (watts){NAN, NAN});
  add_cores(&cpu, m, a);
  fill_pe(m, a, cpu, known ? checked(a->bytes) : NAN, out);
  return 2;
}

double wtl_machine_core_watts(const wtl_machine *m, double ghz)
{
  double idle = m->idle.cpu.value + m->idle.dram.value; /* of a socket */
  return m->cores_per_socket ? watts_at(m, 0, ghz).value + idle / m->cores_per_socket : NAN;
}

double wtl_machine_state_watts(const wtl_machine *m, int state, double ghz)
{
  return watts_at(m, state, ghz).value;
}

double wtl_machine_always_watts(const wtl_machine *m)
{
  return m->sockets * (m->idle.cpu.value + (m->wake ? m->wake->value : 0));
}

size_t wtl_model_pe(const wtl_machine *m, const wtl_activity *a, wattle_joules_t out[2])
{
  const double seconds[] = {a->active_s, a->spin_s, a->yield_s, a->asleep_s};
  const double off[] = {a->off.active_s, a->off.spin_s, a->off.yield_s, a->off.asleep_s};
  const wtl_clock *base = &m->clocks[wtl_machine_base_clock(m)];
  double waits = off[1] + off[2] + off[3];
  double active_ghz = off[0] > 0 ? base->ghz * a->off.active_clock / off[0] : base->ghz;
  double wait_ghz = waits > 0 ? base->ghz * a->off.wait_clock / waits : base->ghz;
  double first = first_part(m, a);
  sum cpu = {0, 0};
  for (int state = 0; state < 4; state++) {
    double all = checked(seconds[state]), apart = checked(off[state]), part = state == ASLEEP ? 1 : first;
    if (apart > all) apart = all; /* the two were read one after the other */
    watts w = of_state(base, state);
    add(&cpu, part * (all - apart), state == ASLEEP ? asleep_watts(m, a, w) : w);
    if (apart == 0) continue;
    w = watts_at(m, state, state == 0 ? active_ghz : wait_ghz);
    add(&cpu, part * apart, state == ASLEEP ? asleep_watts(m, a, w) : w);
  }
  add_cores(&cpu, m, a);
  fill_pe(m, a, cpu, checked(a->bytes), out);
  return 2;
}

size_t wtl_model_idle(const wtl_machine *m, double wall_s, wattle_joules_t out[2])
{
  double socket_s = checked(wall_s) * m->sockets;
  const wtl_number *cpu = &m->idle.cpu, *dram = &m->idle.dram;
  fill(&out[0], "cpu", m, WATTLE_SCOPE_NODE, wall_s, socket_s * cpu->value, socket_s * cpu->plus_minus);
  fill(&out[1], "dram", m, WATTLE_SCOPE_NODE, wall_s, socket_s * dram->value, socket_s * dram->plus_minus);
  return 2;
}
