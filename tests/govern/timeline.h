/*
 * timeline.h - PEs that compute and meet at a barrier, over and over, on a made-up /sys; no clock runs but this one.
 *
 * A PE's work is given as its time at the normal clock, and takes longer or shorter as the files say that its core
 * runs, except for the share that is memory's. Each change of a file is written down with its moment.
 */
#ifndef WTL_TESTS_TIMELINE_H
#define WTL_TESTS_TIMELINE_H

#include <math.h>

#include "govern/governor.h"
#include "power/packages.h"

enum { MAX_PES = 4, MAX_CHANGES = 4096, SITE = 0x1000 };

#define MS 1000000ull /* a tick is a nanosecond */

typedef struct change {
  uint64_t at; /* since the instance began */
  int cpu;
  uint32_t khz;
} change;

typedef struct timeline {
  tree *t;
  int n;
  wtl_settings settings;
  wtl_votes *votes;
  wtl_knob *knob[MAX_PES], *uncore[MAX_PES]; /* uncore: NULL, or of two packages */
  wtl_governor governor[MAX_PES];
  wtl_site site[MAX_PES];
  _Atomic uint64_t waited[MAX_PES][WTL_N_STAGES]; /* as the door books it */
  uint64_t now, instance_at;
  double stall;           /* ticks for which a core stands still when its clock changes */
  uint32_t write, chance; /* ticks that a write takes; of which that is made */
  uint64_t written;       /* by all so far */
  uint32_t normal_khz, khz[MAX_PES];
  double left[MAX_PES];   /* work, in ticks at the normal clock */
  double memory[MAX_PES]; /* the share of those ticks that is memory's, at any clock */
  wtl_counts counts[MAX_PES];
  uint64_t site_of_region;
  uint64_t look_at[MAX_PES]; /* when a waiting PE is notified that it still waits; UINT64_MAX: never */
  uint64_t arrived[MAX_PES];
  bool is_there[MAX_PES];
  void (*on_the_way)(struct timeline *l, int i); /* called first in each region, as part of the program */
  change log[MAX_CHANGES];
  size_t n_log;
} timeline;

/* The shape of the machine. Each PE has one CPU. */
typedef struct shape {
  int n;
  enum wtl_govern_mode mode;
  enum wtl_scaling scaling;
  const char *siblings; /* CPUs that share a clock: "0-1"; NULL for none */
  uint64_t price;
  double stall;
  bool unbound; /* every PE may run on every CPU */
  bool uncore;  /* the uncore is governed, too, from 0.8 to 2.4 GHz: of CPUs 0 and 1, and of the others */
} shape;

static inline uint32_t timeline_clock(const timeline *l, int cpu)
{
  return (uint32_t)atol(clock_get(l->t->root, cpu, "cpufreq/scaling_max_freq"));
}

/* Work done in a tick, in ticks at the normal clock. */
static inline double timeline_rate(const timeline *l, int i)
{
  return 1 / (l->memory[i] + (1 - l->memory[i]) * l->normal_khz / l->khz[i]);
}

/* The counts of a processor: two instructions for a tick of arithmetic and a tenth of that for one of
 * memory, and so many misses that they seem to take twice memory's time, because they overlap. */
static inline void timeline_count(timeline *l, int i, double ticks)
{
  double work = ticks * timeline_rate(l, i);
  l->counts[i].cycles += ticks * l->khz[i] * 1e-6;
  l->counts[i].instructions +=
      work * (2 - 1.8 * round(4 * l->memory[i]) / 4); /* alike in instances that vary a little */
  l->counts[i].misses += work * l->memory[i] / 50;
}

typedef struct timeline_pe {
  timeline *l;
  int i;
} timeline_pe;

static inline bool timeline_read_counts(void *arg, wtl_counts *now)
{
  const timeline_pe *pe = arg;
  *now = pe->l->counts[pe->i];
  return true;
}

