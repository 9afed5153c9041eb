/* governor.c - learns from waits and regions, and votes for a clock at control points. */
#include "govern/governor.h"

#include <math.h>
#include <string.h>

#include "os/floats.h"
#include "os/os.h"

/* A SPARE-th part of a region stays unused at most when its computing is stretched, because instances differ. If the
 * last four differ by less, SPANS times their difference is enough: four random values span two standard deviations. */
enum { SPARE = 16, SPANS = 2 };
/* Memory-bound regions may cost this part of the user's share of time, and less once most of the budget is used up: at
 * most `cautious` times the unused part of it. So the budget is never exceeded, which would end all changes for
 * long. */
static const double spent_at_most = 15.0 / 16, cautious = 8;
/* A trial runs at least this much below the normal clock, so that its effect is larger than chance, and costs at most
 * this part of the remaining budget. */
static const double least_trial = 1.0 / 16, trial_costs = 0.5;
/* Waits that polled for more than this part of the computing spoil its counts. */
enum { POLLED_PART = 16 };
/* Below this share of computing that follows the clock, memory sets the pace. */
static const double memory_bound = 0.5;
/* So many instances with a changed clock show their usual length, if the clock changed in one of four at least. Where
 * PEs raise their clocks, those in which another PE runs controls are longer, so more than these are needed. */
enum { FEW = 3, FEW_RAISED = 2 * WTL_LEARN, PART = 4 };
/* So many instances with and without a change show how long it stops the core. */
enum { LEAST_STALLS = 2 };
/* Rounds of WTL_CONTROL instances after which a price that was learned from stalls shrinks, at most. */
enum { PRICE_STAYS_MOST = 16 };
/* A PE that keeps others waiting at a lower clock twice in so many instances has its clock chosen anew. */
enum { LATE_TWICE_IN = 8 };
/* Instances for which a region is left alone after a loss, at first and at most. */
enum { STAY_FIRST = 16, STAY_MOST = 1024 };

static bool lowers(const wtl_governor *g)
{
  return g->mode == WTL_GOVERN_ENERGY || g->mode == WTL_GOVERN_HYBRID;
}

static bool raises(const wtl_governor *g)
{
  return g->mode == WTL_GOVERN_PERFORMANCE || g->mode == WTL_GOVERN_HYBRID;
}

/* Two changes, down and up. */
static uint64_t two_changes(const wtl_governor *g)
{
  return 2 * g->price;
}

static wtl_ballot *ballot(const wtl_governor *g, int slot)
{
  return &g->vote.votes->ballot[slot];
}

/* The uncore goes down only in a barrier, where this PE does not compute and moves no bytes. */
static bool cast_both(wtl_governor *g, uint32_t share, uint64_t now)
{
  bool rests = share == WTL_CLOCK_LOWEST && g->in_barrier && !g->holds, changed = false;
  if (g->uncore.n_domains) changed = wtl_vote_cast(&g->uncore, rests ? WTL_CLOCK_LOWEST : WTL_CLOCK_NORMAL, now);
  return wtl_vote_cast(&g->vote, share, now) || changed;
}

/* The price follows the time of the writes, so that it is right under load, too. True if a clock was changed. */
static bool cast(wtl_governor *g, uint32_t share, uint64_t now)
{
  if (atomic_load(&ballot(g, g->vote.slot)->want) == share) return false;
  uint64_t before = g->clock();
  if (!cast_both(g, share, now)) return false;
  uint64_t took = g->clock() - before, price = took + g->settle;
  if (took < 10 * g->price) g->price = (7 * g->price + price) / 8; /* otherwise another thread had the core meanwhile */
  return true;
}

static uint64_t real_clock(void)
{
  return wtl_ticks();
}

void wtl_governor_start(wtl_governor *g, const wtl_settings *settings, uint64_t price, uint64_t settle, uint32_t clock,
                        uint64_t now)
{
  wtl_governor given = *g;
  memset(g, 0, sizeof *g);
  g->vote = given.vote;
  g->uncore = given.uncore;
  g->waited = given.waited;
  g->nodes = fmax(given.nodes, 1);
  g->count = given.count;
  g->count_arg = given.count_arg;
  g->watts = given.watts;
  g->moment = (uint64_t)(WTL_MOMENT_NS / wtl_clock_ns_per_tick());
  g->clock = real_clock;
  g->mode = (enum wtl_govern_mode)settings->govern.number;
  g->scaling = (enum wtl_scaling)settings->scaling.number;
  g->reacts = g->scaling == WTL_SCALING_REACTIVE;
  g->allowed = (double)settings->slowdown.number / 100;
  g->price = price;
  g->settle = g->least_settle = settle;
  g->price_stays = 1;
  g->is_fixed = clock != 0;
  g->level = clock ? clock : WTL_CLOCK_NORMAL;
  g->started = now;
  g->phase = atomic_load(&ballot(g, g->vote.slot)->phase);
  cast(g, g->level, now);
}

