/*
 * tsp_am.c - the travelling salesman by active messages. A report is a request. Its handler on the master adds it to
 * the pool and answers with the next job in its reply, without buckets or receives. So the master's own thread can
 * work, and takes jobs itself. It lets handlers run between two jobs; during a long job the runtime's agent does.
 *
 * A handler may reply but not send otherwise. The master's thread therefore sends jobs to workers whose reports
 * could not be answered at once, and better tours. Without work, or with `--master idle`, that thread checks after
 * every report, so its wait begins again with each. While reports arrive quickly it does not sleep.
 */
#include <shmem.h>
#include <shmemx.h>
#include <string.h>

#include "../../bench/clocks.h"
#include "../common/job.h"
#include "pool.h"
#include "version.h"
#include "worker.h"

enum { ON_REPORT = 1, ON_JOB };

const char tsp_version[] = "am";
const bool tsp_has_master = true;

static struct {
  int me, workers, ahead;
  shmemx_am_mutex lock; /* of the pool: the handler and the master's thread both use it */
  tsp_pool pool;        /* on PE 0 */
  uint64_t reports;     /* number of reports: the master's thread checks after each */
  tsp_job *jobs;        /* of a worker: `ahead` places, which its handler fills in order */
  uint64_t arrived;     /* number of jobs that arrived */
  uint64_t got;         /* number of jobs that this worker has taken */
} self;

/* Symmetric: the cost of the best tour, stored by the master. It has its own cache line, so that it does not wake a
 * worker that waits for a job. */
static _Alignas(64) struct {
  int32_t cost;
  char alone[60];
} sent;

/* The place after `count` have been filled. */
static size_t place(uint64_t count)
{
  return (size_t)(count % (uint64_t)self.ahead);
}

static void on_report(void *buf, size_t nbytes, int worker, shmemx_am_token_t token)
{
  tsp_result r;
  tsp_job job;
  memcpy(&r, buf, nbytes); /* buf may not be aligned for a tsp_result */
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

void tsp_start(int me, int n_pes, int ahead)
{
  self.me = me;
  self.workers = n_pes - 1;
  self.ahead = ahead;
  self.jobs = job_calloc((size_t)ahead, sizeof *self.jobs);
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

static int32_t bound(void)
{
  return shmem_int32_atomic_fetch(&sent.cost, self.me);
}

static void give(int worker, const tsp_job *job)
{
  shmemx_am_request(worker, ON_JOB, (void *)job, sizeof *job);
}

/* The pool's orders for the master's thread, taken under its lock. */
typedef struct turn {
  bool done, sent, given, own; /* all is done; send `cost` to the workers; send `job` to `worker`; do `job` */
  int32_t cost;
  int worker;
  tsp_job job;
} turn;

static turn take_turn(bool works)
{
  turn t = {0};
  shmemx_am_mutex_lock(&self.lock);
  t.sent = pool_tell(&self.pool, &t.cost);
  t.given = pool_next(&self.pool, &t.worker, &t.job);
  t.own = !t.given && works && pool_own(&self.pool, &t.job);
  t.done = !t.given && !t.own && pool_done(&self.pool);
  shmemx_am_mutex_unlock(&self.lock);
  return t;
}

static void tell_all(int32_t cost)
{
  for (int worker = 1; worker <= self.workers; worker++) shmem_int32_atomic_set(&sent.cost, cost, worker);
}

/* Does a job on the master; then handlers can run. */
static void work(const tsp_task *task, const tsp_job *job, tsp_share *share)
{
  tsp_result r;
  tsp_work(task->g, &job->path, task->split, job->best, &r);
  share->jobs++;
  share->visited += r.visited;
  shmemx_am_mutex_lock(&self.lock);
  pool_take(&self.pool, &r);
  shmemx_am_mutex_unlock(&self.lock);
  shmemx_am_poll();
}

static void open_pool(const tsp_task *task)
{
  tsp_path root = tsp_root(task->g);
  if (task->hold_s > 0) sleep_for(task->hold_s);
  shmemx_am_mutex_lock(&self.lock);
  pool_open(&self.pool, &root);
  shmemx_am_mutex_unlock(&self.lock);
}

static void master(const tsp_task *task, tsp_share *share)
{
  open_pool(task);
  for (;;) {
    uint64_t seen = __atomic_load_n(&self.reports, __ATOMIC_ACQUIRE);
    turn t = take_turn(!task->idle_master);
    if (t.sent) tell_all(t.cost);
    if (t.done) break;
    if (t.given)
      give(t.worker, &t.job);
    else if (t.own)
      work(task, &t.job, share);
    else
      shmem_uint64_wait_until(&self.reports, SHMEM_CMP_NE, seen);
  }
  for (int worker = 1; worker <= self.workers; worker++) give(worker, &(tsp_job){.stop = 1});
}

void tsp_solve(const tsp_task *task, tsp_share *share)
{
  if (self.me == 0) pool_reset(&self.pool);
  sent.cost = TSP_NO_TOUR;
  shmem_barrier_all(); /* no report arrives before the pool is empty, and no cost before that */
  if (self.me == 0) {
    master(task, share);
    share->best = self.pool.best;
  } else {
    tsp_worker(task, self.ahead, &(tsp_link){report, next, bound}, share);
  }
}
