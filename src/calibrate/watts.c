/* watts.c - measures the power of a node by state and clock, and prints it as JSON. */
#include "calibrate/watts.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

static const char *const names[WATTS_STATES] = {"idle", "active", "spin", "yield", "asleep", "stream"};

/* Time for caches, fans and the clock to settle. */
static const double settle_s = 0.3;
enum { MOST_CLOCKS = 8, MOST_TRIES = 3, PARTS = 4 };

typedef struct run {
  FILE *out;
  wtl_meter *meter;
  wtl_knob *knob;
  const wtl_sys *sys;
  const watts_load *load;
  double seconds;
  bool more; /* at least one row is printed */
} run;

/* Joules of the figures that are not nested in others; NaN if unknown. */
typedef struct drawn {
  double joules, uncertainty;
  bool whole; /* no sensor had a gap */
} drawn;

/* Adds up the figures of memory, or those of everything else. */
static drawn add_up(const wattle_joules_t *f, size_t n, const wtl_mark *a, const wtl_mark *b, bool dram)
{
  drawn sum = {NAN, NAN, true};
  for (size_t i = 0; i < n; i++) {
    if (f[i].nested || f[i].scope == WATTLE_SCOPE_DEVICE || (f[i].scope == WATTLE_SCOPE_DRAM) != dram) continue;
    sum.whole = sum.whole && a->point[i].ok && b->point[i].ok && f[i].covered_s > 0.9 * f[i].interval_s;
    if (f[i].provenance != WATTLE_MEASURED) continue;
    sum.joules = isnan(sum.joules) ? f[i].joules : sum.joules + f[i].joules;
    sum.uncertainty = isnan(sum.uncertainty) ? f[i].uncertainty : sum.uncertainty + f[i].uncertainty;
  }
  return sum;
}

typedef struct piece {
  drawn cpu, dram;
  double seconds;
} piece;

/* One measurement. `part` is the same in pieces, whose spread shows errors that the meter does not state. */
typedef struct row {
  piece all, part[PARTS];
  int parts;
  double bytes, ghz;
} row;

static piece between(run *r, const wtl_mark *a, const wtl_mark *b)
{
  wattle_joules_t f[WTL_MAX_DOMAINS];
  double random[WTL_MAX_DOMAINS];
  size_t n = wtl_meter_between(r->meter, a, b, 0, f, random);
  return (piece){add_up(f, n, a, b, false), add_up(f, n, a, b, true), b->at - a->at};
}

/* Returns what the figures of the processors contain in addition to them: "" nothing, "memory", or the whole "node". */
static const char *contains(const wtl_meter *meter)
{
  wtl_domain d[WTL_MAX_DOMAINS];
  size_t n = wtl_meter_domains(meter, d);
  const char *found = "";
  for (size_t i = 0; i < n; i++) {
    if (d[i].nested || d[i].scope == WATTLE_SCOPE_DEVICE || d[i].part != WTL_PART_NODE) continue;
    if (d[i].scope == WATTLE_SCOPE_NODE) return "node";
    found = "memory";
  }
  return found;
}

static bool is_whole(const piece *p)
{
  return p->cpu.whole && p->dram.whole;
}

static row measure_once(run *r)
{
  row out = {.ghz = NAN};
  wtl_mark first, last, mark;
  wtl_meter_mark(r->meter, &first);
  last = first;
  double bytes = r->load->bytes(r->load->arg);
  for (int i = 0; i < PARTS; i++) {
    r->sys->sleep(r->sys->arg, r->seconds / PARTS);
    wtl_meter_mark(r->meter, &mark);
    piece part = between(r, &last, &mark);
    if (!is_whole(&part)) continue; /* a reading failed: this part continues with the next one */
    out.part[out.parts++] = part;
    last = mark;
  }
  out.bytes = r->load->bytes(r->load->arg) - bytes;
  if (r->load->ghz) out.ghz = r->load->ghz(r->load->arg);
  out.all = between(r, &first, &mark);
  return out;
}

static void print_parts(FILE *out, const row *m)
{
  fputs(",\"parts\":[", out);
  for (int i = 0; i < m->parts; i++) {
    fputs(i ? ",{" : "{", out);
    wtl_json_number_field(out, "seconds", m->part[i].seconds, 1);
    wtl_json_number_field(out, "cpu_joules", m->part[i].cpu.joules, 0);
    wtl_json_number_field(out, "dram_joules", m->part[i].dram.joules, 0);
    putc('}', out);
  }
  putc(']', out);
}

