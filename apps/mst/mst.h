/*
 * mst.h - a minimum spanning tree by many PEs: graphs from a seed, Boruvka's algorithm, and the functions of a
 * version.
 *
 * An edge's key is its weight, then its number, so all keys differ and there is one minimum spanning forest. It is
 * the same for every version, every number of PEs and Kruskal's algorithm. The graph may have several components;
 * the result is then a tree of each.
 *
 * Vertices, and the components with their names, are owned in blocks. Edges stay on the PE that made them. In a
 * round (boruvka.c) each PE finds among its edges the lightest that leaves each component and offers it to that
 * component's owner. Owners join components along the best offers. Then all PEs look up the new components of their
 * edges' ends. Offers and look-ups are small, many and irregular. Versions differ in how they send them.
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

/* An edge. u may equal v. */
typedef struct edge {
  uint32_t u, v;
  uint64_t key; /* weight << KEY_BITS | number */
} edge;

enum { KEY_BITS = 40 };

/* Computes edge number k directly. Weights are 1 to 2^20. */
edge graph_edge(const graph *g, uint64_t k);

/* The values that are compared: a forest's weight and number of edges, and a checksum over its edges. */
typedef struct forest {
  uint64_t weight, edges, check;
} forest;

void forest_add(forest *f, uint64_t key);

/* The result of Kruskal's algorithm, sequentially. Returns false where memory ran out. */
bool kruskal(const graph *g, forest *f);

/* ---- a PE's part ---- */

/* An offer: the lightest of this PE's edges that leave component `of` has this key and leads to component `to`. */
typedef struct offer {
  uint32_t of, to;
  uint64_t key;
} offer;

/* The words that can be looked up at owners. */
typedef enum word { PARENT, BEST_KEY } word;

typedef struct part {
  int me, n_pes;
  uint64_t vertices, share; /* of all PEs; of each PE (the last has fewer) */
  uint64_t
      *words[2]; /* by enum word, of each own vertex: its parent (itself: it is a component); its best offer's key */
  uint32_t *best_to; /* of each own vertex: the component to which its best offer leads */
  edge *made;        /* this PE's edges as generated */
  size_t n_made;
  edge *edges; /* the remaining edges, between components */
  size_t n_edges;
} part;

static inline int owner_of(const part *p, uint32_t vertex)
{
  return (int)(vertex / p->share);
}

/* Makes this PE's part. Ends the program with a message where memory runs out. Collective. */
part *part_make(const graph *g);
void part_free(part *p);

/* Runs the algorithm. Collective. `f` is this PE's part of the forest; sums over all PEs are the result. Returns the
 * number of rounds. */
int boruvka(part *p, forest *f);

/* Processes offers at their owner, in any order. One caller at a time. */
void take_offers(part *p, const offer *offers, size_t n);

/* An owner's answer: value[i] is the word of vertex[i]. */
void answer(const part *p, word which, const uint32_t *vertex, size_t n, uint64_t *value);

/* ---- functions of a version ---- */

extern const char mst_version[]; /* "am", "bucket" or "mpi" */

/* Called before the first and after the last of the following functions. Collective. */
void version_start(part *p);
void version_end(void);

/* Sends offers[first[pe]] to offers[first[pe + 1] - 1] to `pe`, which passes them to take_offers. Collective. It
 * returns when all offers for this PE are processed. Other PEs do not change an owner's words meanwhile. */
void send_offers(part *p, const offer *offers, const size_t *first);

/* Stores in value[i] the word of vertex[i]; vertex[first[pe]] to vertex[first[pe + 1] - 1] are those of `pe`.
 * Collective. A PE returns after its answers have arrived and other PEs have read its words. */
void look_up(part *p, word which, const uint32_t *vertex, const size_t *first, uint64_t *value);

#endif
