/*
 * pool.c - the master's pool of work, see pool.h. The partial tours are a binary heap by bound; of equal ones the
 * longer is first.
 */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

static void *room_for(void *old, size_t count, size_t size)
{
  void *p = realloc(old, count * size);
  if (!p) {
    fprintf(stderr, "tsp: no memory for %zu partial tours; a smaller --split makes fewer\n", count);
    abort();
  }
  return p;
}

void pool_init(tsp_pool *pool, int workers, int ahead)
{
  *pool = (tsp_pool){.asks = workers * ahead, .room = 1024};
  pool->idle = room_for(NULL, (size_t)pool->asks + 1, sizeof *pool->idle);
  pool->heap = room_for(NULL, pool->room, sizeof *pool->heap);
  pool_reset(pool);
}

void pool_free(tsp_pool *pool)
{
  free(pool->idle);
  free(pool->heap);
}

void pool_reset(tsp_pool *pool)
{
  pool->n = 0;
  pool->n_idle = 0;
  pool->open = false;
  pool->best = tsp_no_path();
  pool->sent = TSP_NO_TOUR;
  pool->visited = pool->jobs = 0;
}

static bool before(const tsp_path *a, const tsp_path *b)
{
  return a->bound != b->bound ? a->bound < b->bound : a->n > b->n;
}

static void push(tsp_pool *pool, const tsp_path *path)
{
  if (pool->n == pool->room) pool->heap = room_for(pool->heap, pool->room *= 2, sizeof *pool->heap);
  size_t at = pool->n++;
  for (; at && before(path, &pool->heap[(at - 1) / 2]); at = (at - 1) / 2) pool->heap[at] = pool->heap[(at - 1) / 2];
  pool->heap[at] = *path;
}

static tsp_path pop(tsp_pool *pool)
{
  tsp_path first = pool->heap[0], last = pool->heap[--pool->n];
  size_t at = 0;
  for (size_t child = 1; child < pool->n; child = 2 * at + 1) {
    if (child + 1 < pool->n && before(&pool->heap[child + 1], &pool->heap[child])) child++;
    if (!before(&pool->heap[child], &last)) break;
    pool->heap[at] = pool->heap[child];
    at = child;
  }
  pool->heap[at] = last;
  return first;
}

void pool_open(tsp_pool *pool, const tsp_path *root)
{
  push(pool, root);
  pool->open = true;
}

void pool_take(tsp_pool *pool, const tsp_result *r)
{
  pool->visited += r->visited;
  if (r->best.cost < pool->best.cost) pool->best = r->best;
  for (int i = 0; i < r->n_children; i++)
    if (r->children[i].bound < pool->best.cost) push(pool, &r->children[i]);
}

/* The lowest bound is first. Once it is not below the best cost, no tour in the heap can be. */
static bool has_job(tsp_pool *pool)
{
  if (pool->n && pool->heap[0].bound >= pool->best.cost) pool->n = 0;
  return pool->n > 0;
}

bool pool_own(tsp_pool *pool, tsp_job *job)
{
  if (!has_job(pool)) return false;
  *job = (tsp_job){.best = pool->best.cost, .path = pop(pool)};
  pool->jobs++;
  return true;
}

bool pool_ask(tsp_pool *pool, int worker, tsp_job *job)
{
  if (pool_own(pool, job)) return true;
  pool->idle[pool->n_idle++] = worker;
  return false;
}

bool pool_next(tsp_pool *pool, int *worker, tsp_job *job)
{
  if (!pool->n_idle || !pool_own(pool, job)) return false;
  *worker = pool->idle[--pool->n_idle];
  return true;
}

bool pool_tell(tsp_pool *pool, int32_t *cost)
{
  if (pool->best.cost >= pool->sent) return false;
  *cost = pool->sent = pool->best.cost;
  return true;
}

bool pool_done(tsp_pool *pool)
{
  return pool->open && pool->n_idle == pool->asks && !has_job(pool);
}
