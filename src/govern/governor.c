#include "govern/governor.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* The part of a region that stays unused at most when its computing is stretched: instances differ. Where the last ones
 * differed by less, so many times that is enough: four values that are spread at random span two standard deviations.
 */
enum { SPARE = 16, SPANS = 2 };
/* Of a new length in a moving mean, once there are some; so many its mean is then worth. */
static const double least_weight = 0.125;
enum { WORTH = 15 };
/* Standard errors by which two means must differ before it is believed. */
static const double believed = 2;
/* Instances that a region is left alone after a loss, at first and at most. */
enum { STAY_FIRST = 16, STAY_MOST = 1024 };

static bool lowers(const wtl_governor *g)
{
  return g->mode == WTL_GOVERN_ENERGY || g->mode == WTL_GOVERN_HYBRID;
}

static bool raises(const wtl_governor *g)
{
  return g->mode == WTL_GOVERN_PERFORMANCE || g->mode == WTL_GOVERN_HYBRID;
}

/* There and back. */
static uint64_t worth(const wtl_governor *g)
{
  return 2 * g->price;
}

static wtl_ballot *ballot(const wtl_governor *g, int slot)
{
  return &g->vote.votes->ballot[slot];
}

/* The price follows what writes take, so that it holds under load, too. True where a clock was changed. */
static bool cast(wtl_governor *g, uint32_t share, uint64_t now)
{
  if (atomic_load(&ballot(g, g->vote.slot)->want) == share) return false;
  uint64_t before = g->clock();
  if (!wtl_vote_cast(&g->vote, share, now)) return false;
  uint64_t took = g->clock() - before, price = took + g->settle;
  if (took < 10 * g->price) g->price = (7 * g->price + price) / 8; /* else the core was another's meanwhile */
  return true;
}

static uint64_t real_clock(void)
{
  return wtl_ticks();
}

void wtl_governor_start(wtl_governor *g, const wtl_settings *settings, uint64_t price, uint64_t settle, uint32_t clock,
                        uint64_t now)
{
  wtl_vote vote = g->vote;
  const _Atomic uint64_t *waited = g->waited;
  memset(g, 0, sizeof *g);
  g->vote = vote;
  g->waited = waited;
  g->moment = (uint64_t)(WTL_MOMENT_NS / wtl_clock_ns_per_tick());
  g->clock = real_clock;
  g->mode = (enum wtl_govern_mode)settings->govern.number;
  g->scaling = (enum wtl_scaling)settings->scaling.number;
  g->allowed = (double)settings->slowdown.number / 100;
  g->price = price;
  g->settle = settle;
  g->is_fixed = clock != 0;
  g->level = clock ? clock : WTL_CLOCK_NORMAL;
  g->started = now;
  g->phase = atomic_load(&ballot(g, vote.slot)->phase);
  cast(g, g->level, now);
}

uint64_t wtl_governor_waited(const wtl_governor *g)
{
  uint64_t sum = g->unbooked;
  for (int stage = 0; stage < WTL_N_STAGES; stage++)
    sum += atomic_load_explicit(&g->waited[stage], memory_order_relaxed);
  return sum;
}

/* The door's account begins anew when the program's does. */
static uint64_t waited_since(const wtl_governor *g, uint64_t before)
{
  uint64_t waited = wtl_governor_waited(g);
  return waited > before ? waited - before : 0;
}

/* Computing at another clock, from `from` to `to` but for what was waited meanwhile. */
static void book_computing(wtl_governor *g, uint64_t from, uint64_t to, uint64_t waited)
{
  uint64_t since;
  double clock = wtl_vote_clock(&g->vote, &since);
  if (clock == 1) return;
  uint64_t begin = since > from ? since : from, ticks = to > begin ? to - begin : 0;
  ticks = ticks > waited ? ticks - waited : 0;
  g->off.computed += ticks;
  g->off.computed_clock += clock * (double)ticks;
}

