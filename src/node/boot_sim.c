/* boot_sim.c - boot of a simulation: each PE has its own node. */
#include <stdio.h>
#include <stdlib.h>

#include "node/boot.h"
#include "sim/simulator.h"

static bool offered(void)
{
  return true;
}

static int start(wtl_boot *b, char *error, size_t size)
{
  b->pe = b->node = wtl_sim_pe();
  b->n_pes = b->n_nodes = wtl_sim_pes();
  b->n_local = 1;
  b->local_pe = calloc(1, sizeof *b->local_pe);
  b->leader_pe = calloc((size_t)b->n_pes, sizeof *b->leader_pe);
  if (!b->local_pe || !b->leader_pe) return snprintf(error, size, "no memory to join the job"), -1;
  b->local_pe[0] = b->pe;
  for (int pe = 0; pe < b->n_pes; pe++) b->leader_pe[pe] = pe;
  return 0;
}

static int publish(wtl_boot *b, const char *key, const char *value)
{
  wtl_sim_publish(key, value);
  return 0;
}

static int fence(wtl_boot *b)
{
  wtl_sim_barrier();
  return 0;
}

static int lookup(wtl_boot *b, int pe, const char *key, char *value, size_t size)
{
  return wtl_sim_lookup(pe, key, value, size) ? 0 : -1;
}

static void stop(wtl_boot *b)
{
  wtl_sim_barrier();
  free(b->local_pe);
  free(b->leader_pe);
}

static const wtl_boot_ops boot_sim = {.name = "sim",
                                      .offered = offered,
                                      .start = start,
                                      .publish = publish,
                                      .fence = fence,
                                      .lookup = lookup,
                                      .stop = stop};

const wtl_boot_ops *const wtl_boot_kinds[] = {&boot_sim, NULL};
