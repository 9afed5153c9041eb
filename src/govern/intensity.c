/* intensity.c - learns cycles per instruction at two clocks, and computes from them what follows the clock. */
#include "govern/intensity.h"

/* A last-level miss takes at most about this long; loaded memory takes longer, but then misses overlap. */
static const double miss_ns = 100;
/* Below this share of time, memory cannot make a lower clock cheap. */
static const double least_memory = 0.25;
/* Instances at the normal clock before a trial, and their largest relative spread. */
enum { SETTLED = 4 };
static const double alike = 1.0 / 16;
/* A clock that is not lower than this share of the normal one has not been lowered. */
static const double lowered = 31.0 / 32;
/* A core that did not follow so often never will: other PEs share its clock, or the request is only a hint. */
enum { MOST_REFUSED = 4 };
/* Cycles per instruction that are further from the prediction belong to another phase. */
static const double off_model = 0.25;
static const double believed = 2; /* standard errors */

static bool is_usable(const wtl_counts *done, double ns)
{
  return done->instructions > 0 && done->cycles > 0 && ns > 0;
}

void wtl_intensity_add_normal(wtl_intensity *x, const wtl_counts *done, double ns)
{
  if (!is_usable(done, ns)) return;
  double cpi = done->cycles / done->instructions;
  if (fabs(cpi - x->cpi.mean) > off_model * x->cpi.mean) *x = (wtl_intensity){.refused = x->refused};
  wtl_mean_add(&x->cpi, cpi);
  wtl_mean_add(&x->ghz, done->cycles / ns);
  x->missing = done->misses * miss_ns / ns;
}

/* m, less what chance may have added: by two standard errors of the normal instances, or of m's own values. */
static double certain_memory(const wtl_intensity *x)
{
  double apart = x->ghz.mean - x->low_ghz, of_cpi = wtl_mean_error(&x->cpi, x->memory.n) / apart;
  double of_m = sqrt(x->memory.variance / fmax(x->memory.n - 1.0, 1));
  return fmin(fmax(x->memory.mean - believed * fmax(of_cpi, of_m), 0), x->cpi.mean / x->ghz.mean);
}

bool wtl_intensity_add_lowered(wtl_intensity *x, const wtl_counts *done, double ns)
{
  if (!is_usable(done, ns) || !x->cpi.n) return true;
  double ghz = done->cycles / ns, cpi = done->cycles / done->instructions, apart = x->ghz.mean - ghz;
  if (ghz > lowered * x->ghz.mean) {
    x->refused++;
    return true;
  }
  /* Without an estimate: cycles per instruction do not rise at a lower clock, and fall in proportion to it at most. */
  double most = x->cpi.mean, least = x->cpi.mean * ghz / x->ghz.mean;
  if (x->memory.n) most = least = x->cpi.mean - x->memory.mean * apart;
  if (cpi > (1 + off_model) * most || cpi < (1 - off_model) * least) return false;
  wtl_mean_add(&x->memory, (x->cpi.mean - cpi) / apart);
  x->low_ghz = ghz;
  return true;
}

double wtl_intensity_follows(const wtl_intensity *x)
{
  return x->memory.n ? 1 - certain_memory(x) * x->ghz.mean / x->cpi.mean : 1;
}

bool wtl_intensity_wants_trial(const wtl_intensity *x)
{
  bool matters = !(x->missing < least_memory); /* also if it is not known */
  return x->cpi.n >= SETTLED && sqrt(x->cpi.variance) <= alike * x->cpi.mean && matters && !x->memory.n &&
         x->refused < MOST_REFUSED;
}

double wtl_intensity_trusted(const wtl_intensity *x)
{
  return x->memory.n ? fmax(1 - 2 * (1 - x->low_ghz / x->ghz.mean), 0) : 1;
}