void wtl_governor_book_off(wtl_governor *g, enum wtl_stage stage, uint64_t from, uint64_t to)
{
  uint64_t since;
  double clock = wtl_vote_clock(&g->vote, &since);
  if (clock == 1) return;
  uint64_t begin = since > from ? since : from, ticks = to > begin ? to - begin : 0;
  g->off.waited[stage] += ticks;
  g->off.waited_clock += clock * (double)ticks;
}

/* Barriers that were only counted, into the region of which they are instances. */
static void enter_passed(wtl_governor *g)
{
  if (!g->passed) return;
  g->region->instances += g->passed;
  g->region->unseen += g->passed;
  g->phase += 2 * g->passed; /* as all count */
  g->passed = 0;
}

void wtl_governor_stop(wtl_governor *g, uint64_t now)
{
  enter_passed(g);
  atomic_store(&ballot(g, g->vote.slot)->late, 0);
  book_computing(g, g->region_since, now, waited_since(g, g->waited_before));
  cast(g, WTL_CLOCK_NORMAL, now);
}

static void slow_down(wtl_governor *g, uint64_t now)
{
  if (g->is_slow) return;
  g->is_slow = g->has_acted = true;
  g->slow_since = now;
  g->unseen = 0; /* no region of those that are brief */
  cast(g, WTL_CLOCK_LOWEST, now);
}

static void speed_up(wtl_governor *g, uint64_t now)
{
  if (!g->is_slow) return;
  g->is_slow = false;
  g->slow_ticks += now - g->slow_since;
  cast(g, g->level, now);
}

static void charge(wtl_governor *g, double ticks, uint64_t now)
{
  double budget = g->allowed * (double)(now - g->started);
  g->lost += ticks;
  if (g->lost > budget) g->is_broke = true;
  if (g->lost <= budget / 2) g->is_broke = false;
}

/* Where no region tells what a change did, it is taken to have cost its price: so much must have been earned first. */
static bool can_pay(const wtl_governor *g, uint64_t now)
{
  return !g->is_broke && g->lost + (double)g->price <= g->allowed * (double)(now - g->started);
}

/* Of a site, the calls up to the one before this one waited long, so many in a row. */
static unsigned row_of(const wtl_site *s)
{
  return s->long_row && (uint16_t)(s->long_at + 1) == (uint16_t)s->calls ? s->long_row : 0;
}

/* Of a call that waits twice the first long wait counts. */
static void enter_long(wtl_site *s)
{
  if (s->long_row && s->long_at == (uint16_t)s->calls) return;
  unsigned row = row_of(s) + 1;
  s->long_row = (uint16_t)(row < WTL_SLACK_RECENT ? row : WTL_SLACK_RECENT);
  s->long_at = (uint16_t)s->calls;
}

/* The last four waited long; one that did not, however briefly, is reason to doubt. */
static bool will_be_long(const wtl_site *s)
{
  return s->addr && row_of(s) == WTL_SLACK_RECENT;
}

/* Reactive scaling, and nothing against it now; or proactive scaling that learns. */
static bool reacts(const wtl_governor *g, uint64_t now)
{
  if (g->is_fixed || !lowers(g)) return false;
  if (g->scaling != WTL_SCALING_REACTIVE) return g->region && g->eases;
  return g->region ? g->acts : can_pay(g, now);
}

uint64_t wtl_governor_wait(wtl_governor *g, const wtl_site *site, uint64_t since)
{
  uint64_t waited = 0;
  if (g->is_slow || !reacts(g, since)) return UINT64_MAX;
  if (g->is_unseen) return worth(g);
  if (g->in_barrier) /* several waits of one barrier are one */
    waited = since - g->arrived;
  else if (will_be_long(site))
    return 0;
  return waited >= worth(g) ? 0 : worth(g) - waited;
}

void wtl_governor_slack(wtl_governor *g, uint64_t now)
{
  slow_down(g, now);
}

void wtl_governor_go_on(wtl_governor *g, wtl_site *site, uint64_t since, uint64_t now)
{
  bool is_long = now - since > worth(g);
  if (g->is_unseen && is_long) g->unseen = 0;
  if (g->in_barrier) return;
  if (is_long) enter_long(site);
  if (g->holds) return;
  if (g->is_slow && !g->region) charge(g, (double)g->price, now);
  speed_up(g, now);
}

