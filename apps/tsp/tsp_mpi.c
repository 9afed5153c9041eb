/*
 * tsp_mpi.c - the travelling salesman by MPI: two-sided messages with tags. The master takes the first report that
 * arrives and answers it. Workers receive costs of better tours out of order, before a job that was sent after them.
 */
#include <mpi.h>

#include "../../bench/clocks.h"
#include "pool.h"
#include "version.h"
#include "worker.h"

enum { TAG_REPORT = 1, TAG_JOB, TAG_BOUND };

const char tsp_version[] = "mpi";
const bool tsp_has_master = true;

static struct {
  int me, workers, ahead;
  tsp_pool pool; /* on PE 0 */
  int32_t bound; /* the least cost that this worker received */
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

static void receive(tsp_job *job, int tag, MPI_Status *what)
{
  MPI_Recv(job, sizeof *job, MPI_BYTE, 0, tag, MPI_COMM_WORLD, what);
  if (what->MPI_TAG == TAG_BOUND) self.bound = job->best;
}

static void next(tsp_job *job)
{
  MPI_Status what;
  do receive(job, MPI_ANY_TAG, &what);
  while (what.MPI_TAG == TAG_BOUND);
}

static int32_t bound(void)
{
  tsp_job news;
  MPI_Status what;
  for (int there = 0;; receive(&news, TAG_BOUND, &what)) {
    MPI_Iprobe(0, TAG_BOUND, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (!there) return self.bound;
  }
}

static void give(int worker, const tsp_job *job)
{
  MPI_Send(job, sizeof *job, MPI_BYTE, worker, TAG_JOB, MPI_COMM_WORLD);
}

static void tell_all(int32_t cost)
{
  for (int worker = 1; worker <= self.workers; worker++)
    MPI_Send(&cost, sizeof cost, MPI_BYTE, worker, TAG_BOUND, MPI_COMM_WORLD);
}

static void master(const tsp_task *task)
{
  tsp_pool *pool = &self.pool;
  tsp_path root = tsp_root(task->g);
  pool_reset(pool);
  if (task->hold_s > 0) sleep_for(task->hold_s);
  pool_open(pool, &root);
  while (!pool_done(pool)) {
    tsp_result r;
    tsp_job job;
    int32_t cost;
    MPI_Status from;
    MPI_Recv(&r, sizeof r, MPI_BYTE, MPI_ANY_SOURCE, TAG_REPORT, MPI_COMM_WORLD, &from);
    pool_take(pool, &r);
    if (pool_tell(pool, &cost)) tell_all(cost);
    int worker = from.MPI_SOURCE;
    if (pool_ask(pool, worker, &job)) give(worker, &job);
    while (pool_next(pool, &worker, &job)) give(worker, &job);
  }
  for (int worker = 1; worker <= self.workers; worker++) give(worker, &(tsp_job){.stop = 1});
}

void tsp_solve(const tsp_task *task, tsp_share *share)
{
  self.bound = TSP_NO_TOUR;
  if (self.me == 0) {
    master(task);
    share->best = self.pool.best;
  } else {
    tsp_worker(task, self.ahead, &(tsp_link){report, next, bound}, share);
  }
}
