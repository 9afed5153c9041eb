/* mst_test.c - the parts of the minimum spanning tree that need no PEs: the graphs and the answer to check against. */
#include "../../apps/mst/mst.h"

#include <stdlib.h>

#include "power/check.h"

/* The same answer by another algorithm, Prim's, in the plainest form: the lightest edge out of what is reached, again
 * and again. */
static forest prim(const graph *g)
{
  forest f = {0};
  size_t vertices = (size_t)1 << g->log_vertices;
  bool *reached = calloc(vertices, sizeof *reached);
  for (size_t root = 0; root < vertices; root++) {
    if (reached[root]) continue;
    reached[root] = true;
    for (edge lightest;;) {
      lightest.key = UINT64_MAX;
      for (uint64_t k = 0; k < g->edges; k++) {
        edge e = graph_edge(g, k);
        if (reached[e.u] != reached[e.v] && e.key < lightest.key) lightest = e;
      }
      if (lightest.key == UINT64_MAX) break;
      reached[lightest.u] = reached[lightest.v] = true;
      forest_add(&f, lightest.key);
    }
  }
  free(reached);
  return f;
}

static graph small(uint64_t k)
{
  return (graph){.kind = k % 2 ? RMAT : UNIFORM, .log_vertices = (int)(k % 6), .edges = k % 40, .seed = k};
}

static void kruskal_and_prim_agree(void)
{
  for (uint64_t k = 0; k < 400; k++) {
    graph g = small(k);
    forest a, b = prim(&g);
    CHECK(kruskal(&g, &a));
    CHECK(a.weight == b.weight && a.edges == b.edges && a.check == b.check);
  }
}

static void an_edge_lies_within_the_graph_and_its_key_is_its_own(void)
{
  for (uint64_t k = 0; k < 20000; k++) {
    graph g = {.kind = k % 2 ? RMAT : UNIFORM, .log_vertices = 20, .edges = 20000, .seed = 3};
    edge e = graph_edge(&g, k);
    CHECK(e.u < 1u << 20 && e.v < 1u << 20);
    CHECK((e.key & (((uint64_t)1 << KEY_BITS) - 1)) == k);
    CHECK(e.key >> KEY_BITS >= 1 && e.key >> KEY_BITS <= 1u << 20);
  }
}

static uint64_t low_ends(graph_kind kind)
{
  graph g = {.kind = kind, .log_vertices = 16, .edges = 10000, .seed = 9};
  uint64_t low = 0;
  for (uint64_t k = 0; k < g.edges; k++) low += graph_edge(&g, k).u < 1u << 15;
  return low;
}

/* Its first quarter and its second hold 0.57 + 0.19 of the edges. */
static void an_rmat_graph_is_skewed_as_it_should_be_and_a_uniform_one_is_not(void)
{
  CHECK_NEAR((double)low_ends(RMAT), 7600, 200);
  CHECK_NEAR((double)low_ends(UNIFORM), 5000, 250);
}

static void the_check_distinguishes_forests_of_equal_weight(void)
{
  forest a = {0}, b = {0};
  forest_add(&a, (uint64_t)5 << KEY_BITS | 1);
  forest_add(&b, (uint64_t)5 << KEY_BITS | 2);
  CHECK(a.weight == b.weight && a.edges == b.edges && a.check != b.check);
}

TESTS(TEST(kruskal_and_prim_agree), TEST(an_edge_lies_within_the_graph_and_its_key_is_its_own),
      TEST(an_rmat_graph_is_skewed_as_it_should_be_and_a_uniform_one_is_not),
      TEST(the_check_distinguishes_forests_of_equal_weight))
