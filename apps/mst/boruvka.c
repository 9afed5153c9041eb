/* boruvka.c - Boruvka's algorithm, see mst.h: the work of a PE, and the order of the exchanges. */
#include "mst.h"

#include <string.h>

#include "../common/job.h"

static const uint32_t none = UINT32_MAX;

/* The data of a round, apart from the part. */
typedef struct round_state {
  part *p;
  uint32_t *of_vertex; /* by component of the whole graph: a number, or none */
  uint32_t *touched;   /* components whose of_vertex is not none */
  size_t n_touched;
  offer *offers; /* these three are ordered by owner */
  uint32_t *asked;
  uint64_t *answers;
  size_t *first; /* by PE, one more than there are PEs */
} round_state;

part *part_make(const graph *g)
{
  part *p = job_calloc(1, sizeof *p);
  p->me = job_me();
  p->n_pes = job_n_pes();
  p->vertices = (uint64_t)1 << g->log_vertices;
  p->share = (p->vertices + (uint64_t)p->n_pes - 1) / (uint64_t)p->n_pes;
  uint64_t from = g->edges * (uint64_t)p->me / (uint64_t)p->n_pes;
  uint64_t end = g->edges * ((uint64_t)p->me + 1) / (uint64_t)p->n_pes;
  p->n_made = end - from;
  p->made = job_calloc(p->n_made, sizeof *p->made);
  p->edges = job_calloc(p->n_made, sizeof *p->edges);
  p->best_to = job_calloc(p->share, sizeof *p->best_to);
  for (int w = 0; w < 2; w++) p->words[w] = job_shared(p->share, sizeof *p->words[w]);
  for (size_t i = 0; i < p->n_made; i++) p->made[i] = graph_edge(g, from + i);
  return p;
}

void part_free(part *p)
{
  for (int w = 0; w < 2; w++) job_shared_free(p->words[w]);
  free(p->best_to);
  free(p->edges);
  free(p->made);
  free(p);
}

static size_t own_vertices(const part *p)
{
  uint64_t from = p->share * (uint64_t)p->me;
  uint64_t left = from < p->vertices ? p->vertices - from : 0;
  return left < p->share ? left : p->share;
}

void take_offers(part *p, const offer *offers, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    size_t own = offers[i].of % p->share;
    if (offers[i].key >= p->words[BEST_KEY][own]) continue;
    p->words[BEST_KEY][own] = offers[i].key;
    p->best_to[own] = offers[i].to;
  }
}

void answer(const part *p, word which, const uint32_t *vertex, size_t n, uint64_t *value)
{
  for (size_t i = 0; i < n; i++) value[i] = p->words[which][vertex[i] % p->share];
}

/* Finds where the vertices of each PE begin, among `n` vertices. */
static void count_owners(const part *p, const uint32_t *vertex, size_t n, size_t *first)
{
  memset(first, 0, ((size_t)p->n_pes + 1) * sizeof *first);
  for (size_t i = 0; i < n; i++) first[owner_of(p, vertex[i]) + 1]++;
  for (int pe = 0; pe < p->n_pes; pe++) first[pe + 1] += first[pe];
}

/* Restores the begins, which filling has advanced to the ends. */
static void first_again(const part *p, size_t *first)
{
  memmove(first + 1, first, (size_t)p->n_pes * sizeof *first);
  first[0] = 0;
}

static void touch(round_state *r, uint32_t vertex, uint32_t number)
{
  if (r->of_vertex[vertex] == none) r->touched[r->n_touched++] = vertex;
  r->of_vertex[vertex] = number;
}

static void forget_touched(round_state *r)
{
  for (size_t i = 0; i < r->n_touched; i++) r->of_vertex[r->touched[i]] = none;
  r->n_touched = 0;
}

static void consider(round_state *r, uint32_t component, uint32_t number)
{
  uint32_t before = r->of_vertex[component];
  if (before == none || r->p->edges[number].key < r->p->edges[before].key) touch(r, component, number);
}

/* Sends for each component the lightest of this PE's edges that leave it, to the component's owner. */
static void offer_lightest(round_state *r)
{
  part *p = r->p;
  for (size_t i = 0; i < p->n_edges; i++) {
    consider(r, p->edges[i].u, (uint32_t)i);
    consider(r, p->edges[i].v, (uint32_t)i);
  }
  count_owners(p, r->touched, r->n_touched, r->first);
  for (size_t i = 0; i < r->n_touched; i++) {
    uint32_t c = r->touched[i];
    const edge *e = &p->edges[r->of_vertex[c]];
    r->offers[r->first[owner_of(p, c)]++] = (offer){.of = c, .to = e->u == c ? e->v : e->u, .key = e->key};
  }
  first_again(p, r->first);
  send_offers(p, r->offers, r->first);
  forget_touched(r);
}

/* Requests the words of the vertices in r->touched. Afterwards r->of_vertex[vertex] is the index of its word in
 * r->answers. */
