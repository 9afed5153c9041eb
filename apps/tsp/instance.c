/*
 * instance.c - reads instances of the travelling salesman from a file or makes random ones, and derives data from
 * their costs.
 */
#include "tsp.h"

#include <string.h>

#include "../common/random.h"

/* Fills the data that follows from the costs. */
static void prepare(tsp_graph *g, tsp_bound bound)
{
  int64_t all = 0;
  for (int from = 0; from < g->n; from++) {
    int ways = 0;
    for (int to = 0; to < g->n; to++) {
      if (to == from || !g->cost[from][to]) continue;
      int at = ways++;
      for (; at > 0 && g->cost[from][g->nearest[from][at - 1]] > g->cost[from][to]; at--)
        g->nearest[from][at] = g->nearest[from][at - 1];
      g->nearest[from][at] = (uint8_t)to;
    }
    g->ways[from] = ways;
    g->leave[from] = ways && bound == TSP_BY_LEAVE ? g->cost[from][g->nearest[from][0]] : 0;
    all += ways ? g->leave[from] : TSP_NO_TOUR;
  }
  g->leave_all = all < TSP_NO_TOUR ? (int32_t)all : TSP_NO_TOUR;
}

/* The error for input without a whole number at its place. */
static const char *no_number(FILE *in, const char *at_the_end)
{
  if (ferror(in)) return "cannot be read";
  return feof(in) ? at_the_end : "has an entry in its matrix that is not a whole number";
}

static const char *read_costs(tsp_graph *g, FILE *in)
{
  enum { COST_MOST = 1000000 }; /* so that no sum of TSP_MOST of them overflows */
  char more;
  if (fscanf(in, "%d", &g->n) != 1) return ferror(in) ? "cannot be read" : "does not begin with the number of cities";
  if (g->n < 2 || g->n > TSP_MOST) return "has a number of cities that is not 2 to 24";
  for (int from = 0; from < g->n; from++)
    for (int to = 0; to < g->n; to++) {
      if (fscanf(in, "%d", &g->cost[from][to]) != 1) return no_number(in, "ends before its matrix does");
      if (g->cost[from][to] < 0 || g->cost[from][to] > COST_MOST) return "has a cost that is not 0 to 1000000";
    }
  if (fscanf(in, " %c", &more) == 1) return "continues after its matrix: are there more cities than it says?";
  return NULL;
}

const char *tsp_read(tsp_graph *g, const char *file, tsp_bound bound)
{
  memset(g, 0, sizeof *g);
  FILE *in = fopen(file, "r");
  if (!in) return "cannot be opened";
  const char *wrong = read_costs(g, in);
  fclose(in);
  if (!wrong) prepare(g, bound);
  return wrong;
}

void tsp_random(tsp_graph *g, int n, uint64_t seed, int missing, tsp_bound bound)
{
  memset(g, 0, sizeof *g);
  g->n = n;
  for (int from = 0; from < n; from++)
    for (int to = 0; to < n; to++) {
      bool there = next_random(&seed) % 100 >= (uint64_t)missing;
      int32_t cost = (int32_t)(1 + next_random(&seed) % 100);
      g->cost[from][to] = there ? cost : 0;
    }
  prepare(g, bound);
}

tsp_path tsp_root(const tsp_graph *g)
{
  return (tsp_path){.cost = 0, .bound = g->leave_all, .n = 1};
}

int32_t tsp_cost_of(const tsp_graph *g, const tsp_path *tour)
{
  int32_t cost = 0;
  uint32_t seen = 0;
  if (tour->n != g->n || tour->city[0] != 0) return TSP_NO_TOUR;
  for (int i = 0; i < g->n; i++) {
    int from = tour->city[i], to = tour->city[(i + 1) % g->n];
    if (from >= g->n || to >= g->n || from == to || !g->cost[from][to] || (seen >> from & 1)) return TSP_NO_TOUR;
    seen |= 1u << from;
    cost += g->cost[from][to];
  }
  return cost;
}
