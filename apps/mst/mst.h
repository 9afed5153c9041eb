/*
 * mst.h - a minimum spanning tree by many PEs: graphs from a seed, Boruvka's algorithm, and what a version has to do
 * for it.
 *
 * An edge's key is its weight, then its number, so no two are alike and there is one minimum spanning forest: the same
 * for every version, every number of PEs and Kruskal. The graph may be in several pieces; then the answer is a tree of
 * each.
 *
 * Vertices, and the components that bear their names, are owned in blocks; edges lie where they were made and stay
 * there. In a round (boruvka.c) each PE finds among its edges the lightest that leaves each component and offers it to
 * that component's owner; owners join components along the best offers, and all PEs look up what their edges' ends have
 * become. Offers and look-ups are small, many and irregular: that is what versions differ in.
 */
#ifndef APPS_MST_H
#define APPS_MST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum graph_kind { UNIFORM, RMAT } graph_kind;

typedef struct graph {
  graph_kind kind;
  int log_vertices;
  uint64_t edges;
  uint64_t seed;
} graph;

/* An edge; u == v may be. */
typedef struct edge {
  uint32_t u, v;
  uint64_t key; /* weight << KEY_BITS | number */
} edge;

enum { KEY_BITS = 40 };

/* Edge number k, without the ones before it. Weights are 1 to 2^20. */
edge graph_edge(const graph *g, uint64_t k);

/* What is compared: a forest's weight and number of edges, and a sum over its edges that other edges would not give. */
typedef struct forest {
  uint64_t weight, edges, check;
} forest;

void forest_add(forest *f, uint64_t key);

/* The answer by Kruskal's algorithm, sequentially. false: no memory. */
bool kruskal(const graph *g, forest *f);

/* ---- a PE's part ---- */

/* "The lightest of my edges that leaves component `of` has this key and leads to component `to`." */
typedef struct offer {
  uint32_t of, to;
  uint64_t key;
} offer;

/* What owners are asked for. */
typedef enum word { PARENT, BEST_KEY } word;

typedef struct part {
  int me, n_pes;
  uint64_t vertices, share; /* on all PEs; of each PE, the last has fewer */
  uint64_t
      *words[2]; /* by enum word, of each own vertex: its parent (itself: it is a component); its best offer's key */
  uint32_t *best_to; /* of each own vertex: where its best offer leads */
  edge *made;        /* our edges as the graph has them */
  size_t n_made;
  edge *edges; /* those left, between components */
  size_t n_edges;
} part;

static inline int owner_of(const part *p, uint32_t vertex)
{
  return (int)(vertex / p->share);
}

/* Makes our part: exits the program, with a message, where memory ends. Every PE together. */
part *part_make(const graph *g);
void part_free(part *p);

/* The whole algorithm; every PE together. `f` is our part of the forest: sums over all PEs are the answer. Returns the
 * rounds. */
int boruvka(part *p, forest *f);

/* An owner takes in offers, in any order. One caller at a time. */
void take_offers(part *p, const offer *offers, size_t n);

/* An owner's answer: value[i] is the word of vertex[i]. */
void answer(const part *p, word which, const uint32_t *vertex, size_t n, uint64_t *value);

/* ---- what a version does ---- */

extern const char mst_version[]; /* "am", "bucket" or "mpi" */

/* Memory that the version's look-ups can reach, zeroed; NULL: there is none. Every PE together, with the same size. */
void *version_alloc(size_t bytes);
void version_free(void *p);

/* Before the first and after the last of the following; every PE together. */
void version_start(part *p);
void version_end(void);

/* offers[first[pe]] to offers[first[pe + 1] - 1] are for `pe`, whose take_offers gets them. Every PE together; it
 * returns when all that is for this PE was taken in. Owners' words are not changed by others meanwhile. */
void send_offers(part *p, const offer *offers, const size_t *first);

/* value[i] is the word of vertex[i]; vertex[first[pe]] to vertex[first[pe + 1] - 1] are of `pe`. Every PE together;
 * nobody returns before what it asked for is here, nor before others have read its words. */
void look_up(part *p, word which, const uint32_t *vertex, const size_t *first, uint64_t *value);

#endif
