/*
 * worker.h - the worker's side for all versions with a master: report, get a job, do it. A version defines how
 * reports, jobs and better tours are sent.
 */
#ifndef APPS_TSP_WORKER_H
#define APPS_TSP_WORKER_H

#include "../../bench/clocks.h"
#include "pool.h"
#include "version.h"

/* The functions of a version. `report` may be changed after it returns; `next` waits for a job; `bound` is the least
 * cost that the master has sent to this worker. */
typedef struct tsp_link {
  void (*report)(const tsp_result *report);
  void (*next)(tsp_job *job);
  int32_t (*bound)(void);
} tsp_link;

static inline int32_t tsp_less(int32_t a, int32_t b)
{
  return a < b ? a : b;
}

static inline void tsp_worker(const tsp_task *task, int ahead, const tsp_link *link, tsp_share *share)
{
  tsp_result report = {.best = tsp_no_path()};
  tsp_job job;
  int32_t best = TSP_NO_TOUR; /* the least cost received or found: a job that waited here may know less */
  for (int i = 0; i < ahead; i++) link->report(&report);
  for (;;) {
    double wall = now(), cpu = cpu_seconds();
    link->next(&job);
    share->wait_s += now() - wall;
    share->wait_cpu_s += cpu_seconds() - cpu;
    if (job.stop) return;
    best = tsp_less(tsp_less(best, job.best), link->bound());
    tsp_work(task->g, &job.path, task->split, best, &report);
    best = tsp_less(best, report.best.cost);
    link->report(&report);
    share->jobs++;
    share->visited += report.visited;
  }
}

#endif
