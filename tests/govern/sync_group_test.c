/* sync_group_test.c - groups of PEs, losses of several PEs at once, and waits for single PEs. */
#include "govern/governor_parts.h"
#include "power/check.h"
#include "timeline.h"

enum { PRICE = 500000 }; /* ticks */

static void the_longest_wait_and_the_greatest_loss_are_exchanged(void)
{
  CHECK(wtl_state_waits(wtl_state_make(WTL_WAITS_LONG, 0)) == WTL_WAITS_LONG);
  CHECK(wtl_state_loss_ns(wtl_state_make(WTL_WAITS_MUCH, 0)) == 0);
  for (double ns = 150; ns < 2e11; ns *= 1.1) {
    unsigned state = wtl_state_make(WTL_WAITS_MUCH, ns);
    CHECK(state < WTL_STATES && wtl_state_waits(state) == WTL_WAITS_MUCH);
    CHECK(fabs(log2(wtl_state_loss_ns(state) / ns)) <= 0.2501); /* half a class */
  }
  CHECK(wtl_state_make(WTL_WAITS_NOT, 1e18) < WTL_STATES);
  unsigned waits = wtl_state_make(WTL_WAITS_MUCH, 1000), loses = wtl_state_make(WTL_WAITS_LONG, 64000);
  unsigned both = wtl_state_merge(waits, loses);
  CHECK(both == wtl_state_merge(loses, waits) && wtl_state_waits(both) == WTL_WAITS_MUCH);
  CHECK(wtl_state_loss_ns(both) == wtl_state_loss_ns(loses));
}

static timeline *with(int n, enum wtl_govern_mode mode, enum wtl_scaling scaling)
{
  return timeline_new((shape){.n = n, .mode = mode, .scaling = scaling, .price = PRICE});
}

/* PEs that are late together cost the time once, in any order. Losses of several instances add up. */
static void of_losses_in_one_instance_the_greatest_counts(void)
{
  static const double late[] = {2e5, 7e5, 5e5};
  for (int first = 0; first < 3; first++) {
    timeline *l = with(3, WTL_GOVERN_ENERGY, WTL_SCALING_PROACTIVE);
    for (int instance = 1; instance <= 2; instance++) {
      for (int i = 0; i < 3; i++) wtl_governor_enter(&l->governor[i], &(wtl_sync_group){0}, false);
      for (int k = 0; k < 3; k++) {
        int i = (first + k) % 3;
        wtl_budget_cause(&l->governor[i], late[i], 1000 * MS);
      }
      for (int i = 0; i < 3; i++)
        CHECK(wtl_budget_left(&l->governor[i], 1000 * MS) == 0.01 * 1000 * MS - instance * 7e5);
      for (int i = 0; i < 3; i++) wtl_governor_leave(&l->governor[i], SITE);
    }
    timeline_free(l);
  }
}

/* The next barrier brings the loss of another node, and the loss of this one comes back to it. */
static void a_loss_of_another_node_counts_beyond_the_own(void)
{
  timeline *l = with(1, WTL_GOVERN_ENERGY, WTL_SCALING_PROACTIVE);
  wtl_governor *g = &l->governor[0];
  wtl_sync_group world = {0, &l->votes->far_waits};
  wtl_governor_enter(g, &world, false);
  wtl_budget_cause(g, 4e5, 1000 * MS);
  wtl_governor_leave(g, SITE);
  wtl_governor_enter(g, &world, false);
  double before = wtl_budget_left(g, 1000 * MS), ns = wtl_clock_ns_per_tick();
  wtl_governor_hear(g, wtl_governor_state(g));
  CHECK(wtl_budget_left(g, 1000 * MS) == before);
  wtl_governor_hear(g, wtl_state_make(WTL_WAITS_LONG, 16e5 * ns));
  CHECK(atomic_load(&l->votes->far_waits) == WTL_WAITS_LONG);
  CHECK(fabs((before - wtl_budget_left(g, 1000 * MS)) / 12e5 - 1) < 0.3); /* two roundings */
  timeline_free(l);
}

static void pes_of_other_groups_are_not_compared(void)
{
  timeline *l = with(2, WTL_GOVERN_PERFORMANCE, WTL_SCALING_PROACTIVE);
  for (int same = 0; same < 2; same++) {
    wtl_sync_group mine = {7, NULL}, other = {same ? 7 : 8, NULL};
    for (int i = 0; i < 2; i++) wtl_governor_enter(&l->governor[i], i ? &other : &mine, false);
    l->now += 100 * MS;
    for (int i = 0; i < 2; i++) wtl_governor_leave(&l->governor[i], SITE);
    CHECK(wtl_governor_most_waits(&l->governor[0], 0) == (same ? WTL_WAITS_MUCH : WTL_WAITS_NOT));
  }
  timeline_free(l);
}

static void a_collective_within_a_collective_is_a_part_of_it(void)
{
  timeline *l = with(1, WTL_GOVERN_ENERGY, WTL_SCALING_PROACTIVE);
  wtl_governor *g = &l->governor[0];
  CHECK(wtl_governor_enter(g, &(wtl_sync_group){7, NULL}, true));
  CHECK(!wtl_governor_enter(g, &(wtl_sync_group){8, NULL}, false) && g->group.key == 7);
  wtl_governor_leave(g, SITE);
  CHECK(wtl_governor_enter(g, &(wtl_sync_group){8, NULL}, false));
  timeline_free(l);
}

