/*
 * active_set.c - the barrier of an active set, a dissemination barrier (Hensgen, Finkel and Manber, 1988). It takes
 * ceil(log2(n)) rounds of one message each.
 *
 * The counters lie in the program's own symmetric memory (pSync). In round k a PE adds 1 to word k of the PE that is
 * 2^k after it. It waits until its own word k is not 0, and subtracts 1. So all words are 0 again when no PE is in the
 * barrier. A neighbour that is one barrier ahead has added a second 1, which stays for the next barrier.
 */
#include "team/active_set.h"

#include "pgas/rma.h"
#include "team/barrier.h"
#include "team/team.h"

_Static_assert((int)WTL_BARRIER_ROUNDS <= (int)WTL_ACTIVE_EXCHANGE && (int)WTL_ACTIVE_EXCHANGE < (int)WTL_ACTIVE_WORDS,
               "pSync has a word for each round");

static bool has_arrived(void *word)
{
  return __atomic_load_n((const long *)word, __ATOMIC_ACQUIRE) != 0;
}

static void signal_arrival(wtl_pe *self, wtl_site *site, long *word, int pe)
{
  wtl_op op = {.self = self, .site = site, .pe = pe, .nbi = true};
  wtl_amo(op, word, (wtl_atomic){WTL_AMO_ADD, sizeof *word, 1, 0}, NULL);
}

static void wait_for_arrival(wtl_pe *self, wtl_site *site, const wtl_team *t, int round, long *mine)
{
  wtl_team_wait_for_arrival(self, site, t, wtl_watch_of(self, &t->sync[round]), has_arrived, mine);
}

void wtl_active_barrier(wtl_pe *self, wtl_site *site, wtl_team *t)
{
  for (int k = 0; 1 << k < t->n; k++) {
    long *mine = (long *)(void *)wtl_remote(self, &t->sync[k], self->me);
    signal_arrival(self, site, &t->sync[k], wtl_team_pe(self, t, (t->me + (1 << k)) % t->n));
    if (!has_arrived(mine)) wait_for_arrival(self, site, t, k, mine);
    __atomic_fetch_sub(mine, 1, __ATOMIC_SEQ_CST);
  }
}
