/* tsp_test.c - the parts of the travelling salesman that need no second PE. */
#include "../../apps/tsp/pool.h"
#include "../../apps/tsp/tsp.h"

#include <stdlib.h>

#include "../../apps/common/random.h"
#include "power/check.h"

/* Every tour, one after the other. */
static int32_t try_all(const tsp_graph *g, tsp_path *path, uint32_t seen)
{
  if (path->n == g->n) return tsp_cost_of(g, path);
  int32_t best = TSP_NO_TOUR;
  for (int to = 1; to < g->n; to++) {
    if (seen >> to & 1) continue;
    path->city[path->n++] = (uint8_t)to;
    int32_t cost = try_all(g, path, seen | 1u << to);
    best = cost < best ? cost : best;
    path->n--;
  }
  return best;
}

static int32_t exhaustive(const tsp_graph *g)
{
  tsp_path root = tsp_root(g);
  return try_all(g, &root, 1);
}

/* 300 instances of 2 to 7 cities, of which more and more edges are missing. */
static tsp_graph instance(int k, tsp_bound bound)
{
  tsp_graph g;
  tsp_random(&g, 2 + k % 6, (uint64_t)k, k / 4, bound);
  return g;
}

static void the_exact_solver_agrees_with_trying_every_tour(void)
{
  int without = 0;
  for (int k = 0; k < 300; k++) {
    tsp_graph g = instance(k, TSP_BY_COST);
    int32_t all = exhaustive(&g);
    without += all == TSP_NO_TOUR;
    CHECK(tsp_exact(&g) == all);
  }
  CHECK(without > 10 && without < 290); /* else this has tried one kind only */
}

static void no_bound_prunes_the_best_tour(void)
{
  for (int k = 0; k < 600; k++) {
    tsp_graph g = instance(k / 2, k % 2 ? TSP_BY_LEAVE : TSP_BY_COST);
    tsp_path root = tsp_root(&g);
    tsp_result r;
    tsp_work(&g, &root, 1, TSP_NO_TOUR, &r);
    CHECK(r.n_children == 0);
    CHECK(r.best.cost == exhaustive(&g));
    if (r.best.cost != TSP_NO_TOUR) CHECK(tsp_cost_of(&g, &r.best) == r.best.cost);
  }
}

static void the_extensions_of_a_path_hold_the_best_tour(void)
{
  for (int k = 0; k < 600; k++) {
    tsp_graph g = instance(k / 2, k % 2 ? TSP_BY_LEAVE : TSP_BY_COST);
    tsp_path root = tsp_root(&g);
    tsp_result split, r;
    tsp_work(&g, &root, 2, TSP_NO_TOUR, &split);
    CHECK(split.best.cost == TSP_NO_TOUR);
    int32_t best = TSP_NO_TOUR;
    for (int i = 0; i < split.n_children; i++) {
      CHECK(split.children[i].bound >= root.bound);
      tsp_work(&g, &split.children[i], 2, best, &r);
      best = r.best.cost < best ? r.best.cost : best;
    }
    CHECK(best == exhaustive(&g));
  }
}

static void a_tour_no_better_than_the_one_known_is_not_reported(void)
{
  for (int k = 0; k < 100; k++) {
    tsp_graph g = instance(k, TSP_BY_LEAVE);
    tsp_path root = tsp_root(&g);
    tsp_result r;
    tsp_work(&g, &root, 1, exhaustive(&g), &r);
    CHECK(r.best.cost == TSP_NO_TOUR);
  }
}

static void an_invalid_tour_has_no_cost(void)
{
  tsp_graph g;
  tsp_random(&g, 4, 1, 0, TSP_BY_COST);
  g.cost[2][3] = 0;
  CHECK(tsp_cost_of(&g, &(tsp_path){.n = 4, .city = {0, 1, 3, 2}}) != TSP_NO_TOUR);
  CHECK(tsp_cost_of(&g, &(tsp_path){.n = 4, .city = {0, 1, 2, 3}}) == TSP_NO_TOUR); /* no such edge */
  CHECK(tsp_cost_of(&g, &(tsp_path){.n = 4, .city = {0, 1, 1, 2}}) == TSP_NO_TOUR); /* a city twice */
  CHECK(tsp_cost_of(&g, &(tsp_path){.n = 3, .city = {0, 1, 3}}) == TSP_NO_TOUR);    /* one left out */
  CHECK(tsp_cost_of(&g, &(tsp_path){.n = 4, .city = {1, 0, 3, 2}}) == TSP_NO_TOUR); /* begins elsewhere */
  CHECK(tsp_cost_of(&g, &(tsp_path){.n = 4, .city = {0, 1, 9, 2}}) == TSP_NO_TOUR); /* no such city */
}

static void the_pool_hands_out_the_lowest_bound_first_and_drops_hopeless_jobs(void)
{
  tsp_pool pool;
  tsp_path first = {.n = 1};
  uint64_t seed = 5;
  pool_init(&pool, 1, 1);
  pool_open(&pool, &first);
  tsp_job job;
  CHECK(pool_ask(&pool, 7, &job));
  for (int k = 0; k < 500; k++) {
    tsp_result r = {.best = tsp_no_path(), .n_children = TSP_MOST};
    for (int i = 0; i < TSP_MOST; i++) {
      r.children[i].bound = (int32_t)(next_random(&seed) % 100000);
      r.children[i].n = 2;
    }
    pool_take(&pool, &r);
  }
  int32_t last = 0;
  for (int k = 0; k < 5000; k++) {
    CHECK(pool_ask(&pool, 7, &job));
    CHECK(job.path.bound >= last);
    last = job.path.bound;
  }
  pool_take(&pool, &(tsp_result){.best = {.cost = last, .n = 2}});
  CHECK(!pool_ask(&pool, 7, &job));
  CHECK(pool_done(&pool));
  pool_free(&pool);
}