void wtl_governor_hold(wtl_governor *g, uint64_t now)
{
  g->holds = true;
  slow_down(g, now);
}

void wtl_governor_release(wtl_governor *g, uint64_t now)
{
  g->holds = false;
  speed_up(g, now);
}

uint64_t wtl_governor_worth(const wtl_governor *g)
{
  return worth(g);
}

void wtl_governor_go_on_unbooked(wtl_governor *g, wtl_site *site, uint64_t since, uint64_t now)
{
  g->unbooked += now - since;
  wtl_governor_go_on(g, site, since, now);
}

/* ---- regions ---- */

static wtl_region *find_region(wtl_governor *g, uint64_t key)
{
  if (g->region && g->region->key == key) return g->region;
  uint64_t i = key * 0x9e3779b97f4a7c15ull >> 32;
  for (int probe = 0; key && probe < 8; probe++, i++) {
    wtl_region *r = &g->marked[i % WTL_REGIONS];
    if (!r->key) r->key = key;
    if (r->key == key) return r;
  }
  return NULL;
}

/* At the normal clock, to learn and to compare: often where little is known, seldom later, for nothing is saved
 * meanwhile. All PEs count alike, so all do so in the same instance. */
static bool is_control(const wtl_region *r)
{
  bool compares = r->instances == WTL_CONTROL_FIRST || r->instances % WTL_CONTROL == 0;
  return r->normal.n < WTL_LEARN || compares || r->stay_away > 0;
}

/* Of those instances, one in which a wait is no comparison's part and may go by at the lowest clock: it computes at the
 * normal one all the same. Not the first and the last of those that it learns from, not where there was a loss, or may
 * have been. */
static bool is_eased(const wtl_region *r)
{
  bool learns = r->normal.n > 0 && r->normal.n + 1 < WTL_LEARN;
  return !r->last_stay && !r->doubt.is_open && (learns || r->instances == WTL_CONTROL_FIRST);
}

static unsigned wait_class(const wtl_governor *g, int slot)
{
  uint64_t slack = atomic_load(&ballot(g, slot)->slack);
  if (slack <= worth(g)) return WTL_WAITS_NOT;
  return slack > g->last_whole / WTL_WAITS_SHARE ? WTL_WAITS_MUCH : WTL_WAITS_LONG;
}

/* The most that a PE of the node waits, but for the one in slot `but` (-1: for none). */
static unsigned most_waits(const wtl_governor *g, int but)
{
  unsigned most = WTL_WAITS_NOT;
  for (int i = 0; i < g->vote.n_local; i++)
    if (i != but && wait_class(g, i) > most) most = wait_class(g, i);
  return most;
}

unsigned wtl_governor_node_waits(const wtl_governor *g)
{
  return most_waits(g, -1);
}

/* It hardly waits itself, and others do for it, on this node or on one of which the barrier has told (far_waits): not
 * longer than a change takes; or, where others wait for much of the region, not for much of it either. A put that is
 * waited for until another node's agent has woken up makes nobody early. */
static bool is_late(const wtl_governor *g, const wtl_region *r)
{
  uint64_t slack = wtl_slack_most(&r->slack);
  unsigned others = most_waits(g, g->vote.slot), far = atomic_load(&g->vote.votes->far_waits);
  if (far > others) others = far;
  if (slack <= g->price) return others >= WTL_WAITS_LONG;
  return slack <= wtl_slack_least(&r->whole) / SPARE && others == WTL_WAITS_MUCH;
}

/* What stays unused, so that an instance longer than the last ones is over in time, too. */
static uint64_t spare_of(const wtl_governor *g, const wtl_region *r)
{
  uint64_t whole = wtl_slack_least(&r->whole), most = whole / SPARE;
  uint64_t spans = wtl_slack_most(&r->whole) - whole + wtl_slack_most(&r->compute) - wtl_slack_least(&r->compute);
  uint64_t spare = SPANS * spans < most ? SPANS * spans : most;
  return spare > g->price ? spare : g->price;
}

