/*
 * tsp_bucket.c - the travelling salesman by plain OpenSHMEM. Each worker has a bucket on the master for its reports,
 * with a place for each job that it may request at a time, and its own inbox for the answers. A count that is put
 * after the data announces it. The master scans all buckets repeatedly, the only way with one-sided puts, and yields
 * the core after a scan without a report. It puts the cost of a better tour to each worker.
 */
#include <sched.h>
#include <shmem.h>

#include "../../bench/clocks.h"
#include "../common/job.h"
#include "pool.h"
#include "version.h"
#include "worker.h"

const char tsp_version[] = "bucket";
const bool tsp_has_master = true;

static struct {
  int me, workers, ahead;
  tsp_pool pool;      /* on PE 0 */
  tsp_result *bucket; /* symmetric; used on PE 0: `ahead` places of each worker, filled in order */
  uint64_t *filled;   /* symmetric; used on PE 0: number of reports that each worker has put there */
  uint64_t *taken;    /* on PE 0: number of these that it has processed */
  uint64_t *given;    /* on PE 0: number of jobs that it has put into each worker's inbox */
  tsp_job *inbox;     /* symmetric; `ahead` places, filled in order */
  uint64_t *arrived;  /* symmetric: number of jobs that arrived */
  uint64_t reported;  /* by this worker */
  uint64_t got;       /* jobs that this worker has taken out of its inbox */
} self;

/* Symmetric: the cost of the best tour, stored by the master. It has its own cache line, so that it does not wake a
 * worker that waits for a job. */
static _Alignas(64) struct {
  int32_t cost;
  char alone[60];
} sent;

void tsp_start(int me, int n_pes, int ahead)
{
  size_t n = (size_t)n_pes;
  self.me = me;
  self.workers = n_pes - 1;
  self.ahead = ahead;
  if (me == 0) pool_init(&self.pool, self.workers, ahead);
  self.bucket = job_shared(n * (size_t)ahead, sizeof *self.bucket);
  self.filled = job_shared(n, sizeof *self.filled);
  self.inbox = job_shared((size_t)ahead, sizeof *self.inbox);
  self.arrived = job_shared(1, sizeof *self.arrived);
  self.taken = job_calloc(n, sizeof *self.taken);
  self.given = job_calloc(n, sizeof *self.given);
}

void tsp_end(void)
{
  if (self.me == 0) pool_free(&self.pool);
  shmem_free(self.bucket);
  shmem_free(self.filled);
  shmem_free(self.inbox);
  shmem_free(self.arrived);
  free(self.taken);
  free(self.given);
}

/* The worker's place after `count` have been filled. */
static size_t place(uint64_t count)
{
  return (size_t)(count % (uint64_t)self.ahead);
}

static tsp_result *bucket_of(int worker)
{
  return &self.bucket[(size_t)worker * (size_t)self.ahead];
}

static void report(const tsp_result *r)
{
  shmem_putmem(&bucket_of(self.me)[place(self.reported)], r, tsp_result_bytes(r), 0);
  shmem_fence();
  shmem_uint64_p(&self.filled[self.me], ++self.reported, 0);
}

static void next(tsp_job *job)
{
  shmem_uint64_wait_until(self.arrived, SHMEM_CMP_GT, self.got);
  *job = self.inbox[place(self.got++)];
}

static int32_t bound(void)
{
  return shmem_int32_atomic_fetch(&sent.cost, self.me);
}

static void tell_all(int32_t cost)
{
  for (int worker = 1; worker <= self.workers; worker++) shmem_int32_atomic_set(&sent.cost, cost, worker);
}

static void give(int worker, const tsp_job *job)
{
  shmem_putmem(&self.inbox[place(self.given[worker])], job, sizeof *job, worker);
  shmem_fence();
  shmem_uint64_p(self.arrived, ++self.given[worker], worker);
}

/* Processes the next report in the worker's bucket, if there is one. */
static bool look(tsp_pool *pool, int worker)
{
  tsp_job job;
  int32_t cost;
  if (!shmem_uint64_test(&self.filled[worker], SHMEM_CMP_GT, self.taken[worker])) return false;
  pool_take(pool, &bucket_of(worker)[place(self.taken[worker]++)]);
  if (pool_tell(pool, &cost)) tell_all(cost);
  if (pool_ask(pool, worker, &job)) give(worker, &job);
  while (pool_next(pool, &worker, &job)) give(worker, &job);
  return true;
}

static void master(const tsp_task *task)
{
  tsp_pool *pool = &self.pool;
  tsp_path root = tsp_root(task->g);
  pool_reset(pool);
  if (task->hold_s > 0) sleep_for(task->hold_s);
  pool_open(pool, &root);
  while (!pool_done(pool)) {
    bool found = false;
    for (int worker = 1; worker <= self.workers; worker++) found |= look(pool, worker);
    if (!found) sched_yield();
  }
  for (int worker = 1; worker <= self.workers; worker++) give(worker, &(tsp_job){.stop = 1});
}

void tsp_solve(const tsp_task *task, tsp_share *share)
{
  sent.cost = TSP_NO_TOUR;
  shmem_barrier_all(); /* no PE gets a cost of this instance before that */
  if (self.me == 0) {
    master(task);
    share->best = self.pool.best;
  } else {
    tsp_worker(task, self.ahead, &(tsp_link){report, next, bound}, share);
  }
}
