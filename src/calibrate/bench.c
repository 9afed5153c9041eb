/* bench.c - the parts that all measurements share: cores, helper processes, time, samples. */
#include "calibrate/bench.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "node/cores.h"
#include "os/atomic.h"
#include "os/os.h"

static void die(const char *what)
{
  fprintf(stderr, "wattle-calibrate: %s: %s\n", what, strerror(errno));
  exit(WTL_EXIT_OSERR);
}

/* ---- cores ---- */

static bool stay_on(int core)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

static bool on_one_physical(int a, int b)
{
  cpu_set_t two;
  CPU_ZERO(&two);
  CPU_SET(a, &two);
  CPU_SET(b, &two);
  return wtl_cores_physical(&two, "/sys") < 2;
}

/*
 * Chooses the first core that this process may use, and a second one, which is no thread of the same core if there is
 * such a core.
 */
static void choose_cores(bench *b)
{
  cpu_set_t set;
  b->core = b->other = -1;
  if (sched_getaffinity(0, sizeof set, &set) != 0) die("cannot find the cores that this process may use");
  for (int i = 0; i < CPU_SETSIZE; i++) {
    if (!CPU_ISSET(i, &set)) continue;
    if (b->core < 0) {
      b->core = i;
    } else if (b->other < 0 || (b->one_physical && !on_one_physical(b->core, i))) {
      b->other = i;
      b->one_physical = on_one_physical(b->core, i);
    }
  }
}

/* ---- start ---- */

void bench_start(bench *b)
{
  struct epoll_event event = {.events = EPOLLIN};
  choose_cores(b);
  if (!stay_on(b->core)) die("cannot bind to one core");
  b->shared = mmap(NULL, sizeof *b->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (b->shared == MAP_FAILED) die("no memory to share with helper processes");
  b->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  b->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (b->eventfd < 0 || b->epoll < 0 || epoll_ctl(b->epoll, EPOLL_CTL_ADD, b->eventfd, &event) != 0)
    die("cannot watch an eventfd by epoll");
  b->ns_per_tick = wtl_clock_ns_per_tick();
}

/* ---- helpers ---- */

static _Noreturn void run_helper(const bench *b, int core, pid_t parent, void (*work)(const bench *, void *), void *arg)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == parent && stay_on(core)) {
    atomic_fetch_add(&b->shared->started, 1);
    work(b, arg);
  }
  _exit(1);
}

pid_t bench_help(const bench *b, int core, void (*work)(const bench *b, void *arg), void *arg)
{
  pid_t parent = getpid(), pid;
  int before = atomic_load(&b->shared->started);
  fflush(NULL); /* otherwise the child writes buffered text again */
  pid = fork();
  if (pid < 0) die("cannot start a helper process");
  if (pid == 0) run_helper(b, core, parent, work, arg);
  while (atomic_load(&b->shared->started) == before) {
    if (waitpid(pid, NULL, WNOHANG) == pid) die("a helper process ended before its work");
    usleep(100);
  }
  return pid;
}

void bench_end(pid_t helper)
{
  kill(helper, SIGKILL);
  waitpid(helper, NULL, 0);
}

void bench_compute(const bench *b, void *arg)
{
  (void)arg;
  for (uint64_t x = 1;;) { /* the value differs each time */
    for (int i = 0; i < 200; i++) x = x * 6364136223846793005u + 1442695040888963407u;
    atomic_store_explicit(&b->shared->turns, x, memory_order_relaxed);
  }
}

/* ---- time ---- */

uint64_t bench_ticks(const bench *b, double seconds)
{
  return (uint64_t)(seconds * 1e9 / b->ns_per_tick);
}

void bench_linger(uint64_t ticks)
{
  for (uint64_t start = wtl_ticks(); wtl_ticks() - start < ticks;) wtl_relax();
}

bool bench_await(const bench *b, const _Atomic uint32_t *word, uint32_t value)
{
  uint64_t start = wtl_ticks(), patience = bench_ticks(b, 2);
  while (atomic_load_explicit(word, memory_order_acquire) != value) {
    if (wtl_ticks() - start > patience) return false;
    wtl_relax();
  }
  return true;
}

/* ---- samples ---- */

void samples_start(const bench *b, samples *s)
{
  s->n = 0;
  s->why[0] = '\0';
  s->end = wtl_ticks() + bench_ticks(b, b->budget_s);
  s->last = s->end + bench_ticks(b, 2);
}

bool samples_more(const samples *s)
{
  enum { LEAST_SAMPLES = 5 }; /* a median of fewer samples is not reliable */
  return !s->why[0] && s->n < MOST_SAMPLES && wtl_ticks() < (s->n < LEAST_SAMPLES ? s->last : s->end);
}

void samples_add(samples *s, double seconds)
{
  if (s->n < MOST_SAMPLES) s->seconds[s->n++] = seconds;
}

void samples_lack(samples *s, const char *why)
{
  snprintf(s->why, sizeof s->why, "%s", why);
}

static int by_size(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(const samples *s, double q)
{
  double at = q * (double)(s->n - 1);
  size_t below = (size_t)at, above = below + 1 < s->n ? below + 1 : below;
  return s->seconds[below] + (at - (double)below) * (s->seconds[above] - s->seconds[below]);
}

summary samples_summary(samples *s)
{
  qsort(s->seconds, s->n, sizeof s->seconds[0], by_size);
  return (summary){s->seconds[0], quantile(s, 0.25), quantile(s, 0.5), quantile(s, 0.75)};
}
