/*
 * graph.c - generates edges from a seed. Each edge can be generated alone, so every PE makes its own and none are
 * sent.
 */
#include "mst.h"

#include "../common/random.h"

enum { WEIGHT_BITS = 20, WORDS = 8 }; /* random numbers that an edge may use */

/* Chooses one of four quarters of the adjacency matrix at each level, as R-MAT does, with the probabilities of
 * Graph500: 0.57, 0.19, 0.19, 0.05. */
static void rmat(const graph *g, uint64_t k, edge *e)
{
  uint64_t bits = 0;
  for (int level = 0; level < g->log_vertices; level++) {
    if (level % 4 == 0) bits = random_at(g->seed, k * WORDS + 1 + (uint64_t)level / 4);
    uint32_t r = bits & 0xffff;
    bits >>= 16;
    uint32_t quarter = r < 0.57 * 65536 ? 0 : r < 0.76 * 65536 ? 1 : r < 0.95 * 65536 ? 2 : 3;
    e->u = e->u << 1 | quarter >> 1;
    e->v = e->v << 1 | (quarter & 1);
  }
}

edge graph_edge(const graph *g, uint64_t k)
{
  uint64_t r = random_at(g->seed, k * WORDS);
  uint64_t weight = 1 + (r >> (64 - WEIGHT_BITS));
  edge e = {.key = weight << KEY_BITS | k};
  if (g->kind == RMAT) {
    rmat(g, k, &e);
  } else {
    uint64_t ends = random_at(g->seed, k * WORDS + 1), mask = ((uint64_t)1 << g->log_vertices) - 1;
    e.u = (uint32_t)(ends & mask);
    e.v = (uint32_t)(ends >> 32 & mask);
  }
  return e;
}

void forest_add(forest *f, uint64_t key)
{
  f->weight += key >> KEY_BITS;
  f->edges++;
  f->check += random_at(key, 0);
}