/* What a clock follows from differs a little from instance to instance, and where the driver takes any clock, so would
 * the clock. The last one stays while it fits and is about the lowest that does; one that was too low by so little is
 * left for one with room. In millionths of the normal clock. */
static uint32_t steady(uint32_t last, uint32_t share)
{
  enum { ABOUT = WTL_CLOCK_NORMAL / 32 };
  if (last >= share && last - share <= ABOUT) return last;
  return last < share && share - last <= ABOUT ? share + ABOUT / 2 : share;
}

/* The lowest clock at which the longest computing still fits into the shortest region, were all of it bound by the
 * clock. A change stops the core, so its price is no time to compute in. */
static uint32_t stretched(const wtl_governor *g, wtl_region *r)
{
  uint64_t compute = wtl_slack_most(&r->compute), whole = wtl_slack_least(&r->whole), spare;
  if (compute == UINT64_MAX) return WTL_CLOCK_NORMAL;
  spare = spare_of(g, r);
  if (whole <= compute + worth(g) + spare) return WTL_CLOCK_NORMAL;
  uint32_t share = (uint32_t)ceil(1e6 * (double)compute / (double)(whole - spare - g->price));
  r->level = steady(r->level, share);
  return wtl_vote_rounded(&g->vote, r->level) < WTL_CLOCK_NORMAL ? r->level : WTL_CLOCK_NORMAL;
}

static uint32_t level_for(const wtl_governor *g, wtl_region *r)
{
  if (!g->acts || g->scaling != WTL_SCALING_PROACTIVE) return WTL_CLOCK_NORMAL;
  if (raises(g) && is_late(g, r)) return WTL_CLOCK_HIGHEST;
  return lowers(g) ? stretched(g, r) : WTL_CLOCK_NORMAL;
}

/* From now on it is this one's time. */
static void open_region(wtl_governor *g, wtl_region *r, uint64_t now)
{
  g->region = r;
  g->region_since = now;
  g->waited_before = wtl_governor_waited(g);
}

static void begin_region(wtl_governor *g, wtl_region *r, uint64_t now)
{
  open_region(g, r, now);
  g->has_acted = g->was_raised = g->began_by_change = g->eases = false;
  if (!r || g->is_fixed) return;
  g->acts = !is_control(r) && !g->is_broke;
  g->eases = is_control(r) && !g->is_broke && is_eased(r);
  atomic_store(&ballot(g, g->vote.slot)->late, raises(g) && is_late(g, r));
  uint32_t level = level_for(g, r);
  if (level != WTL_CLOCK_NORMAL) g->has_acted = true;
  g->level = level;
  g->began_by_change = cast(g, level, now);
}

static void take(wtl_mean *m, double ticks)
{
  double weight = fmax(1.0 / ++m->n, least_weight), off = ticks - m->mean;
  m->mean += weight * off;
  m->variance = (1 - weight) * (m->variance + weight * off * off);
}

/* How much longer an instance is with a clock changed: what of it cannot be chance, in ticks. */
static double excess(const wtl_region *r)
{
  double n = fmin(r->normal.n, WORTH), c = fmin(r->changed.n, WORTH);
  double error = sqrt(r->normal.variance * (1 / fmax(n - 1, 1) + 1 / fmax(c, 1)));
  return fmax(0, r->changed.mean - r->normal.mean - believed * error);
}

/* All that was compared is of another phase. */
static void compare_anew(wtl_region *r)
{
  r->normal = r->changed = (wtl_mean){0};
}

static void stay_away(wtl_region *r)
{
  r->last_stay = r->last_stay ? 2 * r->last_stay : STAY_FIRST;
  if (r->last_stay > STAY_MOST) r->last_stay = STAY_MOST;
  r->stay_away = r->last_stay;
  compare_anew(r);
}

static void lose(wtl_governor *g, wtl_region *r, double ticks, uint64_t now)
{
  r->lost_ticks += (uint64_t)ticks;
  charge(g, ticks, now);
}

/* An instance in which a clock was changed: was it worth it? What took longer than the user allows may be the clock's
 * doing, or the program's: the next few at the normal clock tell (settle_doubt). */
