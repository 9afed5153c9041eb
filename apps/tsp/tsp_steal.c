/*
 * tsp_steal.c - the travelling salesman by active messages, without a master: every PE has a stack of partial tours,
 * and a PE without any takes some from another.
 *
 * Stealing. A thief asks a few random victims (ON_STEAL). The victim's handler replies with the oldest half of its
 * stack, which has the largest pieces of work, or with nothing. Then the thief asks its neighbours at distances 1,
 * 2, 4 ... to remember it (ON_REMEMBER), and sleeps. A PE with work to spare sends some to the PEs that it
 * remembers.
 *
 * Tours. A better tour is sent to every PE at once (ON_TOUR).
 *
 * Termination. There is no work when every stack is empty and no load is in transit. A token goes round from PE 0
 * and back (Safra's algorithm). Each PE passes it on when it has no work. It adds its loads sent minus loads
 * received, and blackens the token if it got work since. A white token with sum 0 at an idle, white PE 0 means
 * termination; otherwise it goes round again. It stays at PEs that work, so that idle ones sleep.
 */
#include <shmem.h>
#include <shmemx.h>
#include <string.h>

#include "../../bench/clocks.h"
#include "../common/job.h"
#include "../common/random.h"
#include "pool.h"
#include "version.h"

enum { ON_STEAL = 1, ON_REMEMBER, ON_WORK, ON_TOUR, ON_TOKEN, ON_STOP };
enum { TRIES = 2, LOAD_MOST = 16 };

const char tsp_version[] = "steal";
const bool tsp_has_master = false;

/* Partial tours in transit. A message holds only the existing ones. */
typedef struct load {
  int32_t n;
  int32_t answer; /* 1: this answers ON_STEAL */
  tsp_path paths[LOAD_MOST];
} load;

typedef struct token {
  int64_t sum; /* loads sent minus loads received, of the PEs that it has passed */
  int64_t black;
} token;

static struct {
  int me, n;
  shmemx_am_mutex lock; /* of everything below except `events`: handlers and the PE's own thread use it */
  tsp_path *stack;
  size_t first, last, room; /* the stack's tours are first to last - 1; the oldest is the first */
  tsp_path best;
  bool *remembered; /* PEs that sleep until this PE has work for them */
  int n_remembered;
  bool answered; /* the last attempt to steal has its answer */
  bool stop;
  int64_t sent; /* loads sent minus loads received */
  bool black;   /* got a load since the token was here */
  bool has_token, first_round;
  token token;
  uint64_t random;
  uint64_t events; /* incremented by handlers after changes that the PE's own thread may wait for */
} self;

static void lock(void)
{
  shmemx_am_mutex_lock(&self.lock);
}

/* Ends a handler's part and wakes the PE's own thread. */
static void unlock_and_tell(void)
{
  __atomic_fetch_add(&self.events, 1, __ATOMIC_RELEASE);
  shmemx_am_mutex_unlock(&self.lock);
}

static size_t load_bytes(const load *l)
{
  return offsetof(load, paths) + (size_t)l->n * sizeof(tsp_path);
}

static void push(const tsp_path *path)
{
  if (self.last == self.room && self.first > self.room / 2) {
    memmove(self.stack, self.stack + self.first, (self.last - self.first) * sizeof *self.stack);
    self.last -= self.first;
    self.first = 0;
  } else if (self.last == self.room) {
    tsp_path *larger = realloc(self.stack, 2 * self.room * sizeof *larger);
    if (!larger) {
      fprintf(stderr, "tsp-steal: PE %d: no memory for %zu partial tours\n", self.me, 2 * self.room);
      abort();
    }
    self.stack = larger;
    self.room *= 2;
  }
  self.stack[self.last++] = *path;
}

/* Takes the oldest half of the stack, at most LOAD_MOST; a single tour stays. A load that is not empty counts as
 * sent. */
static void take_half(load *l)
{
  size_t spare = (self.last - self.first) / 2;
  l->n = (int32_t)(spare < LOAD_MOST ? spare : LOAD_MOST);
  memcpy(l->paths, self.stack + self.first, (size_t)l->n * sizeof(tsp_path));
  self.first += (size_t)l->n;
  self.sent += l->n > 0;
}