static inline void timeline_note(timeline *l)
{
  for (int i = 0; i < l->n; i++) {
    uint32_t khz = timeline_clock(l, i);
    if (khz == l->khz[i]) continue;
    l->khz[i] = khz;
    if (!l->is_there[i]) l->left[i] += l->stall * timeline_rate(l, i);
    if (l->n_log < MAX_CHANGES) l->log[l->n_log++] = (change){l->now - l->instance_at, i, khz};
  }
}

/* Writes take no time, or about as long as the timeline says, as the governor's clock has it. */
static timeline *timeline_last;
static inline uint64_t timeline_ticks(void)
{
  timeline *l = timeline_last;
  if (l->write) l->written += l->write / 2 + (l->chance = l->chance * 1664525u + 1013904223u) % l->write;
  return l->now + l->written;
}

/* `clock`: a plan's, or 0. */
static inline void timeline_start(timeline *l, int i, uint64_t price, uint32_t clock)
{
  wtl_governor_start(&l->governor[i], &l->settings, price, price, clock, 0);
  l->governor[i].clock = timeline_ticks;
}

static inline void timeline_add_uncore(timeline *l, const cpu_set_t *all, const cpu_set_t *cpus)
{
  two_packages(l->t->root);
  uncore_die(l->t->root, "package_00_die_00");
  uncore_die(l->t->root, "package_01_die_00");
  for (int i = 0; i < l->n; i++)
    l->uncore[i] = wtl_knob_open_package(&l->settings, WTL_PACKAGE_UNCORE, all, &wtl_knob_sys_real);
  for (size_t d = 0; d < wtl_knob_domains(l->uncore[0]); d++) {
    CHECK(wtl_knob_claim(l->uncore[0], d) == 0);
    l->votes->uncore[d].claimed = true;
    atomic_store(&l->votes->uncore[d].share, WTL_CLOCK_NORMAL);
  }
  for (int i = 0; i < l->n; i++) {
    atomic_store(&l->votes->ballot[i].uncore, WTL_CLOCK_NORMAL);
    CHECK(wtl_vote_start(&l->governor[i].uncore, l->uncore[i], l->votes, i, l->n, cpus, true) == 0);
  }
}

static inline timeline *timeline_new(shape s)
{
  timeline *l = calloc(1, sizeof *l);
  timeline_last = l;
  /* Mode energy keeps the clock that was found as its normal one: a machine without turbo, as the figures' is. */
  const char *max = s.mode == WTL_GOVERN_ENERGY ? "2400000" : "3600000";
  cpu_set_t all = clock_cpus(s.n), cpus[MAX_PES];
  l->t = tree_new();
  l->n = s.n;
  l->stall = s.stall;
  l->normal_khz = 2400000;
  l->site_of_region = SITE;
  l->settings = clock_settings(l->t, WTL_KNOB_CPUFREQ);
  l->settings.govern.number = s.mode;
  l->settings.scaling.number = s.scaling;
  l->votes = calloc(1, wtl_votes_bytes(s.n));
  for (int i = 0; i < s.n; i++) {
    clock_cpu(l->t->root, i, "acpi-cpufreq", "performance", "1200000", max);
    clock_put(l->t->root, i, "cpufreq/base_frequency", "2400000");
    if (s.siblings && strchr(s.siblings, '0' + i))
      clock_put(l->t->root, i, "topology/thread_siblings_list", s.siblings);
    l->look_at[i] = UINT64_MAX;
    CPU_ZERO(&cpus[i]);
    CPU_SET((size_t)i, &cpus[i]);
    if (s.unbound) cpus[i] = all;
    atomic_store(&l->votes->ballot[i].want, WTL_CLOCK_NORMAL);
    atomic_store(&l->votes->ballot[i].phase, 2);
  }
  for (int i = 0; i < s.n; i++) l->knob[i] = wtl_knob_open(&l->settings, &all, NULL);
  for (size_t d = 0; d < wtl_knob_domains(l->knob[0]); d++) {
    CHECK(wtl_knob_claim(l->knob[0], d) == 0);
    CHECK(wtl_knob_set(l->knob[0], d, 2400000) == 0);
    l->votes->poll[d].claimed = true;
    atomic_store(&l->votes->poll[d].share, WTL_CLOCK_NORMAL);
  }
  if (s.uncore) timeline_add_uncore(l, &all, cpus);
  for (int i = 0; i < s.n; i++) {
    l->khz[i] = 2400000;
    CHECK(wtl_vote_start(&l->governor[i].vote, l->knob[i], l->votes, i, s.n, cpus, s.mode == WTL_GOVERN_ENERGY) == 0);
    l->site[i].addr = SITE;
    l->governor[i].waited = l->waited[i];
    timeline_start(l, i, s.price, 0);
  }
  return l;
}

