/*
 * clocks.c - opens the knobs, claims the node's clock domains, starts the governor, and writes the result to the
 * profile.
 */
#include "govern/clocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "govern/clock_limits.h"
#include "govern/clock_plan.h"
#include "govern/power_start.h"
#include "govern/price.h"
#include "os/os.h"
#include "power/knob/knob_repair.h"

bool wtl_clocks_wanted(const wtl_settings *settings)
{
  return settings->govern.number != WTL_GOVERN_OFF || *settings->clocks.text || *settings->power_budget.text;
}

const char *wtl_clocks_setting(const wtl_settings *settings)
{
  return *settings->power_budget.text ? "WATTLE_POWER_BUDGET" : "WATTLE_GOVERN";
}

void wtl_clocks_repair(const wtl_settings *settings)
{
  char message[1900];
  if (WTL_OS_IS_SIMULATED) return; /* it has no clocks of this machine */
  if (wtl_knob_repair(settings, &wtl_knob_sys_real, message, sizeof message)) wtl_message_print("%s", message);
}

/* ---- the node's first process ---- */

static size_t claim_all(wtl_knob *k, wtl_poll *poll, size_t most)
{
  size_t claimed = 0, n = wtl_knob_domains(k);
  for (size_t d = 0; d < n && d < most; d++) {
    poll[d].claimed = wtl_knob_claim(k, d) == 0;
    claimed += poll[d].claimed;
  }
  return claimed;
}

/* Claims the domains of a knob and starts its guard. Returns false with no claim if one of them is not possible. */
static bool take(wtl_knob *k, wtl_poll *poll, size_t most, const wtl_clocks_node *node)
{
  if (!k || wtl_knob_is_none(k) || !claim_all(k, poll, most)) return false;
  if (wtl_knob_guard(k, node->pids, (size_t)node->n_local) == 0) return true;
  wtl_knob_restore(k);
  for (size_t d = 0; d < most; d++) poll[d].claimed = false;
  return false;
}

/* Without a clock of cores the price is that of the interface, whose effect a loop on one core does not show. */
static void measure(wtl_clocks *c, wtl_votes *votes)
{
  size_t first = 0;
  while (first < WTL_MAX_CLOCK_DOMAINS && !votes->poll[first].claimed) first++;
  if (first == WTL_MAX_CLOCK_DOMAINS) {
    votes->settle_s = c->settings->clock_cost.seconds >= 0 ? c->settings->clock_cost.seconds : WTL_CLOCK_PRICE_S;
    return;
  }
  wtl_clock_price price = wtl_clocks_price_measure(c->knob, first, c->settings->clock_cost.seconds);
  votes->write_s = price.write_s;
  votes->settle_s = price.settle_s;
}

/* In mode energy the normal clock is the one found, so that a job that only saves keeps the turbo clocks. */
static bool normal_is_found(const wtl_clocks *c)
{
  int mode = c->settings->govern.number;
  return (mode == WTL_GOVERN_ENERGY || mode == WTL_GOVERN_OFF) && !*c->settings->clocks.text;
}

static void set_normal(wtl_clocks *c, const wtl_clocks_node *node)
{
  for (int slot = 0; slot < node->n_local; slot++) {
    atomic_store(&node->votes->ballot[slot].want, WTL_CLOCK_NORMAL);
    atomic_store(&node->votes->ballot[slot].uncore, WTL_CLOCK_NORMAL);
    atomic_store(&node->votes->ballot[slot].phase, 2);
  }
  for (size_t d = 0; d < WTL_MAX_PACKAGES; d++) atomic_store(&node->votes->uncore[d].share, WTL_CLOCK_NORMAL);
  for (size_t d = 0; d < wtl_knob_domains(c->knob) && d < WTL_MAX_CLOCK_DOMAINS; d++) {
    wtl_poll *poll = &node->votes->poll[d];
    atomic_store(&poll->share, WTL_CLOCK_NORMAL);
    if (!poll->claimed || normal_is_found(c)) continue;
    atomic_store(&poll->error, wtl_knob_set(c->knob, d, wtl_knob_domain(c->knob, d)->base_khz));
  }
}

