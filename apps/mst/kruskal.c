/* kruskal.c - computes the reference result: takes edges in order of weight, each that joins two components. */
#include "mst.h"

#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
  uint64_t x = ((const edge *)a)->key, y = ((const edge *)b)->key;
  return (x > y) - (x < y);
}

static uint32_t find(uint32_t *parent, uint32_t v)
{
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}

bool kruskal(const graph *g, forest *f)
{
  size_t vertices = (size_t)1 << g->log_vertices;
  uint32_t *parent = malloc(vertices * sizeof *parent);
  edge *edges = malloc((g->edges + 1) * sizeof *edges);
  *f = (forest){0};
  if (parent && edges) {
    for (size_t v = 0; v < vertices; v++) parent[v] = (uint32_t)v;
    for (uint64_t k = 0; k < g->edges; k++) edges[k] = graph_edge(g, k);
    qsort(edges, g->edges, sizeof *edges, by_key);
    for (uint64_t k = 0; k < g->edges; k++) {
      uint32_t u = find(parent, edges[k].u), v = find(parent, edges[k].v);
      if (u == v) continue;
      parent[u] = v;
      forest_add(f, edges[k].key);
    }
  }
  bool enough = parent && edges;
  free(parent);
  free(edges);
  return enough;
}