static void on_steal(void *buf, size_t nbytes, int thief, shmemx_am_token_t reply_to)
{
  load l = {.answer = 1};
  lock();
  take_half(&l);
  shmemx_am_mutex_unlock(&self.lock);
  shmemx_am_reply(ON_WORK, &l, load_bytes(&l), reply_to);
}

static void on_remember(void *buf, size_t nbytes, int thief, shmemx_am_token_t reply_to)
{
  lock();
  self.n_remembered += !self.remembered[thief];
  self.remembered[thief] = true;
  unlock_and_tell();
}

static void on_work(void *buf, size_t nbytes, int victim, shmemx_am_token_t reply_to)
{
  load l;
  memcpy(&l, buf, nbytes);
  lock();
  for (int i = 0; i < l.n; i++) push(&l.paths[i]);
  if (l.n > 0) {
    self.sent--;
    self.black = true;
  }
  self.answered |= l.answer != 0;
  unlock_and_tell();
}

static void on_tour(void *buf, size_t nbytes, int finder, shmemx_am_token_t reply_to)
{
  tsp_path tour;
  memcpy(&tour, buf, sizeof tour);
  lock();
  if (tour.cost < self.best.cost) self.best = tour;
  shmemx_am_mutex_unlock(&self.lock);
}

static void on_token(void *buf, size_t nbytes, int before, shmemx_am_token_t reply_to)
{
  lock();
  memcpy(&self.token, buf, sizeof self.token);
  self.has_token = true;
  unlock_and_tell();
}

static void on_stop(void *buf, size_t nbytes, int from, shmemx_am_token_t reply_to)
{
  lock();
  self.stop = true;
  unlock_and_tell();
}

static const struct {
  int id;
  shmemx_am_handler run;
} handlers[] = {{ON_STEAL, on_steal}, {ON_REMEMBER, on_remember}, {ON_WORK, on_work},
                {ON_TOUR, on_tour},   {ON_TOKEN, on_token},       {ON_STOP, on_stop}};
enum { N_HANDLERS = sizeof handlers / sizeof *handlers };

void tsp_start(int me, int n_pes, int ahead)
{
  self.me = me;
  self.n = n_pes;
  self.room = 1024;
  self.random = (uint64_t)me;
  self.stack = job_calloc(self.room, sizeof *self.stack);
  self.remembered = job_calloc((size_t)n_pes, sizeof *self.remembered);
  shmemx_am_mutex_init(&self.lock);
  for (int i = 0; i < N_HANDLERS; i++) shmemx_am_attach(handlers[i].id, handlers[i].run);
}

void tsp_end(void)
{
  for (int i = 0; i < N_HANDLERS; i++) shmemx_am_detach(handlers[i].id);
  shmemx_am_mutex_destroy(&self.lock);
  free(self.stack);
  free(self.remembered);
}

static void reset(void)
{
  self.first = self.last = 0;
  self.best = tsp_no_path();
  memset(self.remembered, 0, (size_t)self.n * sizeof *self.remembered);
  self.n_remembered = 0;
  self.sent = 0;
  self.stop = self.black = false;
  self.answered = true;
  self.has_token = self.first_round = self.me == 0;
  self.token = (token){0};
}

static void tell_all(int handler, void *data, size_t bytes)
{
  for (int pe = 0; pe < self.n; pe++)
    if (pe != self.me) shmemx_am_request(pe, handler, data, bytes);
}

/* Sends half of the stack to a PE that sleeps for it. Returns false where there is no such PE or nothing to spare. */
static bool give_one(void)
{
  load l = {0};
  int to = 0;
  lock();
  if (self.n_remembered && self.last - self.first >= 2) {
    while (!self.remembered[to]) to++;
    self.remembered[to] = false;
    self.n_remembered--;
    take_half(&l);
  }
  shmemx_am_mutex_unlock(&self.lock);
  if (l.n) shmemx_am_request(to, ON_WORK, &l, load_bytes(&l));
  return l.n > 0;
}

