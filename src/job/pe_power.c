/* pe_power.c - the PEs of an OpenSHMEM or ARMCI job add up their watts, in a reduction of one element. */
#include "collective/collective.h"
#include "govern/governor.h"
#include "job/pe_governor.h"
#include "team/team_entry.h"

static void add(void *to, const void *from, size_t n)
{
  wtl_power_part *sum = to;
  const wtl_power_part *part = from;
  for (size_t i = 0; i < n; i++) wtl_budget_part_add(&sum[i], &part[i]);
}

void wtl_governed_exchange_watts(wtl_pe *self, wtl_site *site)
{
  wtl_governor *g = self->door.governor;
  /* Calls such as shmem_malloc read shared memory after their barrier, which the reduction would write. */
  if (wtl_call_of(self->door.calls, site->call)->kind == WTL_CALL_OTHER) return;
  wtl_power_part mine, all;
  wtl_collective c = {.self = self,
                      .site = site,
                      .team = self->world,
                      .dest = &all,
                      .source = &mine,
                      .n = 1,
                      .size = sizeof mine,
                      .combine = add};
  wtl_governor_share_watts(g, &mine, wtl_ticks());
  wtl_reduce(&c);
  wtl_governor_hear_watts(g, &all, wtl_ticks());
}
