/* clock_limits.c - groups the PEs with a clock outside the limits and reports each group. */
#include "govern/clock_limits.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* PEs that share one message. */
typedef struct beyond {
  double ghz;
  const wtl_clock_domain *limits;
  int pe;        /* the last PE in `pes` */
  char pes[256]; /* in the form of the setting: 0-3,7 */
} beyond;

enum { MOST_BEYOND = 16 };

static void name_pe(beyond *b, int pe)
{
  size_t n = strlen(b->pes);
  char *dash = strrchr(b->pes, '-');
  if (n && pe == b->pe) return; /* it may run in several such domains */
  bool follows = n && pe == b->pe + 1, in_range = follows && dash && !strchr(dash, ',');
  if (in_range) n = (size_t)(dash - b->pes);
  snprintf(b->pes + n, sizeof b->pes - n, "%s%d", follows ? "-" : n ? "," : "", pe);
  b->pe = pe;
}

/* A clock within 1 % of a limit counts as inside, because users round. */
static bool is_beyond(const wtl_clock_domain *d, double ghz)
{
  return ghz > 0 && !d->hint && d->base_khz && (1.01e6 * ghz < d->min_khz || 0.99e6 * ghz > d->max_khz);
}

static size_t note(beyond *all, size_t n, const wtl_clock_domain *d, const wtl_ballot *b)
{
  size_t i = 0;
  while (i < n && !(all[i].ghz == b->planned_ghz && all[i].limits->min_khz == d->min_khz &&
                    all[i].limits->max_khz == d->max_khz))
    i++;
  if (i == MOST_BEYOND) return n;
  if (i == n) all[n++] = (beyond){.ghz = b->planned_ghz, .limits = d};
  name_pe(&all[i], b->pe);
  return n;
}

void wtl_clocks_report_limits(const wtl_knob *knob, const wtl_votes *votes, int n_local, const cpu_set_t *cpus)
{
  beyond all[MOST_BEYOND];
  size_t n = 0;
  for (int slot = 0; slot < n_local; slot++)
    for (size_t i = 0; i < wtl_knob_domains(knob); i++) {
      const wtl_clock_domain *d = wtl_knob_domain(knob, i);
      cpu_set_t shared;
      CPU_AND(&shared, &cpus[slot], &d->cpus);
      if (votes->poll[i].claimed && CPU_COUNT(&shared) && is_beyond(d, votes->ballot[slot].planned_ghz))
        n = note(all, n, d, &votes->ballot[slot]);
    }
  for (size_t i = 0; i < n; i++) {
    const wtl_clock_domain *d = all[i].limits;
    wtl_message_print("WATTLE_CLOCKS: %g GHz cannot be set for %s %s, only %g to %g GHz: %g GHz is used", all[i].ghz,
                      wtl_message_noun(), all[i].pes, d->min_khz * 1e-6, d->max_khz * 1e-6,
                      wtl_knob_clock_at_least(d, 1e6 * all[i].ghz) * 1e-6);
  }
}