static void judge(wtl_governor *g, wtl_region *r, uint64_t whole, uint64_t slack, uint64_t now)
{
  bool keeps_others_waiting = g->level < WTL_CLOCK_NORMAL && slack <= g->price;
  double normal = r->normal.mean, lost;
  r->acted++;
  if ((double)whole < normal / 4) { /* no clock does that: another phase has begun */
    charge(g, 0, now);
    compare_anew(r);
    return;
  }
  take(&r->changed, (double)whole);
  lost = excess(r);
  if (!keeps_others_waiting && lost <= g->allowed * normal) {
    lose(g, r, lost, now);
    return;
  }
  double slowed = keeps_others_waiting ? (1 - 1e-6 * g->level) * (double)(whole - slack) : 0;
  r->doubt = (wtl_doubt){true, normal, fmax(lost, (double)whole - normal), slowed + (double)g->price};
  charge(g, 0, now);
  compare_anew(r);
}

/* Is it shorter again? Then the clock was to blame. If it is as long at the normal clock another phase has begun, and
 * only what this PE's own clock can have cost in that one instance is lost. */
static void settle_doubt(wtl_governor *g, wtl_region *r, uint64_t now)
{
  wtl_doubt d = r->doubt;
  r->doubt.is_open = false;
  if (d.lost > 0 && r->normal.mean > d.normal + d.lost / 2) {
    lose(g, r, fmin(d.lost, d.at_most), now);
  } else {
    lose(g, r, fmax(0, d.lost), now);
    stay_away(r);
  }
}

/* What it was like at the normal clock. A wait is as long at any clock, but not what is computed; and to change the
 * clock is no computing. */
static void learn(wtl_governor *g, wtl_region *r, uint64_t whole, uint64_t slack)
{
  uint64_t busy = whole - slack, change = g->began_by_change ? g->price : 0;
  if (g->level != WTL_CLOCK_NORMAL) return;
  wtl_slack_add(&r->slack, slack);
  if (g->was_raised) return;
  wtl_slack_add(&r->compute, busy > change ? busy - change : 0);
  wtl_slack_add(&r->whole, whole);
  if (!r->normal.n && g->began_by_change) return; /* the change back may have cost what is in doubt */
  if (!g->acts) take(&r->normal, (double)whole);
}

static void end_region(wtl_governor *g, uint64_t slack, uint64_t now)
{
  wtl_region *r = g->region;
  uint64_t whole = now - g->region_since;
  if (!r) return;
  if (slack > whole) slack = whole;
  r->compute_ticks += whole - slack;
  r->slack_ticks += slack;
  r->instances++;
  if (r->stay_away) r->stay_away--;
  atomic_store(&ballot(g, g->vote.slot)->slack, slack);
  g->last_whole = whole;
  if (g->is_fixed) return;
  learn(g, r, whole, slack);
  if (r->doubt.is_open && r->normal.n >= WTL_LEARN) settle_doubt(g, r, now);
  if (g->eases && g->has_acted && slack <= g->price) stay_away(r); /* others may have waited for the change back */
  if ((g->has_acted && !g->eases) || g->was_raised)
    judge(g, r, whole, slack, now);
  else
    charge(g, 0, now);
}

/* The early ones raise those that are late, once there is slack enough. */
static void raise_late(wtl_governor *g, uint64_t now)
{
  for (int i = 0; i < g->vote.n_local; i++) {
    const wtl_ballot *b = ballot(g, i);
    if (i == g->vote.slot || !atomic_load(&b->late)) continue;
    if (atomic_load(&b->phase) != (g->phase & ~1u)) continue; /* it is here already */
    wtl_vote_boost(&g->vote, i, g->phase & ~1u, WTL_CLOCK_HIGHEST, now);
    g->has_acted = true;
  }
}

/* Too short for a change of clock to be worth anything. A loop of barriers is not to be slowed down by what is learned
 * of it. */
static bool is_brief(const wtl_governor *g, uint64_t ticks)
{
  return ticks < worth(g);
}

static bool goes_by(const wtl_governor *g, const wtl_region *r)
{
  return r && !r->stay_away && g->level == WTL_CLOCK_NORMAL && is_brief(g, wtl_slack_most(&r->whole));
}