static void measure(run *r, enum watts_state state, uint32_t khz)
{
  row m;
  int tries = 0;
  r->load->start(r->load->arg, state);
  r->sys->sleep(r->sys->arg, settle_s);
  do {
    m = measure_once(r);
  } while (!is_whole(&m.all) && ++tries < MOST_TRIES);
  r->load->stop(r->load->arg);
  fputs(r->more ? ",\n{" : "\n{", r->out);
  r->more = true;
  wtl_json_text_field(r->out, "state", names[state], 1);
  wtl_json_number_field(r->out, "ghz", khz ? khz * 1e-6 : NAN, 0);
  wtl_json_number_field(r->out, "seen_ghz", m.ghz, 0);
  wtl_json_number_field(r->out, "seconds", m.all.seconds, 0);
  wtl_json_number_field(r->out, "cpu_joules", m.all.cpu.joules, 0);
  wtl_json_number_field(r->out, "cpu_uncertainty", m.all.cpu.uncertainty, 0);
  wtl_json_number_field(r->out, "dram_joules", m.all.dram.joules, 0);
  wtl_json_number_field(r->out, "dram_uncertainty", m.all.dram.uncertainty, 0);
  wtl_json_number_field(r->out, "bytes", m.bytes, 0);
  print_parts(r->out, &m);
  putc('}', r->out);
}

/*
 * Chooses a few clocks, including the lowest, the base clock and the highest. Without a knob, or with one that only
 * gives hints, it chooses the single clock 0, which means unknown.
 */
static size_t choose_clocks(const wtl_knob *k, uint32_t clock[MOST_CLOCKS])
{
  if (!wtl_knob_acts(k) || wtl_knob_domains(k) == 0 || wtl_knob_domain(k, 0)->hint) return clock[0] = 0, 1;
  const wtl_clock_domain *d = wtl_knob_domain(k, 0);
  size_t n = 0;
  for (int i = 0; i < MOST_CLOCKS; i++) {
    double target = d->min_khz + (double)i / (MOST_CLOCKS - 2) * (d->base_khz - d->min_khz);
    uint32_t khz = i == MOST_CLOCKS - 1 ? d->max_khz : wtl_knob_clock_at_least(d, fmin(target, d->base_khz));
    if (n == 0 || khz > clock[n - 1]) clock[n++] = khz;
  }
  return n;
}

/* Sets all domains to a clock, or to the nearest one if domains have different limits. */
static bool set_all(wtl_knob *k, uint32_t khz)
{
  bool good = true;
  for (size_t d = 0; khz && d < wtl_knob_domains(k); d++)
    good = wtl_knob_set(k, d, wtl_knob_clock_at_least(wtl_knob_domain(k, d), khz)) == 0 && good;
  return good;
}

void watts_measure(FILE *out, wtl_meter *meter, wtl_knob *knob, const wtl_sys *sys, const watts_load *load,
                   double seconds, void (*steps)(int done, int all, const char *name))
{
  run r = {.out = out, .meter = meter, .knob = knob, .sys = sys, .load = load, .seconds = seconds};
  uint32_t clock[MOST_CLOCKS], base = 0;
  size_t n = choose_clocks(knob, clock);
  int done = 0, all = 3 + 4 * (int)n;
  bool failed = false;
  double began = sys->now(sys->arg), others = load->others ? load->others(load->arg) : NAN;
  if (clock[0]) base = wtl_knob_domain(knob, 0)->base_khz;
  fprintf(out, "{\"schema\":1,\"kind\":\"watts\"");
  wtl_json_text_field(out, "meter", wtl_meter_name(meter), 0);
  wtl_json_text_field(out, "contains", contains(meter), 0);
  wtl_json_text_field(out, "knob", wtl_knob_name(knob), 0);
  wtl_json_number_field(out, "cores", load->cores, 0);
  wtl_json_number_field(out, "base_ghz", base ? base * 1e-6 : NAN, 0);
  fputs(",\"rows\":[", out);
  failed = !set_all(knob, base);
  for (int state = WATTS_IDLE; state <= WATTS_STREAM; state += WATTS_STREAM) {
    if (steps) steps(done++, all, names[state]);
    measure(&r, (enum watts_state)state, base);
  }
  for (size_t c = 0; c < n; c++) {
    bool is_set = set_all(knob, clock[c]);
    failed = failed || !is_set;
    for (int state = WATTS_ACTIVE; state <= WATTS_ASLEEP; state++) {
      if (steps) steps(done++, all, names[state]);
      if (is_set) measure(&r, (enum watts_state)state, clock[c]);
    }
  }
  if (steps) steps(done, all, names[WATTS_IDLE]);
  if (set_all(knob, base)) measure(&r, WATTS_IDLE, base); /* parts that have warmed up draw more now */
  putc(']', out);
  wtl_json_text_field(out, "why", failed ? wtl_knob_why(knob) : "", 0);
  double other_s = load->others ? load->others(load->arg) - others : NAN;
  wtl_json_number_field(out, "others_cores", other_s / (sys->now(sys->arg) - began), 0);
  fputs("}\n", out);
}
