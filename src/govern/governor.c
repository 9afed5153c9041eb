/* governor.c - learns from waits and regions, and votes for a clock at control points. */
#include <math.h>
#include <string.h>

#include "govern/governor_parts.h"
#include "os/floats.h"
#include "os/os.h"

/* The uncore goes down only in a barrier, where this PE does not compute and moves no bytes. */
static bool cast_both(wtl_governor *g, uint32_t share, uint64_t now)
{
  bool rests = share == WTL_CLOCK_LOWEST && g->in_barrier && !g->moves && !g->holds, changed = false;
  if (g->uncore.n_domains) changed = wtl_vote_cast(&g->uncore, rests ? WTL_CLOCK_LOWEST : WTL_CLOCK_NORMAL, now);
  return wtl_vote_cast(&g->vote, share, now) || changed;
}

/* The price follows the time of the writes, so that it is right under load, too. True if a clock was changed. */
static bool cast(wtl_governor *g, uint32_t share, uint64_t now)
{
  if (atomic_load(&wtl_governor_ballot(g, g->vote.slot)->want) == share) return false;
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
  g->unheard = fmax(given.unheard, 1);
  g->count = given.count;
  g->count_arg = given.count_arg;
  g->watts = given.watts;
  g->power = given.power;
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
  g->phase = atomic_load(&wtl_governor_ballot(g, g->vote.slot)->phase);
  cast(g, g->level, now);
  if (g->power) wtl_governor_watch_start(g, now);
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
  atomic_store(&wtl_governor_ballot(g, g->vote.slot)->late, 0);
  record_computing(g, g->region_since, now, waited_since(g, g->waited_before));
  cast(g, WTL_CLOCK_NORMAL, now);
}

/* The vote for the lowest clock ends. The clock may have stayed up by the vote of another PE, or because it cannot be
 * set. */
static void end_slack(wtl_governor *g, uint64_t now)
{
  g->is_slow = false;
  if (!wtl_vote_is_normal(&g->vote)) g->slow_ticks += now - g->slow_since;
}

static void speed_up(wtl_governor *g, uint64_t now)
{
  if (!g->is_slow) return;
  end_slack(g, now);
  cast(g, g->level, now);
}

static void slow_down(wtl_governor *g, uint64_t now)
{
  if (g->is_slow) return;
  g->is_slow = g->has_acted = true;
  g->slow_since = now;
  g->unseen = 0; /* the region is not a short one */
  if (g->began_short)
    wtl_budget_charge(g, (double)wtl_governor_two_changes(g),
                      now); /* its effect on a row of short ones is not measured */
  cast(g, WTL_CLOCK_LOWEST, now);
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
  if (g->is_fixed || !wtl_governor_lowers(g)) return false;
  if (!g->reacts) return g->region && g->lowers_waits;
  if (g->began_short) return !g->is_broke;
  return g->region ? g->acts : wtl_budget_can_pay(g, now);
}

/* After how many ticks in a barrier the clock goes down in any instance: then one change costs at most the user's share
 * of that time. UINT64_MAX: never. The first control after a suspicion must not begin by a change. */
static uint64_t endured(const wtl_governor *g, uint64_t now)
{
  const wtl_region *r = g->region;
  bool may = !g->is_fixed && wtl_governor_lowers(g) && g->in_barrier && r && (r->normal.n || !r->instances) &&
             wtl_budget_can_pay(g, now);
  if (!may || g->allowed <= 0) return UINT64_MAX;
  return (uint64_t)((double)g->price / g->allowed) + wtl_governor_two_changes(g);
}