uint64_t wtl_governor_waited(const wtl_governor *g)
{
  uint64_t sum = g->unrecorded;
  for (int stage = 0; stage < WTL_N_STAGES; stage++)
    sum += atomic_load_explicit(&g->waited[stage], memory_order_relaxed);
  return sum;
}

/* The door's account restarts when the program's account does. */
static uint64_t waited_since(const wtl_governor *g, uint64_t before)
{
  uint64_t waited = wtl_governor_waited(g);
  return waited > before ? waited - before : 0;
}

/* Adds computing at another clock, from `from` to `to` without the ticks waited meanwhile. */
static void record_computing(wtl_governor *g, uint64_t from, uint64_t to, uint64_t waited)
{
  uint64_t since;
  double clock = wtl_vote_clock(&g->vote, &since);
  if (clock == 1) return;
  uint64_t begin = since > from ? since : from, ticks = to > begin ? to - begin : 0;
  ticks = ticks > waited ? ticks - waited : 0;
  g->off.computed += ticks;
  g->off.computed_clock += clock * (double)ticks;
}

void wtl_governor_record_pause(wtl_governor *g, enum wtl_stage stage, uint64_t from, uint64_t to)
{
  WTL_FLOATS_APART;
  uint64_t since;
  double clock = wtl_vote_clock(&g->vote, &since);
  if (clock == 1) return;
  uint64_t begin = since > from ? since : from, ticks = to > begin ? to - begin : 0;
  g->off.waited[stage] += ticks;
  g->off.waited_clock += clock * (double)ticks;
}

/* Adds the counted barriers to the region of which they are instances. */
static void add_skipped(wtl_governor *g)
{
  if (!g->skipped) return;
  g->region->instances += g->skipped;
  g->region->unseen += g->skipped;
  g->phase += 2 * g->skipped; /* all PEs count equally */
  g->skipped = 0;
}

void wtl_governor_stop(wtl_governor *g, uint64_t now)
{
  WTL_FLOATS_APART;
  add_skipped(g);
  atomic_store(&ballot(g, g->vote.slot)->late, 0);
  record_computing(g, g->region_since, now, waited_since(g, g->waited_before));
  cast(g, WTL_CLOCK_NORMAL, now);
}

static void speed_up(wtl_governor *g, uint64_t now)
{
  if (!g->is_slow) return;
  g->is_slow = false;
  g->slow_ticks += now - g->slow_since;
  cast(g, g->level, now);
}

/* The loss that this PE has found and the loss that other PEs of its node have caused count against the budget. Where
 * late PEs are raised, their gain pays for the latter. */
static double lost_so_far(const wtl_governor *g)
{
  if (raises(g)) return g->lost;
  return g->lost + (double)(atomic_load(&g->vote.votes->caused) - g->caused);
}

static double left_to_lose(const wtl_governor *g, uint64_t now)
{
  return g->allowed * (double)(now - g->started) - lost_so_far(g);
}

static void charge(wtl_governor *g, double ticks, uint64_t now)
{
  double budget = g->allowed * (double)(now - g->started);
  g->lost += ticks;
  if (lost_so_far(g) > budget) g->is_broke = true;
  if (lost_so_far(g) <= budget / 2) g->is_broke = false;
}

/* Charges a loss that this PE's own clock has caused, to the other PEs of the node as well: all of them wait. Losses by
 * PEs of other nodes are not known here. They are taken to be as frequent, so each loss counts once for each node. */
static void cause(wtl_governor *g, double ticks, uint64_t now)
{
  ticks *= g->nodes;
  g->caused += (uint64_t)ticks;
  atomic_fetch_add(&g->vote.votes->caused, (uint64_t)ticks);
  charge(g, ticks, now);
}

static void slow_down(wtl_governor *g, uint64_t now)
{
  if (g->is_slow) return;
  g->is_slow = g->has_acted = true;
  g->slow_since = now;
  g->unseen = 0;                                              /* the region is not a short one */
  if (g->began_short) charge(g, (double)two_changes(g), now); /* its effect on a row of short ones is not measured */
  cast(g, WTL_CLOCK_LOWEST, now);
}

/* Without a region the effect of a change is unknown and counts as its price. So much must have been earned first. */
static bool can_pay(const wtl_governor *g, uint64_t now)
{
  return !g->is_broke && (double)g->price <= left_to_lose(g, now);
}

/* The number of calls of a site in a row, up to the one before this, that waited long. */
static unsigned row_of(const wtl_site *s)
{
  return s->long_row && (uint16_t)(s->long_at + 1) == (uint16_t)s->calls ? s->long_row : 0;
}

/* Only the first long wait of a call counts. */
static void enter_long(wtl_site *s)
{
  if (s->long_row && s->long_at == (uint16_t)s->calls) return;
  unsigned row = row_of(s) + 1;
  s->long_row = (uint16_t)(row < WTL_SLACK_RECENT ? row : WTL_SLACK_RECENT);
  s->long_at = (uint16_t)s->calls;
}