static bool waits_are_slow(const wtl_settings *settings)
{
  long mode = settings->govern.number;
  return mode == WTL_GOVERN_ENERGY || mode == WTL_GOVERN_HYBRID;
}

static bool governs_uncore(const wtl_settings *settings)
{
  return strcmp(settings->uncore.text, "wait") == 0 && waits_are_slow(settings) && !*settings->clocks.text;
}

static void lead(wtl_clocks *c, const wtl_clocks_node *node)
{
  bool ready = c->knob && take(c->knob, node->votes->poll, WTL_MAX_CLOCK_DOMAINS, node);
  bool uncore = c->uncore && take(c->uncore, node->votes->uncore, WTL_MAX_PACKAGES, node);
  if (ready || uncore) {
    measure(c, node->votes);
    set_normal(c, node);
  }
  snprintf(c->why, sizeof c->why, "%s", c->knob ? wtl_knob_why(c->knob) : "no memory");
  atomic_store(&node->votes->ready, ready || uncore);
  if (governs_uncore(c->settings)) {
    snprintf(c->why_uncore, sizeof c->why_uncore, "%s", c->uncore ? wtl_knob_why(c->uncore) : "no memory");
    if (*c->why_uncore)
      wtl_message_print("WATTLE_UNCORE: %s: %s",
                        uncore ? "not every package can be set" : "the uncore cannot be set here", c->why_uncore);
  }
  if (ready) wtl_clocks_report_limits(c->knob, node->votes, node->n_local, node->cpus);
  if (*c->settings->power_budget.text && !ready) return; /* the budget is refused */
  const char *asked = wtl_clocks_wanted(c->settings) ? wtl_clocks_setting(c->settings)
                      : c->settings->transfers.number == WTL_TRANSFERS_SCALE
                          ? "WATTLE_TRANSFERS"
                          : NULL; /* the settings do not require clocks */
  if (asked && (*c->why || !ready))
    wtl_message_print("%s: %s: %s", asked, ready ? "not every clock can be set" : "no clock can be set here", c->why);
}

/* ---- every process ---- */

/* The first domain with a known clock in which this process may run; NULL for none. */
static const wtl_clock_domain *domain_of(const wtl_clocks *c, const wtl_clocks_node *node)
{
  for (size_t d = 0; d < wtl_knob_domains(c->knob); d++) {
    const wtl_clock_domain *domain = wtl_knob_domain(c->knob, d);
    cpu_set_t mine;
    CPU_AND(&mine, &node->cpus[node->slot], &domain->cpus);
    if (CPU_COUNT(&mine) && domain->base_khz) return domain;
  }
  return NULL;
}

static uint32_t fixed_share(const wtl_clocks *c, const wtl_clocks_node *node, double ghz)
{
  if (!*c->settings->clocks.text) return 0;
  const wtl_clock_domain *domain = ghz > 0 ? domain_of(c, node) : NULL;
  return domain ? (uint32_t)fmax(1, round(1e12 * ghz / domain->base_khz)) : WTL_CLOCK_NORMAL;
}

static void open_knob(wtl_clocks *c, const wtl_clocks_node *node)
{
  char error[512];
  const wtl_settings *settings = node->settings;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int slot = 0; slot < node->n_local; slot++) CPU_OR(&all, &all, &node->cpus[slot]);
  if (settings->knob.number == WTL_KNOB_RECORD)
    c->machine = wtl_machine_load(settings->machine.text, settings->sysfs.text, error, sizeof error);
  c->knob = wtl_knob_open(settings, &all, c->machine);
  if (governs_uncore(settings))
    c->uncore = wtl_knob_open_package(settings, WTL_PACKAGE_UNCORE, &all, &wtl_knob_sys_real);
}

/* The first process sets the values that hold for the whole job. */
static void start_packages(wtl_clocks *c, const wtl_clocks_node *node)
{
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int slot = 0; slot < node->n_local; slot++) CPU_OR(&all, &all, &node->cpus[slot]);
  wtl_packages_start(&c->packages, node->settings, &all, node->pids, (size_t)node->n_local);
  if (strcmp(node->settings->uncore.text, "wait") == 0 && !governs_uncore(node->settings))
    wtl_message_print("WATTLE_UNCORE=wait has no effect without WATTLE_GOVERN=energy or hybrid");
}

