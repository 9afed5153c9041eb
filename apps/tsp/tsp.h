/*
 * tsp.h - the travelling salesman: instances, partial tours, and the pruning that every version shares.
 *
 * A tour begins and ends in city 0, visits every city once and uses only edges that exist; costs are of one way, so
 * there and back may differ. An instance may have no tour.
 *
 * A partial tour (tsp_path) is pruned when its bound is no less than the cost of the best tour known. Two bounds are
 * there: TSP_BY_COST, what the path has cost so far; TSP_BY_LEAVE adds the least that leaving each city still to be
 * left costs, which prunes so well that the papers' 15 cities are no work to share any more. Short partial tours are
 * split into their extensions, longer ones are searched to the end by one PE: that is one job (tsp_work), whichever way
 * the versions hand it out.
 */
#ifndef APPS_TSP_H
#define APPS_TSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TSP_MOST = 24, TSP_NO_TOUR = INT32_MAX };

typedef enum tsp_bound { TSP_BY_COST, TSP_BY_LEAVE } tsp_bound;

typedef struct tsp_graph {
  int32_t n;                           /* cities: 2 to TSP_MOST */
  int32_t cost[TSP_MOST][TSP_MOST];    /* from, to; 0: no edge. The diagonal is not looked at. */
  int32_t leave[TSP_MOST];             /* what leaving the city adds to a bound; 0 by cost alone */
  int32_t leave_all;                   /* their sum; TSP_NO_TOUR where one city cannot be left */
  int32_t ways[TSP_MOST];              /* edges that leave the city */
  uint8_t nearest[TSP_MOST][TSP_MOST]; /* where they lead, cheapest first */
} tsp_graph;

/* The first n cities of a tour. Plain data: sent from PE to PE as it is. */
typedef struct tsp_path {
  int32_t cost;  /* of its edges; of a whole tour also of the way back; TSP_NO_TOUR: no path at all */
  int32_t bound; /* no tour that begins so costs less */
  uint8_t n;
  uint8_t city[TSP_MOST];
  uint8_t pad[7];
} tsp_path;

/* What a job came to. `children`: extensions that are jobs of their own. Sent with only as many of them as there are
 * (tsp_result_bytes). */
typedef struct tsp_result {
  tsp_path best; /* a tour better than the one the job knew of, or TSP_NO_TOUR */
  uint64_t visited;
  int32_t n_children;
  int32_t pad;
  tsp_path children[TSP_MOST];
} tsp_result;

static inline size_t tsp_result_bytes(const tsp_result *r)
{
  return offsetof(tsp_result, children) + (size_t)r->n_children * sizeof(tsp_path);
}

/* Reads a file: the number of cities, then the matrix, rows `from`. NULL where that went well, else what is wrong, in
 * static storage. */
const char *tsp_read(tsp_graph *g, const char *file, tsp_bound bound);

/* A random instance: costs from 1 to 100; of 100 edges `missing` are not there. */
void tsp_random(tsp_graph *g, int n, uint64_t seed, int missing, tsp_bound bound);

/* The partial tour that holds city 0 alone. */
tsp_path tsp_root(const tsp_graph *g);

static inline tsp_path tsp_no_path(void)
{
  return (tsp_path){.cost = TSP_NO_TOUR, .bound = TSP_NO_TOUR};
}

/*
 * Does one job. Paths of fewer than `split` cities are split: r gets their extensions that may still beat `best`.
 * Others are searched: r gets the best tour found, if it is cheaper than `best`.
 */
void tsp_work(const tsp_graph *g, const tsp_path *job, int split, int32_t best, tsp_result *r);

/* The cost of the best tour by dynamic programming over sets of cities (Held and Karp), sequentially: 2^n * n words of
 * memory. TSP_NO_TOUR where there is none. For n <= TSP_EXACT_MOST. -1: out of memory. */
enum { TSP_EXACT_MOST = 18 };
int32_t tsp_exact(const tsp_graph *g);

/* The cost of the tour, counted edge by edge; TSP_NO_TOUR if it is not a tour. */
int32_t tsp_cost_of(const tsp_graph *g, const tsp_path *tour);

#endif
