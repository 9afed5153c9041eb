/* budget.c - counts the time that changed clocks have cost: this PE, and through it the others of its group. */
#include "govern/governor_parts.h"
#include "os/floats.h"

/* The loss that this PE has found and the loss that other PEs of its node have caused count against the budget. Where
 * late PEs are raised, their gain pays for the latter. */
static double lost_so_far(const wtl_governor *g)
{
  if (wtl_governor_raises(g)) return g->lost;
  return g->lost + (double)(atomic_load(&g->vote.votes->caused) - g->caused);
}

double wtl_budget_left(const wtl_governor *g, uint64_t now)
{
  return g->allowed * (double)(now - g->started) - lost_so_far(g);
}

void wtl_budget_charge(wtl_governor *g, double ticks, uint64_t now)
{
  double budget = g->allowed * (double)(now - g->started);
  g->lost += ticks;
  if (lost_so_far(g) > budget) g->is_broke = true;
  if (lost_so_far(g) <= budget / 2) g->is_broke = false;
}

static unsigned wait_class(const wtl_governor *g, int slot)
{
  const wtl_ballot *b = wtl_governor_ballot(g, slot);
  uint64_t slack = atomic_load(&b->slack);
  if (slack <= wtl_governor_two_changes(g) || atomic_load(&b->met) != g->group.key) return WTL_WAITS_NOT;
  return slack > g->last_whole / WTL_WAITS_SHARE ? WTL_WAITS_MUCH : WTL_WAITS_LONG;
}

unsigned wtl_governor_most_waits(const wtl_governor *g, int but)
{
  unsigned most = WTL_WAITS_NOT;
  for (int i = 0; i < g->vote.n_local; i++)
    if (i != but && wait_class(g, i) > most) most = wait_class(g, i);
  return most;
}

/* The number of the present instance, or of an earlier one, for wtl_votes.worst: the same on all PEs of the group. */
static uint64_t number_of(const wtl_governor *g, uint64_t before)
{
  return (g->group.key ^ (g->phase / 2 - before)) << WTL_WORST_BITS;
}

/* The greatest loss in an instance so far. */
static uint64_t worst_in(uint64_t worst, uint64_t number)
{
  const uint64_t ticks = (1ull << WTL_WORST_BITS) - 1;
  return (worst & ~ticks) == number ? worst & ticks : 0;
}

/* Raises the loss of the present instance to `ticks`. Returns by how much it rose. */
static uint64_t worsen(const wtl_governor *g, uint64_t ticks)
{
  wtl_votes *v = g->vote.votes;
  uint64_t number = number_of(g, 0), known = atomic_load(&v->worst);
  ticks &= (1ull << WTL_WORST_BITS) - 1;
  do
    if (worst_in(known, number) >= ticks) return 0;
  while (!atomic_compare_exchange_weak(&v->worst, &known, number | ticks));
  uint64_t more = ticks - worst_in(known, number);
  atomic_fetch_add(&v->caused, more);
  return more;
}

/* Charges a loss that this PE's own clock has caused, to the other PEs as well: all of them wait. Of several losses in
 * one instance the greatest counts, because the PEs are late at the same time. Losses by PEs of nodes that exchange no
 * state are taken to be as frequent, so each loss counts once for each of these. */
void wtl_budget_cause(wtl_governor *g, double ticks, uint64_t now)
{
  ticks *= g->unheard;
  g->late += ticks;
  uint64_t more = worsen(g, (uint64_t)g->late);
  g->caused += more;
  wtl_budget_charge(g, wtl_governor_raises(g) ? ticks : (double)more, now);
}

/* The state with the greatest loss of this node's PEs in their last region. */
static unsigned state_with(const wtl_governor *g, unsigned waits)
{
  uint64_t loss = worst_in(atomic_load(&g->vote.votes->worst), number_of(g, 1));
  return wtl_state_make(waits, (double)loss * wtl_clock_ns_per_tick());
}

unsigned wtl_governor_state(const wtl_governor *g)
{
  WTL_FLOATS_APART;
  return state_with(g, wtl_governor_most_waits(g, -1));
}

/* Rounding must not make a loss of this node one of another node. */
void wtl_governor_hear(wtl_governor *g, unsigned state)
{
  WTL_FLOATS_APART;
  double mine = wtl_state_loss_ns(state_with(g, WTL_WAITS_NOT)), worst = wtl_state_loss_ns(state);
  if (worst > mine) atomic_fetch_add(&g->vote.votes->caused, (uint64_t)((worst - mine) / wtl_clock_ns_per_tick()));
  if (g->group.far) atomic_store_explicit(g->group.far, wtl_state_waits(state), memory_order_relaxed);
}

bool wtl_budget_can_pay(const wtl_governor *g, uint64_t now)
{
  return !g->is_broke && (double)g->price <= wtl_budget_left(g, now);
}