/* Does the newest partial tour of this PE. Returns false where there is none. */
static bool work(const tsp_task *task, tsp_share *share)
{
  tsp_path job;
  tsp_result r;
  lock();
  bool there = self.last > self.first;
  if (there) job = self.stack[--self.last];
  int32_t best = self.best.cost;
  shmemx_am_mutex_unlock(&self.lock);
  if (!there) return false;
  tsp_work(task->g, &job, task->split, best, &r);
  share->jobs++;
  share->visited += r.visited;
  lock();
  for (int i = r.n_children - 1; i >= 0; i--) push(&r.children[i]); /* the nearest city is done first */
  bool better = r.best.cost < self.best.cost;
  if (better) self.best = r.best;
  shmemx_am_mutex_unlock(&self.lock);
  if (better) tell_all(ON_TOUR, &r.best, sizeof r.best);
  return true;
}

/* Passes the token on if it is here. Returns true at termination. Called by a PE without work, with the lock held;
 * returns without it. */
static bool pass_token_and_unlock(void)
{
  if (!self.has_token) {
    shmemx_am_mutex_unlock(&self.lock);
    return false;
  }
  token t = self.token;
  bool end = self.me == 0 && !self.first_round && !t.black && !self.black && t.sum + self.sent == 0;
  if (self.me == 0)
    t = (token){0}; /* a new round; PE 0 adds its own when it ends */
  else
    t = (token){.sum = t.sum + self.sent, .black = t.black || self.black};
  self.black = self.first_round = self.has_token = false;
  self.stop |= end;
  shmemx_am_mutex_unlock(&self.lock);
  if (end)
    tell_all(ON_STOP, NULL, 0);
  else
    shmemx_am_request((self.me + 1) % self.n, ON_TOKEN, &t, sizeof t);
  return end;
}

/* The progress of a thief: TRIES random victims, then requests to remember it, then sleep. */
typedef struct hunt {
  int tries;
  bool remembered;
} hunt;

static void ask_for_work(hunt *h)
{
  if (h->tries < TRIES && self.n > 1) {
    h->tries++;
    lock();
    self.answered = false;
    shmemx_am_mutex_unlock(&self.lock);
    int victim = (self.me + 1 + (int)(next_random(&self.random) % (uint64_t)(self.n - 1))) % self.n;
    shmemx_am_request(victim, ON_STEAL, NULL, 0);
  } else if (!h->remembered) {
    h->remembered = true;
    for (int far = 1; far < self.n; far *= 2) shmemx_am_request((self.me + far) % self.n, ON_REMEMBER, NULL, 0);
  }
}

/* Waits for work. Returns true when there is some, false at termination. */
static bool get_work(void)
{
  hunt h = {0};
  for (;;) {
    lock();
    uint64_t seen = __atomic_load_n(&self.events, __ATOMIC_ACQUIRE);
    bool there = self.last > self.first, stop = self.stop, answered = self.answered;
    if (there || stop) {
      shmemx_am_mutex_unlock(&self.lock);
      return there;
    }
    if (pass_token_and_unlock()) return false;
    if (answered && !h.remembered)
      ask_for_work(&h);
    else
      shmem_uint64_wait_until(&self.events, SHMEM_CMP_NE, seen);
  }
}

static void begin(const tsp_task *task)
{
  tsp_path root = tsp_root(task->g);
  if (task->hold_s > 0) sleep_for(task->hold_s);
  lock();
  push(&root);
  shmemx_am_mutex_unlock(&self.lock);
}

void tsp_solve(const tsp_task *task, tsp_share *share)
{
  reset();
  shmem_barrier_all(); /* no PE steals before every stack is empty */
  if (self.me == 0) begin(task);
  for (;;) {
    while (work(task, share))
      while (give_one()) continue;
    double wall = now(), cpu = cpu_seconds();
    bool more = get_work();
    share->wait_s += now() - wall;
    share->wait_cpu_s += cpu_seconds() - cpu;
    if (!more) break;
  }
  shmemx_am_quiet();   /* this PE's tours have reached all PEs, */
  shmem_barrier_all(); /* and all tours have arrived here */
  share->best = self.best;
}
