/* power_clocks.c - reads watts from the machine profile, and learns speeds. */
#include "govern/power_clocks.h"

#include <math.h>

#include "os/os.h"

/* Steps of a driver that takes any clock. */
enum { STEPS = 32 };
/* Linux names turbo 1 MHz above the base clock, so its speed is not in the name. Until it was seen it counts as so much
 * faster. */
enum { NAMED_KHZ = 2000 };
static const double turbo_speed = 1.25;
/* Fits need clocks that differ by this part, in standard deviations, and forget one interval in 32. */
static const double apart = 0.02, kept = 31.0 / 32;
/* A slope below 0, or above that of work that follows the clock, by this part of the latter has another cause. */
static const double impossible = 0.1;

static void add(wtl_power_clocks *c, const wtl_clock_domain *d, double khz, double normal_khz, const wtl_machine *m)
{
  if (c->n == WTL_POWER_CLOCKS) return;
  double ghz = khz * 1e-6, above = khz - d->base_khz;
  bool is_named = above > 0 && above < NAMED_KHZ && khz == d->max_khz;
  c->at[c->n++] = (wtl_power_clock){.share = (uint32_t)lround(1e6 * khz / normal_khz),
                                    .speed = khz / normal_khz * (is_named ? turbo_speed : 1),
                                    .computes = wtl_machine_state_watts(m, 0, ghz),
                                    .spins = wtl_machine_state_watts(m, 1, ghz),
                                    .yields = wtl_machine_state_watts(m, 2, ghz),
                                    .sleeps = wtl_machine_state_watts(m, 3, ghz)};
}

void wtl_clocks_power_read(wtl_power_clocks *c, const wtl_vote *vote, const wtl_machine *m, int n_local)
{
  c->n = 0;
  if (!m || wtl_machine_clocks(m) < 2 || vote->own == vote->n_domains) return;
  const wtl_clock_domain *d = wtl_knob_domain(vote->knob, vote->own);
  double normal = wtl_vote_normal_khz(vote, vote->own), range = (double)d->max_khz - d->min_khz;
  for (size_t i = 0; i < d->n_steps; i++)
    if (d->step[i] >= d->min_khz && d->step[i] <= d->max_khz) add(c, d, d->step[i], normal, m);
  for (int i = 0; !d->n_steps && i <= STEPS; i++) add(c, d, d->min_khz + range * i / STEPS, normal, m);
  /* The profile of a simulated PE is that of its share of the node. */
  c->always_w = wtl_machine_always_watts(m) / (WTL_OS_IS_SIMULATED ? 1 : n_local);
}

void wtl_clocks_power_see(wtl_power_clocks *c, size_t k, double ghz, double normal_ghz)
{
  double speed = ghz / normal_ghz;
  wtl_power_clock *clock = &c->at[k];
  if (clock->share > WTL_CLOCK_NORMAL && speed > 1 && speed < 2) clock->speed = (clock->speed + 3 * speed) / 4;
}

void wtl_clocks_fit_add(wtl_power_fit *f, double cycle_ns, double instruction_ns)
{
  f->n = f->n * kept + 1;
  f->x = f->x * kept + cycle_ns;
  f->y = f->y * kept + instruction_ns;
  f->xx = f->xx * kept + cycle_ns * cycle_ns;
  f->xy = f->xy * kept + cycle_ns * instruction_ns;
}

double wtl_clocks_fit_follows(const wtl_power_fit *f, double cycle_ns)
{
  if (f->n < 2) return 1;
  double x = f->x / f->n, y = f->y / f->n, spread = f->xx / f->n - x * x;
  if (!(spread > apart * apart * x * x)) return 1;
  double slope = (f->xy / f->n - x * y) / spread, most = y / x;
  if (slope < -impossible * most || slope > (1 + impossible) * most) return 1; /* other work, not another clock */
  slope = fmin(fmax(slope, 0), most);
  double own = slope * cycle_ns;
  return own > 0 ? own / (own + y - slope * x) : 0;
}