static void mark_region(void *arg, const char *name, bool begins)
{
  wtl_governor *g = arg;
  wtl_governor_mark(g, wtl_hash(WTL_HASH_NONE, name, strlen(name)) | 1, begins, wtl_ticks());
}

static void note_change(void *arg, size_t domain, uint32_t khz)
{
  const wtl_profile *p = arg;
  uint64_t now = wtl_ticks();
  wtl_timeline *t = p->timeline_bytes ? wtl_profile_timeline(p) : NULL;
  if (t) wtl_timeline_add(t, WTL_SPAN_CLOCK, now, now, khz, (uint32_t)domain, WTL_NO_PATH);
}

static bool read_counters(void *arg, wtl_counts *now)
{
  return wtl_counters_read(arg, now);
}

/* Counters and watts, for regions bound by memory (intensity.h). */
static void measure_intensity(wtl_clocks *c)
{
  char error[512];
  int mode = c->settings->govern.number;
  bool lowers = mode == WTL_GOVERN_ENERGY || mode == WTL_GOVERN_HYBRID;
  bool learns = lowers && c->settings->scaling.number == WTL_SCALING_PROACTIVE && !*c->settings->clocks.text;
  if (!learns && !c->governor.power) return;
  c->counts = wtl_counters_open(&c->counters, NULL);
  if (!c->counts) return;
  c->governor.count = read_counters;
  c->governor.count_arg = &c->counters;
  if (!learns) return;
  wtl_machine *m = wtl_machine_load(c->settings->machine.text, c->settings->sysfs.text, error,
                                    sizeof error); /* the meter reports an error */
  wtl_clocks_watts_read(&c->governor.watts, &c->governor.vote, m);
  wtl_machine_free(m);
}

/* Without a clock that can be set a budget of watts cannot be kept. */
static int refuse(const wtl_clocks *c, char *error, size_t size)
{
  const char *why = *c->why ? c->why : c->knob ? wtl_knob_why(c->knob) : "";
  if (!*c->settings->power_budget.text) return 0;
  if (c->settings->knob.number == WTL_KNOB_NONE) why = "WATTLE_KNOB is none";
  snprintf(error, size, "WATTLE_POWER_BUDGET: no clock can be set here: %s",
           *why ? why : "the first process of the node could not claim them");
  return WTL_EXIT_CONFIG;
}

/* The clock at which this process begins and that no wait changes; 0: there is none. */
static uint32_t first_share(const wtl_clocks *c, const wtl_clocks_node *node, double planned_ghz)
{
  const wtl_power_watch *w = c->governor.power;
  return w ? w->budget.clocks.at[w->budget.level].share : fixed_share(c, node, planned_ghz);
}

static int govern(wtl_clocks *c, const wtl_clocks_node *node, double planned_ghz, char *why, size_t size)
{
  double ns = wtl_clock_ns_per_tick();
  uint64_t settle = (uint64_t)(node->votes->settle_s * 1e9 / ns);
  uint64_t price = settle + (uint64_t)(node->votes->write_s * 1e9 / ns);
  int error = wtl_vote_start(&c->governor.vote, c->knob, node->votes, node->slot, node->n_local, node->cpus,
                             normal_is_found(c));
  if (!error && c->uncore && !wtl_knob_is_none(c->uncore))
    error = wtl_vote_start(&c->governor.uncore, c->uncore, node->votes, node->slot, node->n_local, node->cpus, true);
  if (error) {
    snprintf(c->why, sizeof c->why, error == E2BIG ? "more than %d clock domains on this node" : "no memory",
             WTL_MAX_CLOCK_DOMAINS);
    return refuse(c, why, size);
  }
  int rc = wtl_clocks_budget_prepare(c, node, why, size);
  if (rc) return rc;
  c->governs = true;
  c->governor.vote.changed = note_change;
  c->governor.vote.changed_arg = (void *)node->profile;
  c->governor.waited = node->waited;
  c->governor.unheard = node->exchanges ? 1 : (double)node->n_all / node->n_local;
  measure_intensity(c);
  wtl_governor_start(&c->governor, c->settings, price, settle, first_share(c, node, planned_ghz), wtl_ticks());
  if (!WTL_OS_PES_ARE_THREADS) wtl_region_register(mark_region, &c->governor); /* wattle.h speaks of a process */
  return 0;
}

