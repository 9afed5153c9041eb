#include "pgas/clocks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "govern/price.h"
#include "pgas/sync.h"

/* ---- the agreement ---- */

static bool wants(const wtl_pe *self)
{
  return self->settings.govern.number != WTL_GOVERN_OFF || *self->settings.clocks.text;
}

void wtl_clocks_wish(wtl_pe *self)
{
  wtl_control_of(self, self->me)->governs = wants(self) && self->thread_level < WTL_THREAD_MULTIPLE;
}

static bool all_wish(wtl_pe *self)
{
  for (int slot = 0; slot < self->n_local; slot++) {
    int pe = self->boot.local_pe[slot];
    if (wtl_control_of(self, pe)->governs) continue;
    snprintf(self->clocks->why, sizeof self->clocks->why,
             "PE %d has no governor: it lets several threads call (SHMEM_THREAD_MULTIPLE), or was started with other "
             "settings",
             pe);
    return false;
  }
  return true;
}

static cpu_set_t *cpus_of_all(const wtl_pe *self, cpu_set_t *all)
{
  cpu_set_t *cpus = self->n_local > 0 ? calloc((size_t)self->n_local, sizeof *cpus) : NULL;
  CPU_ZERO(all);
  for (int slot = 0; cpus && slot < self->n_local; slot++) {
    memcpy(&cpus[slot], wtl_control_of(self, self->boot.local_pe[slot])->cpus, sizeof cpus[slot]);
    CPU_OR(all, all, &cpus[slot]);
  }
  return cpus;
}

/* ---- the node's first PE ---- */

static bool all_have_opened(void *arg)
{
  wtl_pe *self = arg;
  return (int)atomic_load_explicit(&self->votes->opened, memory_order_acquire) == self->n_local;
}

static size_t claim_all(wtl_pe *self, wtl_knob *knob)
{
  size_t claimed = 0, n = wtl_knob_domains(knob);
  for (size_t d = 0; d < n && d < WTL_MAX_CLOCK_DOMAINS; d++) {
    self->votes->claimed[d] = wtl_knob_claim(knob, d) == 0;
    claimed += self->votes->claimed[d];
  }
  return claimed;
}

static bool start_guard(wtl_pe *self, wtl_knob *knob)
{
  pid_t *pids = self->n_local > 0 ? calloc((size_t)self->n_local, sizeof *pids) : NULL;
  for (int slot = 0; pids && slot < self->n_local; slot++)
    pids[slot] = (pid_t)wtl_control_of(self, self->boot.local_pe[slot])->pid;
  int error = pids ? wtl_knob_guard(knob, pids, (size_t)self->n_local) : ENOMEM;
  free(pids);
  return error == 0;
}

static void measure(wtl_pe *self, wtl_knob *knob)
{
  size_t first = 0;
  while (!self->votes->claimed[first]) first++;
  wtl_clock_price price = wtl_clock_price_measure(knob, first, self->settings.clock_cost.seconds);
  self->votes->write_s = price.write_s;
  self->votes->settle_s = price.settle_s;
}

/* In mode energy the normal clock is what was found: who only wants to save must not lose the turbo. */
static bool normal_is_found(const wtl_pe *self)
{
  return self->settings.govern.number == WTL_GOVERN_ENERGY && !*self->settings.clocks.text;
}

static void set_normal(wtl_pe *self, wtl_knob *knob)
{
  for (int slot = 0; slot < self->n_local; slot++) {
    atomic_store(&self->votes->ballot[slot].want, WTL_CLOCK_NORMAL);
    atomic_store(&self->votes->ballot[slot].phase, 2);
  }
  for (size_t d = 0; d < wtl_knob_domains(knob); d++) {
    wtl_poll *poll = &self->votes->poll[d];
    atomic_store(&poll->share, WTL_CLOCK_NORMAL);
    if (!self->votes->claimed[d] || normal_is_found(self)) continue;
    atomic_store(&poll->error, wtl_knob_set(knob, d, wtl_knob_domain(knob, d)->base_khz));
  }
}

static void lead(wtl_pe *self, wtl_site *site)
{
  wtl_clocks *c = self->clocks;
  uint32_t ready = 2;
  wtl_door_wait(&self->door, site, WTL_WATCH_CONTROL, all_have_opened, self);
  if (c->knob && strcmp(wtl_knob_name(c->knob), "none") != 0 && claim_all(self, c->knob)) {
    if (start_guard(self, c->knob)) {
      measure(self, c->knob);
      set_normal(self, c->knob);
      ready = 1;
    } else {
      wtl_knob_restore(c->knob);
    }
  }
  if (c->knob) snprintf(c->why, sizeof c->why, "%s", wtl_knob_why(c->knob));
  atomic_store(&self->votes->ready, ready);
  for (int slot = 0; slot < self->n_local; slot++) wtl_touch_control(self, self->boot.local_pe[slot]);
  if (*c->why || ready == 2)
    wtl_say("WATTLE_GOVERN: %s: %s", ready == 2 ? "no clock can be set here" : "not every clock can be set", c->why);
}