uint64_t wtl_governor_wait(wtl_governor *g, const wtl_site *site, uint64_t since)
{
  WTL_FLOATS_APART;
  bool at_once = reacts(g, since);
  uint64_t waited = 0, worth = at_once ? wtl_governor_two_changes(g) : endured(g, since);
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

/* Waits for the neighbours on a grid of three dimensions. A PE that waits more often than that only waits. */
enum { MOST_IN_ROW = 6 };

/* True if this PE has hardly computed since its last long wait for a single PE. `waited`: in this region, up to `then`.
 */
static bool is_in_row(const wtl_governor *g, uint64_t then, uint64_t waited)
{
  uint64_t all = then - g->region_since;
  if (!g->last || g->in_row == MOST_IN_ROW || wtl_governor_is_brief(g, (uint64_t)g->last->longest)) return false;
  return wtl_governor_is_empty(g->last, all > waited ? all - waited : 0);
}

uint64_t wtl_governor_rise(const wtl_governor *g, uint64_t since, uint64_t now)
{
  const wtl_region *r = g->region;
  if (!g->is_slow || g->in_barrier || g->holds || !r || !r->is_single) return UINT64_MAX;
  uint64_t least = wtl_slack_least(&r->slack), early = g->price + WTL_SPANS * (wtl_slack_most(&r->slack) - least);
  uint64_t waited = waited_since(g, g->waited_before);
  if (is_in_row(g, since, waited)) waited += g->row;
  uint64_t left = least > early + waited ? least - early - waited : 0;
  return least ? now - since + left : UINT64_MAX;
}

void wtl_governor_ready(wtl_governor *g, uint64_t now)
{
  WTL_FLOATS_APART;
  speed_up(g, now);
}

static bool end_by_wait(wtl_governor *g, const wtl_site *site, uint64_t since, uint64_t now);

void wtl_governor_continue(wtl_governor *g, wtl_site *site, uint64_t since, uint64_t now)
{
  WTL_FLOATS_APART;
  bool is_long = now - since > wtl_governor_two_changes(g);
  if (g->is_unseen && is_long) g->unseen = 0;
  if (g->in_barrier) return;
  if (is_long) enter_long(site);
  if (g->holds) return;
  if (is_long && end_by_wait(g, site, since, now)) return;
  if (g->is_slow && !g->region) wtl_budget_charge(g, (double)g->price, now);
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
  return wtl_governor_two_changes(g);
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
  return !r->is_single && !r->last_stay && !r->suspicion.is_open && (learns || r->instances == WTL_CONTROL_FIRST);
}

/* ---- counters ---- */

static uint64_t polled(const wtl_governor *g)
{
  return g->unrecorded + atomic_load_explicit(&g->waited[WTL_STAGE_SPIN], memory_order_relaxed) +
         atomic_load_explicit(&g->waited[WTL_STAGE_YIELD], memory_order_relaxed);
}

/* Reading the counters is a system call, which a short region cannot afford. */
static void begin_counting(wtl_governor *g, const wtl_region *r)
{
  bool useful = g->count && wtl_governor_lowers(g) && g->scaling == WTL_SCALING_PROACTIVE;
  g->has_counted = false;
  g->counts = useful && !wtl_governor_is_brief(g, wtl_slack_most(&r->whole)) && g->count(g->count_arg, &g->counted);
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
  g->is_marked = false;
  g->last = NULL;
  g->late = 0;
  if (g->is_fixed) return;
  if (!r) { /* after a region that the program marks */
    g->level = WTL_CLOCK_NORMAL;
    cast(g, g->level, now);
    return;
  }
  g->acts = !is_control(r) && !g->is_broke;
  g->lowers_waits = is_control(r) && !g->is_broke && may_lower_waits(r);
  atomic_store(&wtl_governor_ballot(g, g->vote.slot)->late,
               wtl_governor_raises(g) && !r->is_single && wtl_governor_is_late(g, r));
  uint32_t level = wtl_governor_level(g, r, now);
  if (level != WTL_CLOCK_NORMAL) g->has_acted = true;
  g->level = level;
  bool stretches = wtl_extent_is_regular(&r->extent) && !r->is_single;
  if (g->acts && level == WTL_CLOCK_NORMAL && !stretches) g->reacts = true;
  g->began_by_change = cast(g, level, now);
  begin_counting(g, r);
}

/* Tells the others of the group how long this PE waited. */
static void publish(wtl_governor *g, uint64_t slack)
{
  wtl_ballot *mine = wtl_governor_ballot(g, g->vote.slot);
  atomic_store(&mine->met, g->group.key);
  atomic_store(&mine->slack, slack);
}

/* An early PE with enough slack raises the late ones. */
static void raise_late(wtl_governor *g, uint64_t now)
{
  for (int i = 0; i < g->vote.n_local; i++) {
    const wtl_ballot *b = wtl_governor_ballot(g, i);
    uint32_t phase = atomic_load(&b->phase);
    if (i == g->vote.slot || !atomic_load(&b->late) || atomic_load(&b->meets) != g->group.key) continue;
    if (phase & 1) continue; /* it has arrived already */
    wtl_vote_boost(&g->vote, i, phase, WTL_CLOCK_HIGHEST, now);
    g->has_acted = true;
  }
}

static bool may_skip(const wtl_governor *g, const wtl_region *r)
{
  return r && !r->stay_away && g->level == WTL_CLOCK_NORMAL && wtl_governor_is_brief(g, wtl_slack_most(&r->whole));
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
  if (g->skips && wtl_governor_is_brief(g, now - g->region_since)) {
    g->in_barrier = true;
    g->arrived = now;
    return;
  }
  g->skips = false;
  wtl_region *r = g->region;
  const wtl_ballot *mine = wtl_governor_ballot(g, g->vote.slot);
  if (r) r->is_single = false;
  if (g->origin) g->origin->meets = g->group.key;
  g->in_barrier = true;
  g->arrived = now;
  end_counting(g);
  g->was_raised = atomic_load(&mine->boost_in) == g->phase;
  record_computing(g, g->region_since, now, g->region_waited);
  g->phase |= 1;
  wtl_vote_phase(&g->vote, g->phase, now);
  if (g->power && !g->group.key) wtl_governor_watch_arrive(g, now);
  if (g->is_fixed || !r || !g->acts || !g->reacts) return;
  if (wtl_slack_least(&r->slack) <= wtl_governor_two_changes(g)) return;
  if (wtl_governor_is_empty(r, now - g->region_since - g->region_waited)) return; /* right after another barrier */
  if (wtl_governor_raises(g) && g->scaling == WTL_SCALING_REACTIVE) raise_late(g, now);
  if (wtl_governor_lowers(g)) slow_down(g, now);
}

/* Leaves the barrier into the next region. */
static void leave_barrier(wtl_governor *g, wtl_region *next, uint64_t now)
{
  g->in_barrier = false;
  g->phase++;
  g->origin = next;
  atomic_store(&wtl_governor_ballot(g, g->vote.slot)->meets, next ? next->meets : 0);
  wtl_vote_phase(&g->vote, g->phase, now);
  if (g->is_slow) end_slack(g, now); /* the region's level is cast below, once */
  bool watches = g->power && !g->group.key, changed = false;
  if (watches) g->level = wtl_governor_watch_level(g, next ? next->key : 0);
  if (!g->is_fixed) g->level = WTL_CLOCK_NORMAL;
  begin_region(g, next, now);
  if (g->is_fixed) changed = cast(g, g->level, now);
  if (watches) wtl_governor_watch_begin(g, changed);
  g->skips = !g->is_fixed && may_skip(g, g->region);
  g->began_short = g->skips;
  if (g->skips) atomic_store(&wtl_governor_ballot(g, g->vote.slot)->slack, 0); /* it will not report it any more */
}

void wtl_governor_depart(wtl_governor *g, uint64_t key, uint64_t now)
{
  WTL_FLOATS_APART;
  wtl_region *next = find_region(g, key);
  if (g->skips && next && !g->is_slow && wtl_governor_is_brief(g, now - g->region_since) && may_skip(g, next)) {
    g->in_barrier = false;
    g->phase += 2; /* all PEs count equally */
    skip(g, next, now);
    return;
  }
  if (g->skips) g->phase |= 1; /* which arriving left out */
  uint64_t slack = g->moves ? waited_since(g, g->waited_before) : now - g->arrived + g->region_waited;
  wtl_governor_end_region(g, slack, now);
  publish(g, slack);
  leave_barrier(g, next, now);
}

/* The last barrier of such a row has no known beginning, so it is only counted. The next region is the same for all
 * PEs. */
void wtl_governor_leave_counted(wtl_governor *g, uint64_t key)
{
  WTL_FLOATS_APART;
  wtl_region *r = g->region, *next = find_region(g, key);
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

/* ---- waits for single PEs ---- */

/* Such regions have keys of their own, because the same call may be a barrier at other times. */
static uint64_t key_of_wait(const wtl_site *site)
{
  return ~(uint64_t)site->addr;
}

/* A wait has followed another one with hardly any computing in between, as where a PE waits for several neighbours.
 * Both belong to the instance that the first one has ended. */
static void continue_row(wtl_governor *g, uint64_t waited, uint64_t now)
{
  wtl_region *last = g->last;
  wtl_governor_extend(last, now - g->region_since);
  begin_region(g, g->region, now);
  g->last = last;
  g->row += waited;
  g->in_row++;
}

/* A long wait of `site` has ended. It ends the region if it is much of the time since the last one there. A region that
 * the program marks ends so only if that one was in it, too: it contains a loop. */
static bool end_by_wait(wtl_governor *g, const wtl_site *site, uint64_t since, uint64_t now)
{
  wtl_region *next = find_region(g, site->addr ? key_of_wait(site) : 0);
  if (!next || g->is_fixed) return false;
  uint64_t last = next->waited_at;
  next->waited_at = now;
  if (!last || (g->is_marked && last < g->region_since) || (now - last) / WTL_WAITS_SHARE > now - since) return false;
  add_skipped(g);
  uint64_t waited = waited_since(g, g->waited_before);
  wtl_region *ended = g->unseen ? NULL : g->region;
  if (ended) record_computing(g, g->region_since, now, waited);
  double late = g->is_slow ? (double)g->price : 0; /* the change back delays it, and those that wait for it ... */
  bool in_row = is_in_row(g, now, waited);
  if (g->is_slow) end_slack(g, now);
  wtl_budget_charge(g, late - (in_row ? g->delay : 0), now); /* ... but not the next wait */
  if (in_row) {
    continue_row(g, waited, now);
    g->delay = late;
    return true;
  }
  if (ended) {
    end_counting(g);
    ended->is_single = true;
    wtl_governor_end_region(g, waited, now);
  }
  g->unseen = 0;
  g->skips = false;
  begin_region(g, next, now);
  g->last = ended;
  g->row = waited;
  g->in_row = 1;
  g->delay = late;
  return true;
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
    wtl_governor_end_region(g, waited, now);
    publish(g, waited);
  }
  g->unseen = 0;
  g->skips = false;
  begin_region(g, begins ? find_region(g, key) : NULL, now);
  g->is_marked = begins;
}