int wtl_clocks_start(wtl_clocks *c, const wtl_clocks_node *node, char *error, size_t size)
{
  const char *list = node->settings->clocks.text;
  double planned_ghz = wtl_clocks_plan_ghz(list, node->me);
  wtl_packages_asked asked;
  c->settings = node->settings;
  c->leads = node->slot == 0;
  if (isnan(planned_ghz)) {
    snprintf(error, size, "WATTLE_CLOCKS=%.100s is not a value; expected %ss and clocks in GHz, as in 0-3=1.2,4-7=2.6",
             list, wtl_message_noun());
    return WTL_EXIT_CONFIG;
  }
  wtl_power_asked budget;
  int rc = wtl_packages_read(node->settings, &asked, error, size);
  if (!rc) rc = wtl_clocks_budget_read(node->settings, &budget, error, size);
  if (rc) return rc;
  if (c->leads) start_packages(c, node);
  if (!node->governs) return refuse(c, error, size);
  node->votes->ballot[node->slot].pe = node->me;
  node->votes->ballot[node->slot].planned_ghz = planned_ghz;
  node->barrier(node->arg); /* the first process has restored what a killed job left before any process reads it */
  open_knob(c, node);
  node->barrier(node->arg); /* all have read the clock files, which may change from now on */
  if (c->leads) lead(c, node);
  node->barrier(node->arg);
  if (atomic_load(&node->votes->ready) && c->knob) return govern(c, node, planned_ghz, error, size);
  return refuse(c, error, size);
}

void wtl_clocks_close(wtl_clocks *c)
{
  if (!c->governs) return;
  if (!WTL_OS_PES_ARE_THREADS) wtl_region_register(NULL, NULL);
  wtl_governor_stop(&c->governor, wtl_ticks());
}

void wtl_clocks_stop(wtl_clocks *c)
{
  wtl_knob *const knobs[] = {c->knob, c->uncore};
  wtl_packages_stop(&c->packages);
  for (size_t i = 0; i < 2; i++)
    if (knobs[i] && c->leads) wtl_knob_restore(knobs[i]);
  if (c->governs) wtl_vote_stop(&c->governor.vote);
  if (c->governs) wtl_vote_stop(&c->governor.uncore);
  if (c->counts) wtl_counters_close(&c->counters);
  wtl_clocks_budget_stop(c);
  for (size_t i = 0; i < 2; i++) wtl_knob_close(knobs[i]);
  wtl_machine_free(c->machine);
  *c = (wtl_clocks){0};
}

/* ---- in the profile ---- */

/* The sums of a region, scaled up from the examined instances to all. */
static void write_region(FILE *f, const wtl_region *r, double s)
{
  double all = r->instances > r->unseen ? (double)r->instances / (r->instances - r->unseen) : 1;
  fprintf(f, "{\"addr\":\"0x%jx\"", (uintmax_t)r->key);
  wtl_json_number_field(f, "instances", r->instances, 0);
  wtl_json_number_field(f, "seen", r->instances - r->unseen, 0);
  wtl_json_number_field(f, "acted", r->acted, 0);
  wtl_json_number_field(f, "compute_s", (double)r->compute_ticks * all * s, 0);
  wtl_json_number_field(f, "slack_s", (double)r->slack_ticks * all * s, 0);
  wtl_json_number_field(f, "lost_s", (double)r->lost_ticks * s, 0);
  wtl_json_number_field(f, "follows", r->intensity.memory.n ? wtl_intensity_follows(&r->intensity) : NAN, 0);
  putc('}', f);
}

static void write_regions(FILE *f, const wtl_governor *g, double s)
{
  bool more = false;
  fputs(",\"regions\":[", f);
  for (size_t i = 0; i < WTL_REGIONS; i++) {
    if (!g->marked[i].key || !g->marked[i].instances) continue;
    if (more) putc(',', f);
    more = true;
    write_region(f, &g->marked[i], s);
  }
  putc(']', f);
}

