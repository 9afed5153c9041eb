/* search.c - branch and bound: the work of a job, in every version. */
#include "tsp.h"

/* A search below one partial tour. `leave`: a lower bound of the cost of leaving the remaining cities, including the
 * last city of the path. */
typedef struct search {
  const tsp_graph *g;
  tsp_result *result;
  tsp_path path;
  uint32_t seen;
  int32_t best; /* only cheaper tours count */
} search;

static void found(search *s, int32_t cost)
{
  s->best = cost;
  s->result->best = s->path;
  s->result->best.cost = s->result->best.bound = cost;
}

static void deeper(search *s, int32_t leave)
{
  const tsp_graph *g = s->g;
  int last = s->path.city[s->path.n - 1];
  s->result->visited++;
  if (s->path.n == g->n) {
    int32_t back = g->cost[last][0];
    if (back && s->path.cost + back < s->best) found(s, s->path.cost + back);
    return;
  }
  leave -= g->leave[last];
  for (int i = 0; i < g->ways[last]; i++) {
    int to = g->nearest[last][i];
    int32_t cost = g->cost[last][to];
    if (s->path.cost + cost + leave >= s->best) break; /* the others cost even more */
    if (s->seen >> to & 1) continue;
    s->path.city[s->path.n++] = (uint8_t)to;
    s->path.cost += cost;
    s->seen |= 1u << to;
    deeper(s, leave);
    s->seen &= ~(1u << to);
    s->path.cost -= cost;
    s->path.n--;
  }
}

static void split_path(const tsp_graph *g, const tsp_path *job, uint32_t seen, int32_t best, tsp_result *r)
{
  int last = job->city[job->n - 1];
  int32_t leave = job->bound - job->cost - g->leave[last];
  r->visited++;
  for (int i = 0; i < g->ways[last]; i++) {
    int to = g->nearest[last][i];
    if (seen >> to & 1) continue;
    tsp_path child = *job;
    child.cost += g->cost[last][to];
    child.bound = child.cost + leave;
    child.city[child.n++] = (uint8_t)to;
    if (child.bound < best) r->children[r->n_children++] = child;
  }
}

void tsp_work(const tsp_graph *g, const tsp_path *job, int split, int32_t best, tsp_result *r)
{
  uint32_t seen = 0;
  for (int i = 0; i < job->n; i++) seen |= 1u << job->city[i];
  r->best = tsp_no_path();
  r->visited = 0;
  r->n_children = r->pad = 0;
  if (job->bound >= best) return;
  if (job->n < split && job->n < g->n) {
    split_path(g, job, seen, best, r);
    return;
  }
  search s = {.g = g, .result = r, .path = *job, .seen = seen, .best = best};
  deeper(&s, job->bound - job->cost);
}
