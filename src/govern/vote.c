/* vote.c - counts the votes for a domain and writes its clock. */
#include "govern/vote.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t wtl_votes_bytes(int n_local)
{
  return sizeof(wtl_votes) + (size_t)n_local * sizeof(wtl_ballot);
}

static bool is_member(const wtl_vote *v, size_t d, int slot)
{
  return v->member[d * v->words + (size_t)slot / 64] >> (slot % 64) & 1;
}

int wtl_vote_start(wtl_vote *v, wtl_knob *knob, wtl_votes *votes, int slot, int n_local, const cpu_set_t *cpus,
                   bool normal_is_found)
{
  *v = (wtl_vote){.knob = knob, .votes = votes, .slot = slot, .n_local = n_local, .normal_is_found = normal_is_found};
  v->poll = wtl_knob_is_uncore(knob) ? votes->uncore : votes->poll;
  v->n_domains = wtl_knob_domains(knob);
  v->words = ((size_t)n_local + 63) / 64;
  if (v->n_domains > (wtl_knob_is_uncore(knob) ? WTL_MAX_PACKAGES : WTL_MAX_CLOCK_DOMAINS)) return E2BIG;
  v->member = calloc(v->n_domains * v->words + 1, sizeof *v->member);
  v->setting = calloc(1, sizeof *v->setting);
  if (!v->member || !v->setting) {
    wtl_vote_stop(v);
    return ENOMEM;
  }
  pthread_mutex_init(v->setting, NULL);
  for (size_t d = 0; d < v->n_domains; d++)
    for (int i = 0; i < n_local; i++) {
      cpu_set_t both;
      CPU_AND(&both, &cpus[i], &wtl_knob_domain(knob, d)->cpus);
      if (CPU_COUNT(&both)) v->member[d * v->words + (size_t)i / 64] |= 1ull << (i % 64);
    }
  while (v->own < v->n_domains && !(is_member(v, v->own, slot) && v->poll[v->own].claimed)) v->own++;
  return 0;
}

void wtl_vote_stop(wtl_vote *v)
{
  free(v->member);
  free(v->setting);
  v->member = NULL;
  v->setting = NULL;
  v->n_domains = 0;
}

static uint32_t normal_khz(const wtl_vote *v, size_t d)
{
  const wtl_clock_domain *c = wtl_knob_domain(v->knob, d);
  return v->normal_is_found ? c->found_khz : c->base_khz;
}

bool wtl_vote_is_mine(const wtl_vote *v, size_t domain)
{
  return is_member(v, domain, v->slot);
}

uint32_t wtl_vote_normal_khz(const wtl_vote *v, size_t domain)
{
  return normal_khz(v, domain);
}

uint32_t wtl_vote_khz(const wtl_vote *v, size_t d, uint32_t share)
{
  const wtl_clock_domain *c = wtl_knob_domain(v->knob, d);
  double normal = normal_khz(v, d);
  if (share == WTL_CLOCK_NORMAL) return (uint32_t)normal;
  uint32_t khz = wtl_knob_clock_at_least(c, normal * share * 1e-6);
  return share < WTL_CLOCK_NORMAL && khz > normal ? (uint32_t)normal : khz;
}

uint32_t wtl_vote_rounded(const wtl_vote *v, uint32_t share)
{
  uint32_t lowest = UINT32_MAX;
  for (size_t d = 0; d < v->n_domains; d++) {
    if (!is_member(v, d, v->slot) || !v->poll[d].claimed || normal_khz(v, d) == 0) continue;
    uint32_t real = (uint32_t)lround(1e6 * wtl_vote_khz(v, d, share) / normal_khz(v, d));
    if (real < lowest) lowest = real;
  }
  return lowest == UINT32_MAX ? WTL_CLOCK_NORMAL : lowest;
}

static bool is_uncore(const wtl_vote *v)
{
  return v->poll == v->votes->uncore;
}

/* The highest share that a PE wants, or that others want for it. */
static uint32_t wanted_by(const wtl_vote *v, const wtl_ballot *b)
{
  if (is_uncore(v)) return atomic_load(&b->serve) > WTL_CLOCK_LOWEST ? WTL_CLOCK_NORMAL : atomic_load(&b->uncore);
  uint32_t want = atomic_load(&b->want), boost = atomic_load(&b->boost);
  bool holds = boost > want && atomic_load(&b->boost_in) == atomic_load(&b->phase);
  uint32_t most = holds ? boost : want, serve = atomic_load(&b->serve);
  return serve > most ? serve : most;
}

