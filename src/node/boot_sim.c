/* boot_sim.c - boot of a simulation: as many consecutive PEs as the cluster says are on one node. */
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
  int each = wtl_sim_pes_a_node();
  b->pe = wtl_sim_pe();
  b->n_pes = wtl_sim_pes();
  b->node = b->pe / each;
  b->n_nodes = (b->n_pes + each - 1) / each;
  b->local_rank = b->pe % each;
  b->n_local = b->n_pes - b->node * each < each ? b->n_pes - b->node * each : each;
  b->local_pe = calloc((size_t)b->n_local, sizeof *b->local_pe);
  b->leader_pe = wtl_sim_first_pes();
  if (!b->local_pe) return snprintf(error, size, "no memory to join the job"), -1;
  for (int slot = 0; slot < b->n_local; slot++) b->local_pe[slot] = b->node * each + slot;
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

static void *memory(wtl_boot *b, size_t bytes, int *fd, size_t *place)
{
  (void)b;
  return wtl_sim_node_memory(bytes, fd, place);
}

static void stop(wtl_boot *b)
{
  wtl_sim_barrier();
  free(b->local_pe);
}

static const wtl_boot_ops boot_sim = {.name = "sim",
                                      .offered = offered,
                                      .start = start,
                                      .publish = publish,
                                      .fence = fence,
                                      .lookup = lookup,
                                      .memory = memory,
                                      .stop = stop};

const wtl_boot_ops *const wtl_boot_kinds[] = {&boot_sim, NULL};
