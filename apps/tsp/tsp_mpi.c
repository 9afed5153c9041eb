/*
 * tsp_mpi.c - the travelling salesman by MPI: two-sided messages, told apart by tags. The master takes whatever report
 * comes first and answers it.
 */
#include <mpi.h>

#include "../common/clocks.h"
#include "pool.h"
#include "version.h"
#include "worker.h"

enum { TAG_REPORT = 1, TAG_JOB };

const char tsp_version[] = "mpi";
const bool tsp_has_master = true;

static struct {
  int me, workers, ahead;
  tsp_pool pool; /* PE 0's */
} self;

void tsp_start(int me, int n_pes, int ahead)
{
  self.me = me;
  self.workers = n_pes - 1;
  self.ahead = ahead;
  if (me == 0) pool_init(&self.pool, self.workers, ahead);
}

void tsp_end(void)
{
  if (self.me == 0) pool_free(&self.pool);
}

static void report(const tsp_result *r)
{
  MPI_Send(r, (int)tsp_result_bytes(r), MPI_BYTE, 0, TAG_REPORT, MPI_COMM_WORLD);
}

static void next(tsp_job *job)
{
  MPI_Recv(job, sizeof *job, MPI_BYTE, 0, TAG_JOB, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void give(int worker, const tsp_job *job)
{
  MPI_Send(job, sizeof *job, MPI_BYTE, worker, TAG_JOB, MPI_COMM_WORLD);
}

static void master(const tsp_task *task)
{
  tsp_pool *pool = &self.pool;
  tsp_path root = tsp_root(task->g);
  pool_reset(pool);
  if (task->hold_s > 0) sleep_seconds(task->hold_s);
  pool_open(pool, &root);
  while (!pool_done(pool)) {
    tsp_result r;
    tsp_job job;
    MPI_Status from;
    MPI_Recv(&r, sizeof r, MPI_BYTE, MPI_ANY_SOURCE, TAG_REPORT, MPI_COMM_WORLD, &from);
    pool_take(pool, &r);
    int worker = from.MPI_SOURCE;
    if (pool_ask(pool, worker, &job)) give(worker, &job);
    while (pool_next(pool, &worker, &job)) give(worker, &job);
  }
  for (int worker = 1; worker <= self.workers; worker++) give(worker, &(tsp_job){.stop = 1});
}

void tsp_solve(const tsp_task *task, tsp_share *share)
{
  if (self.me == 0) {
    master(task);
    share->best = self.pool.best;
  } else {
    tsp_worker(task, self.ahead, &(tsp_link){report, next}, share);
  }
}