/* --- waits for single PEs --- */

typedef struct pair {
  timeline *l;
  wtl_site site;
  bool is_free;   /* computing longer makes no instance longer, up to its wait */
  uint64_t other; /* ticks of a wait that nothing ends earlier */
} pair;

/* An instance: computes for `work`, then waits for a signal. Returns how long it took. */
static uint64_t run_instance(pair *p, uint64_t work)
{
  timeline *l = p->l;
  wtl_governor *g = &l->governor[0];
  uint64_t began = l->now, computes = (uint64_t)((double)work * l->normal_khz / timeline_clock(l, 0));
  uint64_t wait = p->other;
  if (p->is_free) wait = computes < work + p->other ? work + p->other - computes : 0;
  uint64_t since = l->now += computes, ends = since + wait;
  if (!wait) return computes;
  p->site.calls++;
  uint64_t slack = wtl_governor_wait(g, &p->site, since);
  if (slack <= wait) {
    l->now = since + slack;
    wtl_governor_slack(g, l->now);
    uint64_t rise = wtl_governor_rise(g, since, l->now);
    if (rise <= wait) wtl_governor_ready(g, l->now = since + rise);
  }
  l->now = ends;
  atomic_fetch_add(&l->waited[0][WTL_STAGE_SPIN], wait);
  wtl_governor_continue(g, &p->site, since, l->now);
  return l->now - began;
}

static pair pair_new(enum wtl_scaling scaling, bool is_free, double pes)
{
  pair p = {with(1, WTL_GOVERN_ENERGY, scaling), {.addr = SITE}, is_free, 30 * MS};
  p.l->governor[0].pes = pes;
  return p;
}

static void free_computing_before_a_wait_is_stretched_in_steps(void)
{
  pair p = pair_new(WTL_SCALING_PROACTIVE, true, 4);
  for (int i = 0; i < 60; i++) CHECK(run_instance(&p, 10 * MS) == 40 * MS);
  CHECK(timeline_clock(p.l, 0) == 1200000); /* 20 of 40 ms at the lowest clock */
  CHECK(p.l->governor[0].lost == 0);
  timeline_free(p.l);
}

static void computing_on_which_others_wait_is_not_stretched(void)
{
  pair p = pair_new(WTL_SCALING_PROACTIVE, false, 4);
  uint64_t all = 0;
  int longer = 0;
  for (int i = 0; i < 2000; i++) {
    uint64_t took = run_instance(&p, 10 * MS);
    longer += took > 40 * MS;
    all += took;
  }
  CHECK(longer > 0 && longer < 2000 / WTL_CONTROL);
  CHECK((double)all <= 1.01 * 2000 * 40 * MS);
  timeline_free(p.l);
}

/* The first step is small where many may take it. */
static void the_first_step_is_shared_by_all_pes(void)
{
  for (int many = 0; many < 2; many++) {
    double pes = many ? 1000 : 1;
    pair p = pair_new(WTL_SCALING_PROACTIVE, false, pes);
    uint64_t longest = 0;
    for (int i = 0; i < 200; i++) {
      uint64_t took = run_instance(&p, 10 * MS);
      if (took > longest) longest = took;
    }
    CHECK(longest > 40 * MS && (double)(longest - 40 * MS) <= 0.01 * 200 * 41 * MS / pes);
    timeline_free(p.l);
  }
}

/* The clock is normal again when the signal comes as usual, and not when it comes early. */
static void the_clock_rises_before_a_wait_ends(void)
{
  pair p = pair_new(WTL_SCALING_REACTIVE, false, 4);
  for (int i = 0; i < 20; i++) run_instance(&p, 10 * MS);
  wtl_governor *g = &p.l->governor[0];
  uint64_t slow = g->slow_ticks, changes = g->vote.changes;
  double lost = g->lost;
  run_instance(&p, 10 * MS);
  CHECK(g->slow_ticks - slow == 30 * MS - PRICE && g->vote.changes == changes + 2 && g->lost == lost);
  p.other = 10 * MS;
  run_instance(&p, 10 * MS);
  CHECK(g->lost == lost + PRICE);
  timeline_free(p.l);
}

/* A PE waits a little each time: that is no region, and its barriers go on as before. */
static void little_waits_end_no_region(void)
{
  pair p = pair_new(WTL_SCALING_PROACTIVE, false, 4);
  p.other = 3 * PRICE;
  for (int i = 0; i < 20; i++) run_instance(&p, 40 * MS);
  CHECK(p.l->governor[0].region == NULL);
  timeline_free(p.l);
}

TESTS(TEST(the_longest_wait_and_the_greatest_loss_are_exchanged), TEST(of_losses_in_one_instance_the_greatest_counts),
      TEST(a_loss_of_another_node_counts_beyond_the_own), TEST(pes_of_other_groups_are_not_compared),
      TEST(a_collective_within_a_collective_is_a_part_of_it), TEST(free_computing_before_a_wait_is_stretched_in_steps),
      TEST(computing_on_which_others_wait_is_not_stretched), TEST(the_first_step_is_shared_by_all_pes),
      TEST(the_clock_rises_before_a_wait_ends), TEST(little_waits_end_no_region))