/* The next region begins, of which nothing has to be said: it was brief so far, as this one was. */
static void pass_by(wtl_governor *g, wtl_region *next, uint64_t now)
{
  wtl_region *r = g->region;
  uint64_t slack = now - g->arrived + g->region_waited;
  r->slack_ticks += slack;
  r->compute_ticks += now - g->region_since - slack;
  r->instances++;
  open_region(g, next, now);
  g->unseen = WTL_UNSEEN;
}

void wtl_governor_arrive(wtl_governor *g, uint64_t now)
{
  g->region_waited = waited_since(g, g->waited_before);
  if (g->passes_by && is_brief(g, now - g->region_since)) {
    g->in_barrier = true;
    g->arrived = now;
    return;
  }
  g->passes_by = false;
  const wtl_region *r = g->region;
  const wtl_ballot *mine = ballot(g, g->vote.slot);
  g->in_barrier = true;
  g->arrived = now;
  g->was_raised = atomic_load(&mine->boost_in) == g->phase;
  book_computing(g, g->region_since, now, g->region_waited);
  g->phase |= 1;
  wtl_vote_phase(&g->vote, g->phase, now);
  if (g->is_fixed || !r || !g->acts || g->scaling != WTL_SCALING_REACTIVE) return;
  if (wtl_slack_least(&r->slack) <= worth(g)) return;
  if (raises(g)) raise_late(g, now);
  if (lowers(g)) slow_down(g, now);
}

/* Of the barrier that was arrived at, out into the next region. */
static void go_out(wtl_governor *g, wtl_region *next, uint64_t now)
{
  g->in_barrier = false;
  g->phase++;
  wtl_vote_phase(&g->vote, g->phase, now);
  if (g->is_slow) { /* the region's level is cast below, once */
    g->is_slow = false;
    g->slow_ticks += now - g->slow_since;
  }
  if (!g->is_fixed) g->level = WTL_CLOCK_NORMAL;
  begin_region(g, next, now);
  if (!g->region || g->is_fixed) cast(g, g->level, now);
  g->passes_by = !g->is_fixed && goes_by(g, g->region);
  if (g->passes_by) atomic_store(&ballot(g, g->vote.slot)->slack, 0); /* it will say no more of it */
}

void wtl_governor_depart(wtl_governor *g, uint64_t site, uint64_t now)
{
  wtl_region *next = g->passes_by ? find_region(g, site) : NULL;
  if (next && !g->is_slow && is_brief(g, now - g->region_since) && goes_by(g, next)) {
    g->in_barrier = false;
    g->phase += 2; /* as all count */
    pass_by(g, next, now);
    return;
  }
  if (g->passes_by) g->phase |= 1; /* what arriving left out */
  end_region(g, now - g->arrived + g->region_waited, now);
  go_out(g, find_region(g, site), now);
}

/* What is not known of the last of such a row, its beginning, is left out; and all go on alike from the next. */
void wtl_governor_pass(wtl_governor *g, uint64_t site)
{
  wtl_region *r = g->region, *next = find_region(g, site);
  g->is_unseen = g->in_barrier = false;
  enter_passed(g);
  r->instances++;
  r->unseen++;
  if (g->unseen && (next == r || goes_by(g, next))) { /* unseen, it cannot have become another */
    g->phase += 2;
    if (--g->unseen)
      g->region = next;
    else
      open_region(g, next, g->clock());
    return;
  }
  g->unseen = 0;
  g->phase |= 1;
  go_out(g, next, g->clock());
}

/* Regions of the program's own do not nest in those between barriers: the innermost is the one that is governed. */
void wtl_governor_mark(wtl_governor *g, uint64_t key, bool begins, uint64_t now)
{
  enter_passed(g);
  if (!g->unseen) {
    uint64_t waited = waited_since(g, g->waited_before);
    book_computing(g, g->region_since, now, waited);
    end_region(g, waited, now);
  }
  g->unseen = 0;
  g->passes_by = false;
  begin_region(g, begins ? find_region(g, key) : NULL, now);
}