static uint32_t outcome(const wtl_vote *v, size_t d)
{
  uint32_t most = 0;
  for (size_t w = 0; w < v->words; w++)
    for (uint64_t bits = v->member[d * v->words + w]; bits; bits &= bits - 1) {
      uint32_t want = wanted_by(v, &v->votes->ballot[w * 64 + (size_t)__builtin_ctzll(bits)]);
      if (want > most) most = want;
    }
  return most;
}

/* Sets the clock until it agrees with the votes. Leaves if another PE is writing, because that PE counts the votes
 * again. */
static bool follow(wtl_vote *v, size_t d, uint64_t now)
{
  wtl_poll *p = &v->poll[d];
  bool changed = false;
  while (!atomic_load(&p->error) && outcome(v, d) != atomic_load(&p->share)) {
    if (atomic_exchange(&p->busy, 1)) break;
    uint32_t share = outcome(v, d), was = atomic_load(&p->share);
    int error = 0;
    if (share != was && wtl_vote_khz(v, d, share) != wtl_vote_khz(v, d, was)) {
      pthread_mutex_lock(v->setting);
      error = wtl_knob_set(v->knob, d, wtl_vote_khz(v, d, share));
      pthread_mutex_unlock(v->setting);
      if (error) atomic_store(&p->error, error);
      v->changes += !error;
      changed = !error;
      if (changed && v->changed) v->changed(v->changed_arg, d, wtl_vote_khz(v, d, share));
    }
    if (!error) { /* else the clock is what it was */
      atomic_store(&p->since, now);
      atomic_store(&p->share, share);
    }
    atomic_store(&p->busy, 0);
  }
  return changed;
}

static bool follow_all(wtl_vote *v, int slot, uint64_t now)
{
  bool changed = false;
  for (size_t d = 0; d < v->n_domains; d++)
    if (is_member(v, d, slot) && v->poll[d].claimed) changed |= follow(v, d, now);
  return changed;
}

bool wtl_vote_cast(wtl_vote *v, uint32_t share, uint64_t now)
{
  wtl_ballot *mine = &v->votes->ballot[v->slot];
  if (atomic_exchange(is_uncore(v) ? &mine->uncore : &mine->want, share) == share) return false;
  return follow_all(v, v->slot, now);
}

bool wtl_vote_serve(wtl_vote *v, uint32_t share, uint64_t now)
{
  if (atomic_exchange(&v->votes->ballot[v->slot].serve, share) == share) return false;
  return follow_all(v, v->slot, now);
}

bool wtl_vote_follow(wtl_vote *v, uint64_t now)
{
  return follow_all(v, v->slot, now);
}

bool wtl_vote_boost(wtl_vote *v, int slot, uint32_t phase, uint32_t share, uint64_t now)
{
  wtl_ballot *b = &v->votes->ballot[slot];
  if (atomic_load(&b->phase) != phase) return false;
  atomic_store(&b->boost, share);
  if (atomic_exchange(&b->boost_in, phase) == phase) return false; /* another PE was first */
  return follow_all(v, slot, now);
}

bool wtl_vote_phase(wtl_vote *v, uint32_t phase, uint64_t now)
{
  wtl_ballot *b = &v->votes->ballot[v->slot];
  uint32_t was = atomic_exchange(&b->phase, phase);
  return atomic_load(&b->boost_in) == was && follow_all(v, v->slot, now);
}

double wtl_vote_clock(const wtl_vote *v, uint64_t *since)
{
  if (v->own == v->n_domains) return 1;
  const wtl_poll *p = &v->poll[v->own];
  uint32_t share = atomic_load_explicit(&p->share, memory_order_acquire), base;
  const wtl_clock_domain *domain = wtl_knob_domain(v->knob, v->own);
  if (share == WTL_CLOCK_NORMAL || domain->hint || !(base = domain->base_khz)) return 1;
  *since = atomic_load(&p->since);
  return (double)wtl_vote_khz(v, v->own, share) / base;
}