/* The last four calls waited long. One short call, however short, ends this. */
static bool will_be_long(const wtl_site *s)
{
  return s->addr && row_of(s) == WTL_SLACK_RECENT;
}

/* True if a wait may lower the clock: with reactive scaling unless something forbids it now, with proactive scaling
 * while it learns. */
static bool reacts(const wtl_governor *g, uint64_t now)
{
  if (g->is_fixed || !lowers(g)) return false;
  if (!g->reacts) return g->region && g->lowers_waits;
  if (g->began_short) return !g->is_broke;
  return g->region ? g->acts : can_pay(g, now);
}

/* After how many ticks in a barrier the clock goes down in any instance: then one change costs at most the user's share
 * of that time. UINT64_MAX: never. The first control after a suspicion must not begin by a change. */
static uint64_t endured(const wtl_governor *g, uint64_t now)
{
  const wtl_region *r = g->region;
  bool may = !g->is_fixed && lowers(g) && g->in_barrier && r && (r->normal.n || !r->instances) && can_pay(g, now);
  if (!may || g->allowed <= 0) return UINT64_MAX;
  return (uint64_t)((double)g->price / g->allowed) + two_changes(g);
}

uint64_t wtl_governor_wait(wtl_governor *g, const wtl_site *site, uint64_t since)
{
  WTL_FLOATS_APART;
  bool at_once = reacts(g, since);
  uint64_t waited = 0, worth = at_once ? two_changes(g) : endured(g, since);
  if (g->is_slow || worth == UINT64_MAX) return UINT64_MAX;
  if (g->is_unseen) return worth;
  if (g->in_barrier) /* several waits of one barrier are one */
    waited = since > g->arrived ? since - g->arrived : 0;
  else if (will_be_long(site))
    return 0;
  return waited >= worth ? 0 : worth - waited;
}

void wtl_governor_slack(wtl_governor *g, uint64_t now)
{
  WTL_FLOATS_APART;
  slow_down(g, now);
}

void wtl_governor_continue(wtl_governor *g, wtl_site *site, uint64_t since, uint64_t now)
{
  WTL_FLOATS_APART;
  bool is_long = now - since > two_changes(g);
  if (g->is_unseen && is_long) g->unseen = 0;
  if (g->in_barrier) return;
  if (is_long) enter_long(site);
  if (g->holds) return;
  if (g->is_slow && !g->region) charge(g, (double)g->price, now);
  speed_up(g, now);
}

void wtl_governor_hold(wtl_governor *g, uint64_t now)
{
  WTL_FLOATS_APART;
  g->holds = true;
  slow_down(g, now);
}

void wtl_governor_release(wtl_governor *g, uint64_t now)
{
  WTL_FLOATS_APART;
  g->holds = false;
  speed_up(g, now);
}

uint64_t wtl_governor_worth(const wtl_governor *g)
{
  return two_changes(g);
}