/* ---- every PE ---- */

static bool is_ready(void *arg)
{
  return atomic_load_explicit(&((wtl_votes *)arg)->ready, memory_order_acquire) != 0;
}

/* This PE's clock in WATTLE_CLOCKS, GHz; 0 if it is not named. NaN where the list is wrong. */
static double clock_of(const char *list, int pe)
{
  double found = 0;
  for (const char *at = list; *at;) {
    char *end;
    long first = strtol(at, &end, 10), last = first;
    if (end != at && *end == '-') last = strtol(end + 1, &end, 10);
    if (end == at || *end != '=') return NAN;
    const char *number = end + 1;
    double ghz = strtod(number, &end);
    if (end == number || !(ghz > 0 && ghz < 100) || (*end && *end != ',') || last < first) return NAN;
    if (pe >= first && pe <= last) found = ghz;
    at = *end ? end + 1 : end;
  }
  return found;
}

static uint32_t fixed_share(const wtl_pe *self)
{
  const char *list = self->settings.clocks.text;
  double ghz = clock_of(list, self->me);
  if (isnan(ghz))
    wtl_pe_fail(WTL_EXIT_CONFIG,
                "WATTLE_CLOCKS=%.100s is not a value; expected PEs and clocks in GHz, as in 0-3=1.2,4-7=2.6", list);
  if (!*list) return 0;
  if (ghz == 0) return WTL_CLOCK_NORMAL;
  for (size_t d = 0; d < wtl_knob_domains(self->clocks->knob); d++) {
    const wtl_clock_domain *domain = wtl_knob_domain(self->clocks->knob, d);
    cpu_set_t mine;
    memcpy(&mine, wtl_control_of(self, self->me)->cpus, sizeof mine);
    CPU_AND(&mine, &mine, &domain->cpus);
    if (CPU_COUNT(&mine) && domain->base_khz) return (uint32_t)fmax(1, round(1e12 * ghz / domain->base_khz));
  }
  return WTL_CLOCK_NORMAL;
}

static wtl_knob *open_knob(const wtl_pe *self, const cpu_set_t *all)
{
  char error[512];
  wtl_machine *machine = NULL;
  if (self->settings.knob.number == WTL_KNOB_RECORD)
    machine = wtl_machine_load(self->settings.machine.text, error, sizeof error);
  wtl_knob *knob = wtl_knob_open(&self->settings, all, machine);
  wtl_machine_free(machine);
  return knob;
}

#ifndef WTL_THREADS
static void hear_region(void *arg, const char *name, bool begins)
{
  wtl_governor *g = arg;
  uint64_t key = 14695981039346656037ull; /* FNV-1a */
  for (const char *p = name; *p; p++) key = (key ^ (unsigned char)*p) * 1099511628211ull;
  wtl_governor_mark(g, key | 1, begins, wtl_ticks());
}
#endif

static void note_change(void *arg, size_t domain, uint32_t khz)
{
  const wtl_profile *p = arg;
  uint64_t now = wtl_ticks();
  if (p->timeline_bytes) wtl_profile_note(p, WTL_SPAN_CLOCK, now, now, khz, (uint32_t)domain);
}

static void govern(wtl_pe *self, const cpu_set_t *cpus)
{
  wtl_clocks *c = self->clocks;
  double ns = wtl_clock_ns_per_tick();
  uint64_t settle = (uint64_t)(self->votes->settle_s * 1e9 / ns);
  uint64_t price = settle + (uint64_t)(self->votes->write_s * 1e9 / ns);
  int error =
      wtl_vote_start(&c->governor.vote, c->knob, self->votes, self->slot, self->n_local, cpus, normal_is_found(self));
  if (error) {
    snprintf(c->why, sizeof c->why, error == E2BIG ? "more than %d clock domains on this node" : "no memory",
             WTL_MAX_CLOCK_DOMAINS);
    return;
  }
  c->governs = true;
  c->governor.vote.changed = note_change;
  c->governor.vote.changed_arg = &self->profile;
  wtl_governor_start(&c->governor, &self->settings, price, settle, fixed_share(self), wtl_ticks());
  self->door.governor = &c->governor;
#ifndef WTL_THREADS
  wtl_region_register(hear_region, &c->governor);
#endif
}

static void write_clocks(FILE *f, const void *arg);

