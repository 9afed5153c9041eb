/*
 * pool.h - the master's side of the travelling salesman, the same in all versions that have a master: partial tours to
 * be worked on, the one with the lowest bound first, the best tour so far, and who waits for work.
 *
 * It knows nothing of how messages go, and locks nothing: one thread at a time.
 *
 * A worker asks for several jobs at the start, so that the next lies ready when it ends one. It reports what came of a
 * job and thereby asks for another (its first reports are empty); it gets it at once or, if there is none now, later:
 * the pool keeps it in mind. When nothing is left to do and every worker waits for all the jobs it has asked for, all
 * is done. Where the master works, too, it takes jobs without asking, and looks whether all is done when it has ended
 * its own.
 *
 * A better tour is told to all workers, as in the dissertation's programs: what they prune by is then not as old as
 * their jobs are.
 */
#ifndef APPS_TSP_POOL_H
#define APPS_TSP_POOL_H

#include "tsp.h"

/* What the master sends. */
typedef struct tsp_job {
  int32_t best; /* the cost of the best tour so far */
  int32_t stop; /* 1: there is no more work, ever */
  tsp_path path;
} tsp_job;

typedef struct tsp_pool {
  int asks; /* that workers make at most at a time, all together */
  int n_idle;
  int *idle; /* workers that wait for work, each as often as it has asked */
  bool open; /* the first partial tour is in; before that there is nothing to do, and nothing is done */
  size_t n, room;
  tsp_path *heap;
  tsp_path best;
  int32_t told; /* what the workers were last told that it costs */
  uint64_t visited, jobs;
} tsp_pool;

/* workers: how many there are; ahead: jobs that each asks for at a time. */
void pool_init(tsp_pool *pool, int workers, int ahead);
void pool_free(tsp_pool *pool);

/* Makes it empty again, for another instance. */
void pool_reset(tsp_pool *pool);

/* The first partial tour goes in: there is work from now on. */
void pool_open(tsp_pool *pool, const tsp_path *root);

/* Takes in what came of a job. Exits the program, with a message, where memory ends. */
void pool_take(tsp_pool *pool, const tsp_result *r);

/* A worker asks. true: `job` is for it. false: it will get one by pool_next, or all is done. */
bool pool_ask(tsp_pool *pool, int worker, tsp_job *job);

/* A job for one of those that wait, if there is both: true. */
bool pool_next(tsp_pool *pool, int *worker, tsp_job *job);

/* A job for the master itself, if there is one: true. Its result goes to pool_take. */
bool pool_own(tsp_pool *pool, tsp_job *job);

/* The workers are to be told of a better tour, which costs so much: true, once for each. */
bool pool_tell(tsp_pool *pool, int32_t *cost);

/* No partial tour is left, nor one being worked on. */
bool pool_done(tsp_pool *pool);

#endif