void wtl_governor_continue_unrecorded(wtl_governor *g, wtl_site *site, uint64_t since, uint64_t now)
{
  WTL_FLOATS_APART;
  g->unrecorded += now - since;
  wtl_governor_continue(g, site, since, now);
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

/* True for a control instance, which runs at the normal clock to learn and to compare. Controls are frequent while
 * little is known and rare later, because they save nothing. All PEs count equally, so all run them in the same
 * instance. */
static bool is_control(const wtl_region *r)
{
  bool compares = r->instances == WTL_CONTROL_FIRST || r->instances % WTL_CONTROL == 0;
  return r->normal.n < WTL_LEARN || compares || r->stay_away > 0;
}

/* True for a control instance whose wait is not compared and may run at the lowest clock. Its computing runs at the
 * normal clock. Not the first and the last of the learning instances, and not after a loss or a suspicion. */
static bool may_lower_waits(const wtl_region *r)
{
  bool learns = r->normal.n > 0 && r->normal.n + 1 < WTL_LEARN;
  return !r->last_stay && !r->suspicion.is_open && (learns || r->instances == WTL_CONTROL_FIRST);
}

static unsigned wait_class(const wtl_governor *g, int slot)
{
  uint64_t slack = atomic_load(&ballot(g, slot)->slack);
  if (slack <= two_changes(g)) return WTL_WAITS_NOT;
  return slack > g->last_whole / WTL_WAITS_SHARE ? WTL_WAITS_MUCH : WTL_WAITS_LONG;
}

/* The greatest wait class of the node's PEs without that of local rank `but` (-1: of all). */
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

/* True if this PE hardly waits and others wait for it, on this node or on another one (far_waits): it waits at most for
 * one change of clock, or, where others wait for much of the region, at most for a small part of it. A put that waits
 * until another node's agent is awake does not make a PE early. */
static bool is_late(const wtl_governor *g, const wtl_region *r)
{
  uint64_t slack = wtl_slack_most(&r->slack);
  unsigned others = most_waits(g, g->vote.slot), far = atomic_load(&g->vote.votes->far_waits);
  if (far > others) others = far;
  if (slack <= g->price) return others >= WTL_WAITS_LONG;
  return slack <= wtl_slack_least(&r->whole) / SPARE && others == WTL_WAITS_MUCH;
}

/* The ticks that stay unused, so that an instance longer than the last ones also ends in time. */
static uint64_t spare_of(const wtl_governor *g, const wtl_region *r)
{
  uint64_t whole = wtl_slack_least(&r->whole), most = whole / SPARE;
  uint64_t spans = wtl_slack_most(&r->whole) - whole + wtl_slack_most(&r->compute) - wtl_slack_least(&r->compute);
  uint64_t spare = SPANS * spans < most ? SPANS * spans : most;
  return spare > g->price ? spare : g->price;
}

/* The computed share differs a little in each instance, and so would the clock where the driver takes any. So the last
 * clock stays while it suffices and is close to the lowest that does. A clock slightly too low is replaced by one with
 * a margin. In millionths of the normal clock. */
static uint32_t steady(uint32_t last, uint32_t share)
{
  enum { ABOUT = WTL_CLOCK_NORMAL / 32 };
  if (last >= share && last - share <= ABOUT) return last;
  return last < share && share - last <= ABOUT ? share + ABOUT / 2 : share;
}

/* In millionths, and not above the normal clock. */
static uint32_t share_of(double clock)
{
  return clock < 1 ? (uint32_t)ceil(1e6 * clock) : WTL_CLOCK_NORMAL;
}

/* The lowest clock at which an instance that computes for `longest` would not lose more than is left to lose. */
static double prudent(const wtl_governor *g, const wtl_region *r, double longest, uint64_t now)
{
  double left = fmax(left_to_lose(g, now), 0), more = fmax(longest - (double)wtl_slack_most(&r->compute), 0);
  return more > 0 ? more / (more + left) : 0;
}

/* The lowest clock at which the longest computing fits into the shortest region, and at which an instance as long as
 * the longest of a while can be paid. An instance of a region that is not regular may become as long as the longest of
 * any region. If that cannot be paid, only waits are lowered. Computing that is not known to be bound by memory is
 * taken to follow the clock. A change stops the core, so its price is not time for computing. */
static uint32_t stretched(const wtl_governor *g, const wtl_region *r, uint64_t now)
{
  uint64_t compute = wtl_slack_most(&r->compute), whole = wtl_slack_least(&r->whole), spare = spare_of(g, r);
  if (whole <= compute + two_changes(g) + spare) return WTL_CLOCK_NORMAL;
  double longest = (double)(whole - spare - g->price) / (double)compute, follows = wtl_intensity_follows(&r->intensity);
  double trusted = follows < 1 ? wtl_intensity_trusted(&r->intensity) : 0;
  double clock = fmax(fmax(wtl_intensity_clock(follows, longest), trusted), prudent(g, r, r->longest, now));
  bool can_be_paid = wtl_extent_is_regular(&r->extent) || prudent(g, r, g->longest, now) <= clock;
  return can_be_paid ? share_of(clock) : WTL_CLOCK_NORMAL;
}

/* Two changes of clock, unless the region follows itself and keeps its clock. */
static double changes_of(const wtl_governor *g, const wtl_region *r)
{
  return r->repeats ? 0 : (double)two_changes(g);
}

static bool is_memory_bound(const wtl_region *r)
{
  return wtl_intensity_follows(&r->intensity) <= memory_bound;
}

/* The longest time of a region without slack, relative to that at the normal clock, if it must also pay for its changes
 * of clock. At most 1: it cannot be lowered. */
static double longest_of(const wtl_governor *g, const wtl_region *r, uint64_t now)
{
  double budget = g->allowed * (double)(now - g->started), unused = budget > 0 ? left_to_lose(g, now) / budget : 0;
  double part = fmin(spent_at_most, cautious * unused);
  return 1 + part * g->allowed - changes_of(g, r) / (double)wtl_slack_most(&r->compute);
}

/* The clock of least energy that costs a region without slack no more than its part of the user's share of time. Where
 * the watts are not known, only regions bound by memory are certain to gain. */
static uint32_t spent(const wtl_governor *g, const wtl_region *r, uint64_t now)
{
  double follows = wtl_intensity_follows(&r->intensity), longest = longest_of(g, r, now);
  if (longest <= 1 || follows >= 1 || (!g->watts.n && !is_memory_bound(r))) return WTL_CLOCK_NORMAL;
  double least = fmax(wtl_intensity_clock(follows, longest), wtl_intensity_trusted(&r->intensity));
  return wtl_clocks_watts_best(&g->watts, follows, share_of(least));
}

/* The clock of a trial; the normal one if none is wanted, or none can be paid yet. */
static uint32_t trial(const wtl_governor *g, const wtl_region *r, uint64_t now)
{
  if (!wtl_intensity_wants_trial(&r->intensity) || longest_of(g, r, now) <= 1) return WTL_CLOCK_NORMAL;
  double compute = (double)wtl_slack_most(&r->compute), left = left_to_lose(g, now);
  double room = trial_costs * left - changes_of(g, r);
  uint32_t share = room > 0 ? share_of(compute / (compute + room)) : WTL_CLOCK_NORMAL;
  return wtl_vote_rounded(&g->vote, share) <= share_of(1 - least_trial) ? share : WTL_CLOCK_NORMAL;
}

/* The clock at which a region computes if it is lowered. */
static uint32_t lowered(wtl_governor *g, wtl_region *r, uint64_t now)
{
  if (wtl_slack_most(&r->compute) == UINT64_MAX) return WTL_CLOCK_NORMAL;
  uint32_t in_time = stretched(g, r, now), share = in_time;
  if (g->count && in_time == WTL_CLOCK_NORMAL) {
    share = trial(g, r, now);
    g->tries = share < in_time;
  }
  if (g->count && !g->tries) {
    uint32_t costs = spent(g, r, now);
    g->spends = wtl_vote_rounded(&g->vote, costs) < wtl_vote_rounded(&g->vote, in_time);
    if (g->spends) share = costs;
  }
  if (share == WTL_CLOCK_NORMAL) return share;
  r->level = g->spends && g->watts.n ? share : steady(r->level, share); /* the former is a clock of the driver */
  return wtl_vote_rounded(&g->vote, r->level) < WTL_CLOCK_NORMAL ? r->level : WTL_CLOCK_NORMAL;
}

static uint32_t level_for(wtl_governor *g, wtl_region *r, uint64_t now)
{
  if (!g->acts || g->scaling != WTL_SCALING_PROACTIVE) return WTL_CLOCK_NORMAL;
  if (raises(g) && is_late(g, r) && !is_memory_bound(r)) return WTL_CLOCK_HIGHEST;
  return lowers(g) ? lowered(g, r, now) : WTL_CLOCK_NORMAL;
}

/* ---- counters ---- */

static uint64_t polled(const wtl_governor *g)
{
  return g->unrecorded + atomic_load_explicit(&g->waited[WTL_STAGE_SPIN], memory_order_relaxed) +
         atomic_load_explicit(&g->waited[WTL_STAGE_YIELD], memory_order_relaxed);
}

static bool is_brief(const wtl_governor *g, uint64_t ticks);

/* Reading the counters is a system call, which a short region cannot afford. */
static void begin_counting(wtl_governor *g, const wtl_region *r)
{
  bool useful = g->count && lowers(g) && g->scaling == WTL_SCALING_PROACTIVE;
  g->has_counted = false;
  g->counts = useful && !is_brief(g, wtl_slack_most(&r->whole)) && g->count(g->count_arg, &g->counted);
  g->polled = polled(g);
}

/* The computing of this instance has ended, or is interrupted by a barrier. */
static void end_counting(wtl_governor *g)
{
  wtl_counts now, *c = &g->counted;
  if (!g->counts || !g->count(g->count_arg, &now)) return;
  *c = (wtl_counts){now.instructions - c->instructions, now.cycles - c->cycles, now.misses - c->misses};
  uint64_t all = polled(g);
  g->polled = all > g->polled ? all - g->polled : 0;
  g->counts = false;
  g->has_counted = true;
}

/* The time from now on belongs to `r`. */
static void open_region(wtl_governor *g, wtl_region *r, uint64_t now)
{
  g->region = r;
  g->region_since = now;
  g->waited_before = wtl_governor_waited(g);
}

static void begin_region(wtl_governor *g, wtl_region *r, uint64_t now)
{
  if (r) r->repeats = g->region == r;
  open_region(g, r, now);
  g->has_acted = g->was_raised = g->began_by_change = g->lowers_waits = false;
  g->spends = g->tries = g->counts = g->has_counted = g->began_short = false;
  g->reacts = g->scaling == WTL_SCALING_REACTIVE;
  if (g->is_fixed) return;
  if (!r) { /* after a region that the program marks */
    g->level = WTL_CLOCK_NORMAL;
    cast(g, g->level, now);
    return;
  }
  g->acts = !is_control(r) && !g->is_broke;
  g->lowers_waits = is_control(r) && !g->is_broke && may_lower_waits(r);
  atomic_store(&ballot(g, g->vote.slot)->late, raises(g) && is_late(g, r));
  uint32_t level = level_for(g, r, now);
  if (level != WTL_CLOCK_NORMAL) g->has_acted = true;
  g->level = level;
  if (g->acts && level == WTL_CLOCK_NORMAL && !wtl_extent_is_regular(&r->extent)) g->reacts = true;
  g->began_by_change = cast(g, level, now);
  begin_counting(g, r);
}

/* The number of values that are kept. */
static uint32_t known(const wtl_usual *u)
{
  return u->n < WTL_USUAL_OF ? u->n : WTL_USUAL_OF;
}

/* True if the instances that may change the clock show their usual length. */
static bool is_known(const wtl_governor *g, const wtl_region *r)
{
  return r->changed.n >= (raises(g) ? FEW_RAISED : FEW);
}

/* By how many ticks an instance with a changed clock is usually longer, beyond what chance explains. 0 while too few
 * are known, or too few had their clock changed to move the usual length. */
static double excess(const wtl_governor *g, const wtl_region *r)
{
  uint32_t n = known(&r->changed);
  bool shows = is_known(g, r) && (uint32_t)__builtin_popcount(r->acts & ((1u << n) - 1)) * PART >= n;
  return shows ? wtl_usual_excess(&r->changed, &r->normal) : 0;
}

/* Drops all comparisons, which belong to another phase. */
static void compare_anew(wtl_region *r)
{
  r->normal = r->changed = r->plain = r->after = (wtl_usual){0};
  r->acts = r->late = 0;
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

static void lose_own(wtl_governor *g, wtl_region *r, double ticks, uint64_t now)
{
  r->lost_ticks += (uint64_t)ticks;
  cause(g, ticks, now);
}

/* The part of this instance's time by which this PE's clock can have kept others waiting, at most. */
static double kept_waiting(wtl_governor *g, wtl_region *r, uint64_t whole, uint64_t slack, double normal)
{
  double stalled = g->began_by_change && g->price > slack ? (double)(g->price - slack) : 0;
  double slowed = (1 - 1e-6 * g->level) * (double)(whole - slack) + (double)g->price;
  bool keeps = g->level < WTL_CLOCK_NORMAL && slack <= g->price && !g->spends;
  r->late = r->late << 1 | keeps;
  if (!keeps && g->level == WTL_CLOCK_NORMAL && !raises(g)) return stalled;
  return fmin(fmax(0, (double)whole - normal), keeps ? slowed : stalled);
}

/* How long a change of clock stops the core, by the usual computing after a change and without one. So a change that
 * costs more than was measured at the start is noticed by what it does to the program. */
static double stall_of(const wtl_region *r)
{
  if (r->after.n < LEAST_STALLS || r->plain.n < LEAST_STALLS) return 0;
  return fmax(wtl_usual_excess(&r->after, &r->plain), wtl_usual_shift(&r->after, &r->plain));
}

/* An instance that may have changed the clock, and what the last such instances show. In ticks. */
typedef struct judged {
  uint64_t whole, slack;
  bool has_changed;
  double normal; /* usual length at the normal clock */
  double longer; /* the usual excess over that */
  double late;   /* the time by which this PE kept others waiting in this instance, at most */
  double stall;  /* the time for which a change stops the core */
  bool is_long, stalls, late_twice;
} judged;

static judged compare(wtl_governor *g, wtl_region *r, judged j)
{
  j.longer = excess(g, r);
  j.late = kept_waiting(g, r, j.whole, j.slack, j.normal);
  j.stall = stall_of(r);
  j.is_long = j.longer > g->allowed * j.normal;
  j.stalls = j.stall > (double)g->price;
  j.late_twice = __builtin_popcount(r->late & ((1u << LATE_TWICE_IN) - 1)) >= 2;
  return j;
}

/* Opens a suspicion: the next few instances run at the normal clock (settle_suspicion). */
static void suspect(wtl_governor *g, wtl_region *r, const judged *j, uint64_t now)
{
  r->suspicion = (wtl_suspicion){.is_open = true,
                                 .is_of_length = j->is_long || j->late_twice,
                                 .normal = j->normal,
                                 .longer = r->late & 1 ? fmax(j->longer, (double)j->whole - j->normal) : j->longer,
                                 .lost = j->is_long ? (known(&r->changed) + j->has_changed) * j->longer : 0,
                                 .at_most = j->late + (double)g->price};
  if (j->stalls) {
    r->suspicion.plain = wtl_usual_mean(&r->plain);
    r->suspicion.stall = j->stall;
    r->suspicion.stalled = known(&r->after) * fmax(j->stall - fmax((double)g->price, (double)j->slack), 0);
  }
  charge(g, 0, now);
  compare_anew(r);
}

/* Judges an instance that may have changed the clock. If such instances are longer than the user allows, the cause is
 * the clock or the program. */
static void judge(wtl_governor *g, wtl_region *r, uint64_t whole, uint64_t slack, uint64_t now)
{
  double normal = wtl_usual_mean(&r->normal), change = g->spends && g->began_by_change ? (double)g->price : 0;
  bool has_changed = g->has_acted || g->was_raised;
  r->acted += has_changed;
  if (g->spends) g->bound_ticks += whole - slack;
  if (g->tries) {
    lose(g, r, fmax(0, (double)whole - normal), now);
    return;
  }
  wtl_usual_add(&r->changed, (double)whole - change); /* which it had not to pay if it followed itself */
  r->acts = r->acts << 1 | has_changed;
  judged j = compare(g, r, (judged){.whole = whole, .slack = slack, .has_changed = has_changed, .normal = normal});
  if (is_known(g, r) && wtl_usual_mean(&r->changed) < normal / 2) { /* no clock explains that: another phase */
    lose_own(g, r, j.late, now);
    compare_anew(r);
    return;
  }
  if (!j.is_long) {
    lose_own(g, r, j.late, now);
    lose(g, r, fmax(j.longer - j.late, 0) + change, now);
    if (!j.stalls && !j.late_twice) return;
  }
  suspect(g, r, &j, now);
}

/* If the region is shorter again, the clock was the cause. If it is as long at the normal clock, another phase has
 * begun, and only the part that this PE's own clock can explain in one instance counts as lost. */
static void settle_suspicion(wtl_governor *g, wtl_region *r, uint64_t now)
{
  wtl_suspicion d = r->suspicion;
  r->suspicion.is_open = false;
  if (d.stall > (double)g->price && wtl_usual_mean(&r->plain) <= d.plain + d.stall / 2) {
    g->settle += (uint64_t)d.stall - g->price;
    g->price = (uint64_t)d.stall;
    g->price_stays = g->price_stays < PRICE_STAYS_MOST ? 2 * g->price_stays : PRICE_STAYS_MOST;
    lose_own(g, r, d.stalled, now);
  }
  if (!d.is_of_length) return;
  if (d.longer > 0 && wtl_usual_mean(&r->normal) > d.normal + d.longer / 2) {
    lose(g, r, fmin(d.lost, d.at_most), now);
  } else {
    lose(g, r, d.lost, now);
    stay_away(r);
  }
}

/* A longer price than at the start may have been chance, or of another phase. So it shrinks slowly, and is learned
 * again if that was wrong: the more often, the more slowly. */
static void doubt_price(wtl_governor *g, const wtl_region *r)
{
  uint64_t less = g->settle > g->least_settle ? (g->settle - g->least_settle) / 8 : 0;
  if (r->instances % (WTL_CONTROL * g->price_stays) || less >= g->price) return;
  g->settle -= less;
  g->price -= less;
}

/* Learns from an instance at the normal clock. A wait is as long at any clock, but computing is not; and a change of
 * clock is not computing. */
static void learn(wtl_governor *g, wtl_region *r, uint64_t whole, uint64_t slack)
{
  uint64_t busy = whole - slack, change = g->began_by_change ? g->price : 0;
  if (g->level != WTL_CLOCK_NORMAL) return;
  wtl_slack_add(&r->slack, slack);
  if (g->was_raised) return;
  wtl_usual_add(g->began_by_change ? &r->after : &r->plain, (double)busy);
  wtl_slack_add(&r->compute, busy > change ? busy - change : 0);
  wtl_slack_add(&r->whole, whole);
  if (!r->normal.n && g->began_by_change) return; /* the change back may be part of the suspicion */
  if (!g->acts) wtl_usual_add(&r->normal, (double)whole);
}

/* Learns from the counters how the computing of this instance depends on the clock. False if the program has entered
 * another phase: its loss is at most what the lower clock can have cost, and the region is learned anew. */
static bool learn_intensity(wtl_governor *g, wtl_region *r, uint64_t busy, uint64_t now)
{
  uint64_t change = g->began_by_change ? g->price : 0, ticks = busy > change ? busy - change : 0;
  if (!g->has_counted || g->polled > busy / POLLED_PART || g->was_raised) return true;
  double ns = (double)ticks * wtl_clock_ns_per_tick();
  if (g->level == WTL_CLOCK_NORMAL) wtl_intensity_add_normal(&r->intensity, &g->counted, ns);
  if (g->level >= WTL_CLOCK_NORMAL || wtl_intensity_add_lowered(&r->intensity, &g->counted, ns)) return true;
  r->intensity = (wtl_intensity){0};
  lose(g, r, g->spends || g->tries ? (1 - 1e-6 * g->level) * (double)busy : 0, now);
  compare_anew(r);
  return false;
}

/* True if this instance is compared with controls. Each that may change the clock is, once one has: it is the longer
 * instances that have waits to change it in. */
static bool is_compared(const wtl_governor *g, const wtl_region *r)
{
  return g->was_raised || (g->acts && !g->began_short && (g->has_acted || r->changed.n));
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
  doubt_price(g, r);
  atomic_store(&ballot(g, g->vote.slot)->slack, slack);
  g->last_whole = whole;
  double computed = fmin(1e-6 * g->level, 1) * (double)(whole - slack);
  r->longest = fmax(r->longest * (1 - 1.0 / WTL_CONTROL), computed);
  g->longest = fmax(g->longest, computed);
  wtl_extent_add(&r->extent, (double)whole);
  if (g->is_fixed) return;
  if (!learn_intensity(g, r, whole - slack, now)) return;
  learn(g, r, whole, slack);
  if (r->suspicion.is_open && r->normal.n >= WTL_LEARN) settle_suspicion(g, r, now);
  if (g->lowers_waits && g->has_acted && slack <= g->price)
    stay_away(r); /* others may have waited for the change back */
  if (is_compared(g, r))
    judge(g, r, whole, slack, now);
  else
    charge(g, g->has_acted && !g->began_short && !g->lowers_waits ? (double)g->price : 0, now);
}

/* An early PE with enough slack raises the late ones. */
static void raise_late(wtl_governor *g, uint64_t now)
{
  for (int i = 0; i < g->vote.n_local; i++) {
    const wtl_ballot *b = ballot(g, i);
    if (i == g->vote.slot || !atomic_load(&b->late)) continue;
    if (atomic_load(&b->phase) != (g->phase & ~1u)) continue; /* it has arrived already */
    wtl_vote_boost(&g->vote, i, g->phase & ~1u, WTL_CLOCK_HIGHEST, now);
    g->has_acted = true;
  }
}

/* Too short for any change of clock. A loop of barriers must not be slowed down by learning. */
static bool is_brief(const wtl_governor *g, uint64_t ticks)
{
  return ticks < two_changes(g);
}

static bool may_skip(const wtl_governor *g, const wtl_region *r)
{
  return r && !r->stay_away && g->level == WTL_CLOCK_NORMAL && is_brief(g, wtl_slack_most(&r->whole));
}

/* Begins the next region without learning: it was short so far, and so was this one. */
static void skip(wtl_governor *g, wtl_region *next, uint64_t now)
{
  wtl_region *r = g->region;
  uint64_t slack = now - g->arrived + g->region_waited;
  r->slack_ticks += slack;
  r->compute_ticks += now - g->region_since - slack;
  r->instances++;
  wtl_extent_add(&r->extent, (double)(now - g->region_since));
  open_region(g, next, now);
  g->unseen = WTL_UNSEEN;
}

void wtl_governor_arrive(wtl_governor *g, uint64_t now)
{
  WTL_FLOATS_APART;
  g->region_waited = waited_since(g, g->waited_before);
  if (g->skips && is_brief(g, now - g->region_since)) {
    g->in_barrier = true;
    g->arrived = now;
    return;
  }
  g->skips = false;
  const wtl_region *r = g->region;
  const wtl_ballot *mine = ballot(g, g->vote.slot);
  g->in_barrier = true;
  g->arrived = now;
  end_counting(g);
  g->was_raised = atomic_load(&mine->boost_in) == g->phase;
  record_computing(g, g->region_since, now, g->region_waited);
  g->phase |= 1;
  wtl_vote_phase(&g->vote, g->phase, now);
  if (g->is_fixed || !r || !g->acts || !g->reacts) return;
  if (wtl_slack_least(&r->slack) <= two_changes(g)) return;
  if (raises(g) && g->scaling == WTL_SCALING_REACTIVE) raise_late(g, now);
  if (lowers(g)) slow_down(g, now);
}

/* Leaves the barrier into the next region. */
static void leave_barrier(wtl_governor *g, wtl_region *next, uint64_t now)
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
  if (g->is_fixed) cast(g, g->level, now);
  g->skips = !g->is_fixed && may_skip(g, g->region);
  g->began_short = g->skips;
  if (g->skips) atomic_store(&ballot(g, g->vote.slot)->slack, 0); /* it will not report it any more */
}

void wtl_governor_depart(wtl_governor *g, uint64_t site, uint64_t now)
{
  WTL_FLOATS_APART;
  wtl_region *next = g->skips ? find_region(g, site) : NULL;
  if (next && !g->is_slow && is_brief(g, now - g->region_since) && may_skip(g, next)) {
    g->in_barrier = false;
    g->phase += 2; /* all PEs count equally */
    skip(g, next, now);
    return;
  }
  if (g->skips) g->phase |= 1; /* which arriving left out */
  end_region(g, now - g->arrived + g->region_waited, now);
  leave_barrier(g, find_region(g, site), now);
}

/* The last barrier of such a row has no known beginning, so it is only counted. The next region is the same for all
 * PEs. */
void wtl_governor_leave_counted(wtl_governor *g, uint64_t site)
{
  WTL_FLOATS_APART;
  wtl_region *r = g->region, *next = find_region(g, site);
  g->is_unseen = g->in_barrier = false;
  add_skipped(g);
  r->instances++;
  r->unseen++;
  if (g->unseen && (next == r || may_skip(g, next))) { /* only counted, it cannot have changed */
    g->phase += 2;
    if (--g->unseen)
      g->region = next;
    else
      open_region(g, next, g->clock());
    return;
  }
  g->unseen = 0;
  g->phase |= 1;
  leave_barrier(g, next, g->clock());
}

/* A region that the program marks does not nest in one between barriers. The innermost one is governed. */
void wtl_governor_mark(wtl_governor *g, uint64_t key, bool begins, uint64_t now)
{
  WTL_FLOATS_APART;
  add_skipped(g);
  if (!g->unseen) {
    uint64_t waited = waited_since(g, g->waited_before);
    record_computing(g, g->region_since, now, waited);
    end_counting(g);
    end_region(g, waited, now);
  }
  g->unseen = 0;
  g->skips = false;
  begin_region(g, begins ? find_region(g, key) : NULL, now);
}