void wtl_clocks_start(wtl_pe *self)
{
  wtl_site site = {0};
  cpu_set_t all, *cpus;
  if (!wants(self)) return;
  self->clocks = calloc(1, sizeof *self->clocks);
  if (!self->clocks) wtl_pe_fail(WTL_EXIT_OSERR, "no memory for the governor");
  self->record.write_clocks = write_clocks;
  self->record.clocks = self;
  if (!all_wish(self)) {
    if (self->slot == 0) wtl_say("WATTLE_GOVERN: %s", self->clocks->why);
    return;
  }
  cpus = cpus_of_all(self, &all);
  self->clocks->knob = cpus ? open_knob(self, &all) : NULL;
  atomic_fetch_add(&self->votes->opened, 1);
  wtl_touch_control(self, self->boot.local_pe[0]);
  if (self->slot == 0) lead(self, &site);
  wtl_door_wait(&self->door, &site, WTL_WATCH_CONTROL, is_ready, self->votes);
  if (atomic_load(&self->votes->ready) == 1 && self->clocks->knob) govern(self, cpus);
  free(cpus);
}

void wtl_clocks_close(wtl_pe *self)
{
  if (!self->clocks || !self->clocks->governs) return;
#ifndef WTL_THREADS
  wtl_region_register(NULL, NULL);
#endif
  self->door.governor = NULL;
  wtl_governor_stop(&self->clocks->governor);
}

void wtl_clocks_stop(wtl_pe *self)
{
  wtl_clocks *c = self->clocks;
  if (!c) return;
  if (c->knob && self->slot == 0) wtl_knob_restore(c->knob);
  if (c->governs) wtl_vote_stop(&c->governor.vote);
  wtl_knob_close(c->knob);
  free(c);
  self->clocks = NULL;
}

/* ---- in the profile ---- */

static void write_region(FILE *f, const wtl_region *r, double s)
{
  fprintf(f, "{\"addr\":\"0x%jx\"", (uintmax_t)r->key);
  wtl_json_number_field(f, "instances", r->instances, 0);
  wtl_json_number_field(f, "acted", r->acted, 0);
  wtl_json_number_field(f, "compute_s", (double)r->compute_ticks * s, 0);
  wtl_json_number_field(f, "slack_s", (double)r->slack_ticks * s, 0);
  wtl_json_number_field(f, "lost_s", (double)r->lost_ticks * s, 0);
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

/* The domains whose clock is this PE's, and the clock it has where nothing changes it. */
static void write_domains_of(FILE *f, const wtl_vote *v)
{
  bool more = false;
  fputs(",\"mine\":[", f);
  for (size_t d = 0; d < v->n_domains; d++) {
    if (!wtl_vote_is_mine(v, d)) continue;
    fprintf(f, "%s{\"domain\":%zu", more ? "," : "", d);
    wtl_json_number_field(f, "normal_khz", wtl_vote_normal_khz(v, d), 0);
    putc('}', f);
    more = true;
  }
  putc(']', f);
}

static void write_clocks(FILE *f, const void *arg)
{
  static const char *const mode[] = {"off", "baseline", "performance", "energy", "hybrid"};
  static const char *const scaling[] = {"reactive", "proactive"};
  const wtl_pe *self = arg;
  const wtl_clocks *c = self->clocks;
  const wtl_governor *g = &c->governor;
  double s = self->door.stages.ns_per_tick * 1e-9;
  putc('{', f);
  wtl_json_text_field(f, "mode", *self->settings.clocks.text ? "plan" : mode[self->settings.govern.number], 1);
  wtl_json_text_field(f, "scaling", scaling[self->settings.scaling.number], 0);
  wtl_json_text_field(f, "knob", c->knob ? wtl_knob_name(c->knob) : "none", 0);
  wtl_json_text_field(f, "why", c->why, 0);
  if (!c->governs) {
    putc('}', f);
    return;
  }
  wtl_json_number_field(f, "domains", (double)g->vote.n_domains, 0);
  write_domains_of(f, &g->vote);
  wtl_json_number_field(f, "price_s", (double)g->price * s, 0);
  wtl_json_number_field(f, "changes", (double)g->vote.changes, 0);
  wtl_json_number_field(f, "slack_s", (double)g->slack_ticks * s, 0);
  wtl_json_number_field(f, "slow_s", (double)g->slow_ticks * s, 0);
  wtl_json_number_field(f, "lost_s", g->lost * s, 0);
  int error = 0;
  for (size_t d = 0; d < g->vote.n_domains && !error; d++) error = atomic_load(&self->votes->poll[d].error);
  wtl_json_text_field(f, "failed", error ? strerror(error) : "", 0);
  write_regions(f, g, s);
  putc('}', f);
}
