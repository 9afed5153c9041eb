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

/* As where all PEs meet right after the PEs of a team have. */
static void a_barrier_right_after_another_one_lowers_no_clock(void)
{
  timeline *l = with(2, WTL_GOVERN_ENERGY, WTL_SCALING_REACTIVE);
  for (int i = 0; i < 40; i++) {
    bool follows = i % 4 == 3;
    timeline_run(l, follows ? (uint64_t[]){0, PRICE} : (uint64_t[]){3 * MS, 9 * MS});
    size_t lowered = 0;
    for (size_t k = 0; k < l->n_log; k++) lowered += l->log[k].khz < l->normal_khz;
    CHECK(follows ? lowered == 0 : lowered == 1 || i <= 2 * WTL_LEARN || i == WTL_CONTROL_FIRST);
  }
  timeline_free(l);
}

/* --- waits for single PEs --- */

typedef struct pair {
  timeline *l;
  wtl_site site;
  bool is_free;   /* computing longer makes no instance longer, up to its wait */
  uint64_t other; /* ticks of a wait that nothing ends earlier */
  uint64_t first; /* ticks of another one in a row before it */
} pair;

static void wait_for(pair *p, uint64_t wait)
{
  timeline *l = p->l;
  wtl_governor *g = &l->governor[0];
  uint64_t since = l->now, ends = since + wait;
  if (!wait) return;
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
}

/* An instance: computes for `work`, then waits for a signal, or for two. Returns how long it took. */
static uint64_t run_instance(pair *p, uint64_t work)
{
  timeline *l = p->l;
  uint64_t began = l->now, computes = (uint64_t)((double)work * l->normal_khz / timeline_clock(l, 0));
  uint64_t wait = p->other, first = p->first;
  if (p->is_free) wait = computes < work + p->other ? work + p->other - computes : 0;
  l->now += computes;
  if (first > wait) first = wait;
  wait_for(p, first);
  wait_for(p, wait - first);
  return l->now - began;
}

static pair pair_new(enum wtl_scaling scaling, bool is_free)
{
  return (pair){with(1, WTL_GOVERN_ENERGY, scaling), {.addr = SITE}, is_free, 30 * MS, 0};
}

static void free_computing_before_a_wait_is_stretched_in_steps(void)
{
  pair p = pair_new(WTL_SCALING_PROACTIVE, true);
  for (int i = 0; i < 60; i++) CHECK(run_instance(&p, 10 * MS) == 40 * MS);
  CHECK(timeline_clock(p.l, 0) == 1200000); /* 20 of 40 ms at the lowest clock */
  CHECK(p.l->governor[0].lost == 0);
  timeline_free(p.l);
}

static void computing_on_which_others_wait_is_not_stretched(void)
{
  pair p = pair_new(WTL_SCALING_PROACTIVE, false);
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

/* If all of an instance were computing one after the other, it costs half of the budget. */
static void the_first_step_costs_its_part_of_the_budget(void)
{
  for (uint64_t work = 2 * MS; work <= 20 * MS; work += 6 * MS) {
    pair p = pair_new(WTL_SCALING_PROACTIVE, false);
    uint64_t whole = work + 30 * MS, first = 0;
    while (!first && p.l->now < 1000 * whole) {
      uint64_t took = run_instance(&p, work);
      if (took > whole + 2 * PRICE / 3) first = took - whole; /* and no late change back */
    }
    double half = 0.01 * (double)p.l->now / 2;
    CHECK(first > 0 && WTL_STEP_OF * (double)first * (double)whole / (double)work <= half);
    timeline_free(p.l);
  }
}

/* As a halo exchange waits for one neighbour after the other. */
static void waits_in_a_row_are_one(void)
{
  for (uint64_t first = 3 * MS; first < 30 * MS; first += 8 * MS) {
    pair p = pair_new(WTL_SCALING_PROACTIVE, true);
    p.first = first;
    for (int i = 0; i < 60; i++) CHECK(run_instance(&p, 10 * MS) == 40 * MS);
    const wtl_region *r = p.l->governor[0].region;
    CHECK(timeline_clock(p.l, 0) == 1200000 && r->instances > 55 && wtl_slack_least(&r->whole) == 40 * MS);
    timeline_free(p.l);
  }
}

/* Its waits are no row that never ends. */
static void a_pe_that_only_waits_runs_at_the_lowest_clock(void)
{
  pair p = pair_new(WTL_SCALING_REACTIVE, false);
  run_instance(&p, 10 * MS);
  for (int i = 0; i < 40; i++) run_instance(&p, 1000);
  const wtl_governor *g = &p.l->governor[0];
  CHECK(g->region->instances > 30 && g->slow_ticks > 25 * 30 * MS);
  timeline_free(p.l);
}

/* The delay by a step of another PE, until this one follows. */
static void an_instance_that_became_longer_once_ends_no_steps(void)
{
  pair p = pair_new(WTL_SCALING_PROACTIVE, true);
  for (int i = 0; i < 60; i++) {
    p.other = (i % 3 == 1 ? 31 : 30) * MS;
    run_instance(&p, 10 * MS);
  }
  CHECK(timeline_clock(p.l, 0) == 1200000 && p.l->governor[0].region->last_rest == 0);
  timeline_free(p.l);
}

/* A program may measure its whole main loop as one region. */
static void waits_in_a_loop_end_a_region_that_the_program_marks(void)
{
  pair p = pair_new(WTL_SCALING_PROACTIVE, true);
  wtl_governor *g = &p.l->governor[0];
  wtl_governor_mark(g, 77, true, p.l->now);
  run_instance(&p, 10 * MS);
  CHECK(g->region->key == 77 && g->is_marked);
  for (int i = 0; i < 60; i++) run_instance(&p, 10 * MS);
  CHECK(g->region->key != 77 && timeline_clock(p.l, 0) == 1200000);
  wtl_governor_mark(g, 77, false, p.l->now);
  CHECK(!g->is_marked);
  timeline_free(p.l);
}

/* The clock is normal again when the signal comes as usual, and not when it comes early. */
static void the_clock_rises_before_a_wait_ends(void)
{
  pair p = pair_new(WTL_SCALING_REACTIVE, false);
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
  pair p = pair_new(WTL_SCALING_PROACTIVE, false);
  p.other = 3 * PRICE;
  for (int i = 0; i < 20; i++) run_instance(&p, 40 * MS);
  CHECK(p.l->governor[0].region == NULL);
  timeline_free(p.l);
}

TESTS(TEST(the_longest_wait_and_the_greatest_loss_are_exchanged), TEST(of_losses_in_one_instance_the_greatest_counts),
      TEST(a_loss_of_another_node_counts_beyond_the_own), TEST(pes_of_other_groups_are_not_compared),
      TEST(a_collective_within_a_collective_is_a_part_of_it), TEST(a_barrier_right_after_another_one_lowers_no_clock),
      TEST(free_computing_before_a_wait_is_stretched_in_steps), TEST(computing_on_which_others_wait_is_not_stretched),
      TEST(the_first_step_costs_its_part_of_the_budget), TEST(waits_in_a_row_are_one),
      TEST(a_pe_that_only_waits_runs_at_the_lowest_clock), TEST(an_instance_that_became_longer_once_ends_no_steps),
      TEST(waits_in_a_loop_end_a_region_that_the_program_marks), TEST(the_clock_rises_before_a_wait_ends),
      TEST(little_waits_end_no_region))
