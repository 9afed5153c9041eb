/*
 * pool.h - the master's side of the travelling salesman, for all versions with a master: partial tours to work on,
 * the one with the lowest bound first, the best tour so far, and the workers that wait for work.
 *
 * It is independent of the messages and does not lock: one thread at a time may use it.
 *
 * A worker requests several jobs at the start, so that the next is ready when it ends one. It reports the result of
 * a job, which also requests another one; its first reports are empty. It gets the job at once, or later where there
 * is none: the pool records the request. When no work is left and every worker waits for all its requested jobs, the
 * instance is solved. A master that works, too, takes jobs without a request, and checks for the end after its own
 * job.
 *
 * A better tour is sent to all workers, as in the dissertation's programs, so that they prune by a recent cost.
 */
#ifndef APPS_TSP_POOL_H
#define APPS_TSP_POOL_H

#include "tsp.h"

/* A message of the master. */
typedef struct tsp_job {
  int32_t best; /* the cost of the best tour so far */
  int32_t stop; /* 1: there is no more work */
  tsp_path path;
} tsp_job;

typedef struct tsp_pool {
  int asks; /* largest number of requests of all workers at a time */
  int n_idle;
  int *idle; /* workers that wait for work, once for each request */
  bool open; /* the first partial tour is in; before that there is no work, and the instance is not solved */
  size_t n, room;
  tsp_path *heap;
  tsp_path best;
  int32_t sent; /* the cost that was last sent to the workers */
  uint64_t visited, jobs;
} tsp_pool;

/* workers: their number; ahead: jobs that each requests at a time. */
void pool_init(tsp_pool *pool, int workers, int ahead);
void pool_free(tsp_pool *pool);

/* Empties the pool for another instance. */
void pool_reset(tsp_pool *pool);

/* Adds the first partial tour: there is work from now on. */
void pool_open(tsp_pool *pool, const tsp_path *root);

/* Adds the result of a job. Ends the program with a message where memory runs out. */
void pool_take(tsp_pool *pool, const tsp_result *r);

/* A worker requests a job. true: `job` is for it. false: it gets one by pool_next later, or all work is done. */
bool pool_ask(tsp_pool *pool, int worker, tsp_job *job);

/* Returns whether there are a waiting worker and a job for it. */
bool pool_next(tsp_pool *pool, int *worker, tsp_job *job);

/* Returns whether there is a job for the master itself. Its result goes to pool_take. */
bool pool_own(tsp_pool *pool, tsp_job *job);

/* Returns whether the workers must get a better tour, of this cost; true once for each. */
bool pool_tell(tsp_pool *pool, int32_t *cost);

/* Whether no partial tour is left or being worked on. */
bool pool_done(tsp_pool *pool);

#endif