static void look_up_touched(round_state *r, word which)
{
  part *p = r->p;
  count_owners(p, r->touched, r->n_touched, r->first);
  for (size_t i = 0; i < r->n_touched; i++) {
    uint32_t v = r->touched[i];
    size_t at = r->first[owner_of(p, v)]++;
    r->asked[at] = v;
    r->of_vertex[v] = (uint32_t)at;
  }
  first_again(p, r->first);
  look_up(p, which, r->asked, r->first, r->answers);
}

/* Joins this PE's components along their best offers. Where two chose the same edge, the one with the smaller name
 * remains. Returns the number of components joined to others. */
static size_t join(round_state *r, forest *f)
{
  part *p = r->p;
  uint32_t from = (uint32_t)(p->share * (uint64_t)p->me);
  size_t n = own_vertices(p), joined = 0;
  for (size_t i = 0; i < n; i++)
    if (p->words[BEST_KEY][i] != UINT64_MAX) touch(r, p->best_to[i], 0);
  look_up_touched(r, BEST_KEY);
  for (size_t i = 0; i < n; i++) {
    uint64_t key = p->words[BEST_KEY][i];
    if (key == UINT64_MAX) continue;
    uint32_t to = p->best_to[i];
    if (r->answers[r->of_vertex[to]] == key && from + i < to) continue;
    p->words[PARENT][i] = to;
    forest_add(f, key);
    joined++;
  }
  forget_touched(r);
  return joined;
}

/* Sets every own vertex's parent to its present component. Each vertex repeatedly takes its parent's parent, until
 * no PE changes one. */
static void jump(round_state *r)
{
  part *p = r->p;
  uint32_t from = (uint32_t)(p->share * (uint64_t)p->me);
  size_t n = own_vertices(p);
  int64_t moved;
  do {
    job_barrier(); /* all parents are written */
    for (size_t i = 0; i < n; i++)
      if (p->words[PARENT][i] != from + i) touch(r, (uint32_t)p->words[PARENT][i], 0);
    look_up_touched(r, PARENT);
    moved = 0;
    for (size_t i = 0; i < n; i++) {
      if (p->words[PARENT][i] == from + i) continue;
      uint64_t farther = r->answers[r->of_vertex[p->words[PARENT][i]]];
      moved += farther != p->words[PARENT][i];
      p->words[PARENT][i] = farther;
    }
    forget_touched(r);
    moved = job_sum(moved);
  } while (moved);
}

/* Renames the ends of this PE's edges to their new components, and drops the edges inside one component. */
static void rename_ends(round_state *r)
{
  part *p = r->p;
  for (size_t i = 0; i < p->n_edges; i++) {
    touch(r, p->edges[i].u, 0);
    touch(r, p->edges[i].v, 0);
  }
  look_up_touched(r, PARENT);
  size_t left = 0;
  for (size_t i = 0; i < p->n_edges; i++) {
    edge e = p->edges[i];
    e.u = (uint32_t)r->answers[r->of_vertex[e.u]];
    e.v = (uint32_t)r->answers[r->of_vertex[e.v]];
    if (e.u != e.v) p->edges[left++] = e;
  }
  p->n_edges = left;
  forget_touched(r);
}

static void start(part *p)
{
  uint32_t from = (uint32_t)(p->share * (uint64_t)p->me);
  p->n_edges = 0;
  for (size_t i = 0; i < p->n_made; i++)
    if (p->made[i].u != p->made[i].v) p->edges[p->n_edges++] = p->made[i];
  for (size_t i = 0; i < own_vertices(p); i++) p->words[PARENT][i] = from + i;
}

int boruvka(part *p, forest *f)
{
  round_state r = {.p = p};
  size_t most = p->vertices < 2 * p->n_made + 2 * p->share ? p->vertices : 2 * p->n_made + 2 * p->share;
  r.of_vertex = job_calloc(p->vertices, sizeof *r.of_vertex);
  r.touched = job_calloc(most, sizeof *r.touched);
  r.offers = job_calloc(most, sizeof *r.offers);
  r.asked = job_calloc(most, sizeof *r.asked);
  r.answers = job_calloc(most, sizeof *r.answers);
  r.first = job_calloc((size_t)p->n_pes + 1, sizeof *r.first);
  memset(r.of_vertex, 0xff, p->vertices * sizeof *r.of_vertex);
  *f = (forest){0};
  start(p);
  int rounds = 0;
  for (int64_t joined = 1; joined; rounds++) {
    memset(p->words[BEST_KEY], 0xff, p->share * sizeof *p->words[BEST_KEY]);
    job_barrier(); /* before the first offer arrives */
    offer_lightest(&r);
    joined = job_sum((int64_t)join(&r, f));
    if (!joined) break;
    jump(&r);
    rename_ends(&r);
  }
  free(r.of_vertex);
  free(r.touched);
  free(r.offers);
  free(r.asked);
  free(r.answers);
  free(r.first);
  return rounds;
}
