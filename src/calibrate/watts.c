#include "calibrate/watts.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

static const char *const names[WATTS_STATES] = {"idle", "active", "spin", "yield", "asleep", "stream"};

/* Caches, fans and the clock come to rest first. */
static const double settle_s = 0.3;
enum { MOST_CLOCKS = 8 };

typedef struct run {
  FILE *out;
  wtl_meter *meter;
  wtl_knob *knob;
  const wtl_sys *sys;
  const watts_load *load;
  double seconds;
  bool more; /* there was a row already */
} run;

/* Of the figures that no other contains: memory's apart. */
static void add_up(const wattle_joules_t *f, size_t n, bool dram, double *joules, double *doubt)
{
  *joules = *doubt = NAN;
  for (size_t i = 0; i < n; i++) {
    if (f[i].nested || f[i].provenance != WATTLE_MEASURED || (f[i].scope == WATTLE_SCOPE_DRAM) != dram) continue;
    *joules = isnan(*joules) ? f[i].joules : *joules + f[i].joules;
    *doubt = isnan(*doubt) ? f[i].uncertainty : *doubt + f[i].uncertainty;
  }
}

static void measure(run *r, enum watts_state state, uint32_t khz)
{
  wtl_mark a, b;
  wattle_joules_t f[WTL_MAX_DOMAINS];
  double random[WTL_MAX_DOMAINS], cpu, dram, cpu_doubt, dram_doubt;
  r->load->start(r->load->arg, state);
  r->sys->sleep(r->sys->arg, settle_s);
  wtl_meter_mark(r->meter, &a);
  double bytes = r->load->bytes(r->load->arg);
  r->sys->sleep(r->sys->arg, r->seconds);
  wtl_meter_mark(r->meter, &b);
  bytes = r->load->bytes(r->load->arg) - bytes;
  r->load->stop(r->load->arg);
  size_t n = wtl_meter_between(r->meter, &a, &b, 0, f, random);
  add_up(f, n, false, &cpu, &cpu_doubt);
  add_up(f, n, true, &dram, &dram_doubt);
  fputs(r->more ? ",\n{" : "\n{", r->out);
  r->more = true;
  wtl_json_text_field(r->out, "state", names[state], 1);
  wtl_json_number_field(r->out, "ghz", khz ? khz * 1e-6 : NAN, 0);
  wtl_json_number_field(r->out, "seconds", b.at - a.at, 0);
  wtl_json_number_field(r->out, "cpu_joules", cpu, 0);
  wtl_json_number_field(r->out, "cpu_uncertainty", cpu_doubt, 0);
  wtl_json_number_field(r->out, "dram_joules", dram, 0);
  wtl_json_number_field(r->out, "dram_uncertainty", dram_doubt, 0);
  wtl_json_number_field(r->out, "bytes", bytes, 0);
  putc('}', r->out);
}

/* Few of many, the lowest, the base clock and the highest among them. Without a knob: one, of which nothing is
 * known. */
static size_t choose_clocks(const wtl_knob *k, uint32_t clock[MOST_CLOCKS])
{
  if (!wtl_knob_acts(k) || wtl_knob_domains(k) == 0) return clock[0] = 0, 1;
  const wtl_clock_domain *d = wtl_knob_domain(k, 0);
  size_t n = 0;
  for (int i = 0; i < MOST_CLOCKS; i++) {
    double wish = d->min_khz + (double)i / (MOST_CLOCKS - 2) * (d->base_khz - d->min_khz);
    uint32_t khz = i == MOST_CLOCKS - 1 ? d->max_khz : wtl_clock_at_least(d, fmin(wish, d->base_khz));
    if (n == 0 || khz > clock[n - 1]) clock[n++] = khz;
  }
  return n;
}

static bool set_all(wtl_knob *k, uint32_t khz)
{
  bool good = true;
  for (size_t d = 0; khz && d < wtl_knob_domains(k); d++) good = wtl_knob_set(k, d, khz) == 0 && good;
  return good;
}

void watts_measure(FILE *out, wtl_meter *meter, wtl_knob *knob, const wtl_sys *sys, const watts_load *load,
                   double seconds, void (*steps)(int done, int all, const char *name))
{
  run r = {.out = out, .meter = meter, .knob = knob, .sys = sys, .load = load, .seconds = seconds};
  uint32_t clock[MOST_CLOCKS], base = 0;
  size_t n = choose_clocks(knob, clock);
  int done = 0, all = 2 + 4 * (int)n;
  if (clock[0]) base = wtl_knob_domain(knob, 0)->base_khz;
  fprintf(out, "{\"schema\":1,\"kind\":\"watts\"");
  wtl_json_text_field(out, "meter", wtl_meter_name(meter), 0);
  wtl_json_text_field(out, "knob", wtl_knob_name(knob), 0);
  wtl_json_number_field(out, "cores", load->cores, 0);
  wtl_json_number_field(out, "base_ghz", base ? base * 1e-6 : NAN, 0);
  fputs(",\"rows\":[", out);
  set_all(knob, base);
  for (int state = WATTS_IDLE; state <= WATTS_STREAM; state += WATTS_STREAM) {
    if (steps) steps(done++, all, names[state]);
    measure(&r, (enum watts_state)state, base);
  }
  for (size_t c = 0; c < n; c++) {
    bool is_set = set_all(knob, clock[c]);
    for (int state = WATTS_ACTIVE; state <= WATTS_ASLEEP; state++) {
      if (steps) steps(done++, all, names[state]);
      if (is_set) measure(&r, (enum watts_state)state, clock[c]);
    }
  }
  fputs("]}\n", out);
}
