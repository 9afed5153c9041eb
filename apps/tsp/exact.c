/* exact.c - computes the reference result by Held and Karp's dynamic programming, independently of branch and bound. */
#include "tsp.h"

#include <stdlib.h>

int32_t tsp_exact(const tsp_graph *g)
{
  int n = g->n, others = n - 1; /* sets are of the cities 1 to n - 1: city c is bit c - 1 */
  size_t sets = (size_t)1 << others;
  int32_t *least =
      malloc(sets * (size_t)others * sizeof *least); /* [set][last]: from 0 through the set, ending in last */
  if (!least) return -1;
  for (size_t set = 1; set < sets; set++)
    for (int last = 0; last < others; last++) {
      int32_t *here = &least[set * (size_t)others + (size_t)last];
      size_t without = set & ~((size_t)1 << last);
      *here = TSP_NO_TOUR;
      if (without == set) continue;
      if (!without && g->cost[0][last + 1]) *here = g->cost[0][last + 1];
      for (int before = 0; before < others; before++) {
        if (!(without >> before & 1) || !g->cost[before + 1][last + 1]) continue;
        int32_t cost = least[without * (size_t)others + (size_t)before];
        if (cost != TSP_NO_TOUR && cost + g->cost[before + 1][last + 1] < *here)
          *here = cost + g->cost[before + 1][last + 1];
      }
    }
  int32_t best = TSP_NO_TOUR;
  for (int last = 0; last < others; last++) {
    int32_t cost = least[(sets - 1) * (size_t)others + (size_t)last];
    if (cost != TSP_NO_TOUR && g->cost[last + 1][0] && cost + g->cost[last + 1][0] < best)
      best = cost + g->cost[last + 1][0];
  }
  free(least);
  return best;
}
