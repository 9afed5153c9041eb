/*
 * tsp_am.c - the travelling salesman by active messages. A report is a request; its handler, on the master, takes it in
 * and answers it with the next job in its reply: no bucket is looked for, and the master's own thread sleeps.
 *
 * A handler may reply but send nothing else. So where work comes up for a worker whose report could not be answered at
 * once, the master's thread sends it. That thread looks after every report, so its wait begins anew with each: while
 * reports come thick and fast it finds them without sleeping.
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

#include "../common/clocks.h"
#include "../common/job.h"
#include "pool.h"
#include "version.h"
#include "worker.h"

enum { ON_REPORT = 1, ON_JOB };

const char tsp_version[] = "am";
const bool tsp_has_master = true;

static struct {
  int me, workers, ahead;
  shmemx_am_mutex lock; /* of the pool: the handler's and the master's thread both use it */
  tsp_pool pool;        /* PE 0's */
  uint64_t reports;     /* how many reports came: the master's thread looks after each */
  tsp_job *jobs;        /* a worker's: `ahead` places, filled in turn by its handler */
  uint64_t arrived;     /* how many jobs have come */
  uint64_t got;         /* how many of them this worker has taken */
} self;

/* Which place comes after `count` have been filled. */
static size_t place(uint64_t count)
{
  return (size_t)(count % (uint64_t)self.ahead);
}

static void on_report(void *buf, size_t nbytes, int worker, shmemx_am_token_t token)
{
  tsp_result r;
  tsp_job job;
  memcpy(&r, buf, nbytes); /* buf need not lie where a tsp_result may */
  shmemx_am_mutex_lock(&self.lock);
  pool_take(&self.pool, &r);
  bool at_once = pool_ask(&self.pool, worker, &job);
  __atomic_fetch_add(&self.reports, 1, __ATOMIC_RELEASE);
  shmemx_am_mutex_unlock(&self.lock);
  if (at_once) shmemx_am_reply(ON_JOB, &job, sizeof job, token);
}

static void on_job(void *buf, size_t nbytes, int master, shmemx_am_token_t token)
{
  memcpy(&self.jobs[place(self.arrived)], buf, nbytes);
  __atomic_fetch_add(&self.arrived, 1, __ATOMIC_RELEASE);
}

static tsp_job *room_for_jobs(int ahead)
{
  tsp_job *jobs = calloc((size_t)ahead, sizeof *jobs);
  if (jobs) return jobs;
  fprintf(stderr, "tsp-am: PE %d: no memory for %d jobs\n", self.me, ahead);
  job_abort(1);
}

void tsp_start(int me, int n_pes, int ahead)
{
  self.me = me;
  self.workers = n_pes - 1;
  self.ahead = ahead;
  self.jobs = room_for_jobs(ahead);
  shmemx_am_mutex_init(&self.lock);
  if (me == 0) pool_init(&self.pool, self.workers, ahead);
  shmemx_am_attach(me == 0 ? ON_REPORT : ON_JOB, me == 0 ? on_report : on_job);
}

void tsp_end(void)
{
  shmemx_am_detach(self.me == 0 ? ON_REPORT : ON_JOB);
  if (self.me == 0) pool_free(&self.pool);
  shmemx_am_mutex_destroy(&self.lock);
  free(self.jobs);
}

static void report(const tsp_result *r)
{
  shmemx_am_request(0, ON_REPORT, (void *)r, tsp_result_bytes(r));
}

static void next(tsp_job *job)
{
  shmem_uint64_wait_until(&self.arrived, SHMEM_CMP_GT, self.got);
  *job = self.jobs[place(self.got++)];
}

static void give(int worker, const tsp_job *job)
{
  shmemx_am_request(worker, ON_JOB, (void *)job, sizeof *job);
}

/* Takes a job and one that waits for it out of the pool, under its lock. */
static bool take_next(int *worker, tsp_job *job, bool *done)
{
  shmemx_am_mutex_lock(&self.lock);
  bool there = pool_next(&self.pool, worker, job);
  *done = pool_done(&self.pool);
  shmemx_am_mutex_unlock(&self.lock);
  return there;
}

static void open_pool(const tsp_task *task)
{
  tsp_path root = tsp_root(task->g);
  if (task->hold_s > 0) sleep_seconds(task->hold_s);
  shmemx_am_mutex_lock(&self.lock);
  pool_open(&self.pool, &root);
  shmemx_am_mutex_unlock(&self.lock);
}

static void master(const tsp_task *task)
{
  int worker;
  tsp_job job;
  bool done = false;
  open_pool(task);
  while (!done) {
    uint64_t seen = __atomic_load_n(&self.reports, __ATOMIC_ACQUIRE);
    if (take_next(&worker, &job, &done))
      give(worker, &job);
    else if (!done)
      shmem_uint64_wait_until(&self.reports, SHMEM_CMP_NE, seen);
  }
  for (worker = 1; worker <= self.workers; worker++) give(worker, &(tsp_job){.stop = 1});
}

void tsp_solve(const tsp_task *task, tsp_share *share)
{
  if (self.me == 0) pool_reset(&self.pool);
  shmem_barrier_all(); /* no report comes before the pool is empty */
  if (self.me == 0) {
    master(task);
    share->best = self.pool.best;
  } else {
    tsp_worker(task, self.ahead, &(tsp_link){report, next}, share);
  }
}