static void the_pool_announces_each_better_tour_once(void)
{
  tsp_pool pool;
  int32_t cost = 0;
  pool_init(&pool, 1, 1);
  CHECK(!pool_tell(&pool, &cost));
  pool_take(&pool, &(tsp_result){.best = {.cost = 30, .n = 2}});
  pool_take(&pool, &(tsp_result){.best = {.cost = 20, .n = 2}});
  CHECK(pool_tell(&pool, &cost) && cost == 20);
  CHECK(!pool_tell(&pool, &cost));
  pool_take(&pool, &(tsp_result){.best = {.cost = 20, .n = 2}});
  CHECK(!pool_tell(&pool, &cost));
  pool_take(&pool, &(tsp_result){.best = {.cost = 19, .n = 2}});
  CHECK(pool_tell(&pool, &cost) && cost == 19);
  pool_reset(&pool);
  pool_take(&pool, &(tsp_result){.best = {.cost = 50, .n = 2}});
  CHECK(pool_tell(&pool, &cost) && cost == 50);
  pool_free(&pool);
}

static void a_master_that_works_gets_jobs_without_asking(void)
{
  tsp_pool pool;
  tsp_path first = {.n = 1};
  tsp_job job;
  int worker;
  pool_init(&pool, 1, 1);
  CHECK(!pool_own(&pool, &job));
  CHECK(!pool_ask(&pool, 1, &job));
  pool_open(&pool, &first);
  CHECK(pool_own(&pool, &job) && job.path.n == 1);
  CHECK(!pool_own(&pool, &job));
  pool_take(&pool, &(tsp_result){.best = tsp_no_path(), .n_children = 2, .children = {{.n = 2}, {.n = 3}}});
  CHECK(pool_next(&pool, &worker, &job) && worker == 1 && job.path.n == 3);
  CHECK(!pool_next(&pool, &worker, &job)); /* no worker asks */
  CHECK(pool_own(&pool, &job) && job.path.n == 2);
  CHECK(!pool_done(&pool)); /* 1 has not reported */
  CHECK(!pool_ask(&pool, 1, &job) && pool_done(&pool));
  pool_free(&pool);
}

static void the_pool_is_done_only_when_every_worker_waits(void)
{
  tsp_pool pool;
  tsp_path first = {.n = 1};
  tsp_job job;
  int worker;
  pool_init(&pool, 2, 1);
  CHECK(!pool_ask(&pool, 1, &job)); /* before there is anything */
  CHECK(!pool_done(&pool));
  pool_open(&pool, &first);
  CHECK(pool_next(&pool, &worker, &job) && worker == 1);
  CHECK(!pool_ask(&pool, 2, &job));
  CHECK(!pool_done(&pool)); /* 1 may still come with more */
  pool_take(&pool, &(tsp_result){.best = tsp_no_path(), .n_children = 2, .children = {{.n = 2}, {.n = 2}}});
  CHECK(pool_ask(&pool, 1, &job));
  CHECK(pool_next(&pool, &worker, &job) && worker == 2);
  CHECK(!pool_ask(&pool, 1, &job) && !pool_done(&pool));
  CHECK(!pool_ask(&pool, 2, &job) && pool_done(&pool));
  pool_free(&pool);
}

static tsp_graph read_text(const char *text, const char **wrong)
{
  tsp_graph g;
  char file[] = "/tmp/wattle-tsp-XXXXXX";
  FILE *out = fdopen(mkstemp(file), "w");
  fputs(text, out);
  fclose(out);
  *wrong = tsp_read(&g, file, TSP_BY_COST);
  remove(file);
  return g;
}

static void a_file_that_is_no_instance_is_refused(void)
{
  const char *wrong;
  tsp_graph g = read_text("3\n0 1 2\n3 0 4\n5 6 0\n", &wrong);
  CHECK(!wrong && g.n == 3 && g.cost[1][2] == 4 && tsp_exact(&g) == 10); /* 0 1 2 0: 1 + 4 + 5 */
  read_text("", &wrong);
  CHECK_CONTAINS(wrong ? wrong : "", "number of cities");
  read_text("25\n", &wrong);
  CHECK_CONTAINS(wrong ? wrong : "", "2 to 24");
  read_text("1\n0\n", &wrong);
  CHECK_CONTAINS(wrong ? wrong : "", "2 to 24");
  read_text("3\n0 1 2\n3 0 4\n5 6\n", &wrong);
  CHECK_CONTAINS(wrong ? wrong : "", "ends before");
  read_text("2\n0 1\n-3 0\n", &wrong);
  CHECK_CONTAINS(wrong ? wrong : "", "cost");
  CHECK_CONTAINS(tsp_read(&g, "no such file", TSP_BY_COST), "cannot be opened");
}

TESTS(TEST(the_exact_solver_agrees_with_trying_every_tour), TEST(no_bound_prunes_the_best_tour),
      TEST(the_extensions_of_a_path_hold_the_best_tour), TEST(a_tour_no_better_than_the_one_known_is_not_reported),
      TEST(an_invalid_tour_has_no_cost), TEST(the_pool_hands_out_the_lowest_bound_first_and_drops_hopeless_jobs),
      TEST(the_pool_announces_each_better_tour_once), TEST(a_master_that_works_gets_jobs_without_asking),
      TEST(the_pool_is_done_only_when_every_worker_waits), TEST(a_file_that_is_no_instance_is_refused))