/* The domains of this PE, with their normal clock and the planned clock as it can be set. */
static void write_domains_of(FILE *f, const wtl_governor *g)
{
  const wtl_vote *v = &g->vote;
  bool more = false;
  fputs(",\"mine\":[", f);
  for (size_t d = 0; d < v->n_domains; d++) {
    if (!wtl_vote_is_mine(v, d)) continue;
    fprintf(f, "%s{\"domain\":%zu", more ? "," : "", d);
    wtl_json_number_field(f, "normal_khz", wtl_vote_normal_khz(v, d), 0);
    if (g->is_fixed && !g->power && v->poll[d].claimed && !wtl_knob_domain(v->knob, d)->hint)
      wtl_json_number_field(f, "planned_khz", wtl_vote_khz(v, d, g->level), 0);
    putc('}', f);
    more = true;
  }
  putc(']', f);
}

static bool only_hints(const wtl_vote *v)
{
  for (size_t d = 0; d < v->n_domains; d++)
    if (wtl_vote_is_mine(v, d) && wtl_knob_domain(v->knob, d)->hint) return true;
  return false;
}

/* The error of a knob that failed; for a domain of this PE it names the file. "" for none. */
static const char *failure(const wtl_vote *v)
{
  int error = 0;
  for (size_t d = 0; d < v->n_domains && !error; d++) error = atomic_load(&v->poll[d].error);
  return !error ? "" : *wtl_knob_why(v->knob) ? wtl_knob_why(v->knob) : strerror(error);
}

/* The governed uncore. */
static void write_uncore(FILE *f, const wtl_clocks *c)
{
  const wtl_vote *v = &c->governor.uncore;
  if (!governs_uncore(c->settings)) return;
  fputs(",\"uncore\":{", f);
  wtl_json_number_field(f, "packages", (double)v->n_domains, 1);
  wtl_json_number_field(f, "changes", (double)v->changes, 0);
  wtl_json_text_field(f, "why", c->why_uncore, 0);
  wtl_json_text_field(f, "failed", v->n_domains ? failure(v) : "", 0);
  putc('}', f);
}

void wtl_clocks_write(FILE *f, const void *arg)
{
  static const char *const mode[] = {"off", "baseline", "performance", "energy", "hybrid"};
  static const char *const scaling[] = {"reactive", "proactive"};
  const wtl_clocks *c = arg;
  const wtl_governor *g = &c->governor;
  double s = wtl_clock_ns_per_tick() * 1e-9;
  putc('{', f);
  wtl_json_text_field(f, "mode",
                      g->power                    ? "budget"
                      : *c->settings->clocks.text ? "plan"
                                                  : mode[c->settings->govern.number],
                      1);
  wtl_json_text_field(f, "scaling", scaling[c->settings->scaling.number], 0);
  wtl_json_text_field(f, "knob", c->knob ? wtl_knob_name(c->knob) : "none", 0);
  wtl_json_text_field(f, "why", c->why, 0);
  wtl_packages_write(f, &c->packages);
  write_uncore(f, c);
  if (!c->governs) {
    putc('}', f);
    return;
  }
  wtl_json_number_field(f, "domains", (double)g->vote.n_domains, 0);
  write_domains_of(f, g);
  wtl_json_text_field(f, "sets", only_hints(&g->vote) ? "hints" : "clocks", 0);
  wtl_json_number_field(f, "price_s", (double)g->price * s, 0);
  wtl_json_number_field(f, "changes", (double)g->vote.changes, 0);
  wtl_json_number_field(f, "slack_s", (double)wtl_governor_waited(g) * s, 0);
  wtl_json_number_field(f, "slow_s", (double)g->slow_ticks * s, 0);
  wtl_json_number_field(f, "lost_s", g->lost * s, 0);
  wtl_json_number_field(f, "memory_bound_s", (double)g->bound_ticks * s, 0);
  wtl_json_text_field(f, "failed", failure(&g->vote), 0);
  wtl_json_text_field(f, "counters", c->counters.why, 0);
  wtl_clocks_budget_write(f, c);
  write_regions(f, g, s);
  putc('}', f);
}