static inline void timeline_free(timeline *l)
{
  for (int i = 0; i < l->n; i++) wtl_governor_stop(&l->governor[i], l->now);
  wtl_knob_restore(l->knob[0]);
  if (l->uncore[0]) wtl_knob_restore(l->uncore[0]);
  for (int i = 0; i < l->n; i++) {
    wtl_vote_stop(&l->governor[i].vote);
    wtl_vote_stop(&l->governor[i].uncore);
    wtl_knob_close(l->knob[i]);
    wtl_knob_close(l->uncore[i]);
  }
  free(l->votes);
  tree_free(l->t);
  free(l);
}

static inline bool timeline_all_there(const timeline *l)
{
  for (int i = 0; i < l->n; i++)
    if (!l->is_there[i]) return false;
  return true;
}

/* A PE comes to the barrier, and waits there unless it is the last. */
static inline void timeline_arrive(timeline *l, int i)
{
  wtl_governor *g = &l->governor[i];
  l->is_there[i] = true;
  l->arrived[i] = l->now;
  wtl_governor_enter(g, &(wtl_sync_group){0, &l->votes->far_waits}, false);
  timeline_note(l);
  if (timeline_all_there(l)) return;
  uint64_t ticks = wtl_governor_wait(g, &l->site[i], l->now);
  if (ticks == 0) wtl_governor_slack(g, l->now);
  l->look_at[i] = ticks == 0 || ticks == UINT64_MAX ? UINT64_MAX : l->now + ticks;
  timeline_note(l);
}

static inline uint64_t timeline_next(const timeline *l, int i)
{
  return l->is_there[i] ? l->look_at[i] : l->now + (uint64_t)(l->left[i] / timeline_rate(l, i));
}

static inline void timeline_go_to(timeline *l, uint64_t then)
{
  for (int i = 0; i < l->n; i++)
    if (!l->is_there[i]) {
      l->left[i] -= (double)(then - l->now) * timeline_rate(l, i);
      timeline_count(l, i, (double)(then - l->now));
    }
  l->now = then;
}

/* One instance of the region: every PE computes and then calls a barrier. Returns how long it took. */
static inline uint64_t timeline_run(timeline *l, const uint64_t work[])
{
  l->instance_at = l->now;
  l->n_log = 0;
  for (int i = 0; i < l->n; i++) {
    l->is_there[i] = false;
    l->left[i] = (double)work[i];
    wtl_governor_leave(&l->governor[i], l->site_of_region); /* the one before */
    if (l->on_the_way) l->on_the_way(l, i);
    timeline_note(l);
  }
  while (!timeline_all_there(l)) {
    int first = 0;
    for (int i = 1; i < l->n; i++)
      if (timeline_next(l, i) < timeline_next(l, first)) first = i;
    timeline_go_to(l, timeline_next(l, first));
    if (!l->is_there[first]) {
      timeline_arrive(l, first);
    } else {
      l->look_at[first] = UINT64_MAX;
      wtl_governor_slack(&l->governor[first], l->now);
      timeline_note(l);
    }
  }
  for (int i = 0; i < l->n; i++) {
    l->look_at[i] = UINT64_MAX;
    if (l->arrived[i] < l->now) {
      atomic_fetch_add(&l->waited[i][WTL_STAGE_ASLEEP], l->now - l->arrived[i]);
      wtl_governor_record(&l->governor[i], WTL_STAGE_ASLEEP, l->arrived[i], l->now);
      wtl_governor_continue(&l->governor[i], &l->site[i], l->arrived[i], l->now);
    }
    timeline_note(l);
  }
  return l->now - l->instance_at;
}

#endif
