/*
 * tsp.h - the travelling salesman: instances, partial tours, and the pruning that every version shares.
 *
 * A tour begins and ends in city 0, visits every city once and uses only existing edges. Costs are of one direction,
 * so the two directions may differ. An instance may have no tour.
 *
 * A partial tour (tsp_path) is pruned when its bound is at least the cost of the best known tour. There are two
 * bounds. TSP_BY_COST is the cost of the path so far. TSP_BY_LEAVE adds the least cost of leaving each remaining
 * city; it prunes so well that the papers' 15 cities are too little work to share. Short partial tours are split
 * into their extensions. Longer ones are searched to the end by one PE: that is one job (tsp_work), in every
 * version.
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
  int32_t n;                           /* number of cities: 2 to TSP_MOST */
  int32_t cost[TSP_MOST][TSP_MOST];    /* from, to; 0: no edge. The diagonal is ignored. */
  int32_t leave[TSP_MOST];             /* addition to a bound for leaving the city; 0 by cost alone */
  int32_t leave_all;                   /* their sum; TSP_NO_TOUR where one city cannot be left */
  int32_t ways[TSP_MOST];              /* edges that leave the city */
  uint8_t nearest[TSP_MOST][TSP_MOST]; /* their ends, cheapest first */
} tsp_graph;

/* The first n cities of a tour. Plain data, which PEs send unchanged. */
typedef struct tsp_path {
  int32_t cost;  /* of its edges; of a whole tour also of the way back; TSP_NO_TOUR: no path */
  int32_t bound; /* a lower bound of the cost of tours that begin with it */
  uint8_t n;
  uint8_t city[TSP_MOST];
  uint8_t pad[7];
} tsp_path;

/* The result of a job. `children`: extensions that are separate jobs. A message holds only the existing ones
 * (tsp_result_bytes). */
typedef struct tsp_result {
  tsp_path best; /* a tour better than the one that the job knew, or TSP_NO_TOUR */
  uint64_t visited;
  int32_t n_children;
  int32_t pad;
  tsp_path children[TSP_MOST];
} tsp_result;

static inline size_t tsp_result_bytes(const tsp_result *r)
{
  return offsetof(tsp_result, children) + (size_t)r->n_children * sizeof(tsp_path);
}

/* Reads a file: the number of cities, then the matrix, rows `from`. Returns NULL, or an error in static storage. */
const char *tsp_read(tsp_graph *g, const char *file, tsp_bound bound);

/* Makes a random instance: costs from 1 to 100; of 100 edges `missing` do not exist. */
void tsp_random(tsp_graph *g, int n, uint64_t seed, int missing, tsp_bound bound);

/* The partial tour with city 0 alone. */
tsp_path tsp_root(const tsp_graph *g);

static inline tsp_path tsp_no_path(void)
{
  return (tsp_path){.cost = TSP_NO_TOUR, .bound = TSP_NO_TOUR};
}

/* Does one job. A path of fewer than `split` cities is split: r gets its extensions that may still be better than
 * `best`. Others are searched: r gets the best tour found, if it is cheaper than `best`. */
void tsp_work(const tsp_graph *g, const tsp_path *job, int split, int32_t best, tsp_result *r);

/* The cost of the best tour by dynamic programming over sets of cities (Held and Karp), sequentially, with 2^n * n
 * words of memory. TSP_NO_TOUR where there is none, -1 where memory ran out. For n <= TSP_EXACT_MOST. */
enum { TSP_EXACT_MOST = 18 };
int32_t tsp_exact(const tsp_graph *g);

/* The cost of the tour, counted edge by edge; TSP_NO_TOUR if it is not a tour. */
int32_t tsp_cost_of(const tsp_graph *g, const tsp_path *tour);

#endif
