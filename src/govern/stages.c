#include "govern/stages.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where learning starts: futex wake to running in another process took 35-66 us on a 2-core virtual machine
 * (docs/decisions/0004-price-of-a-wake-up.md). */
static const double first_price_s = 50e-6;
/* One wake-up that was held up by the scheduler must not make every later wait spin long. */
static const double least_price_s = 2e-6, most_price_s = 200e-6;

static void set_price(wtl_stages *s, double seconds)
{
  s->price_s = fmin(fmax(seconds, least_price_s), most_price_s);
  uint64_t ticks = (uint64_t)(s->price_s * 1e9 / s->ns_per_tick);
  /* Where PEs outnumber cores, the peer can only make progress on the core this PE gives up. */
  s->spin_ticks = s->crowded ? 0 : ticks;
  s->yield_ticks = s->crowded ? ticks : 0;
}

void wtl_stages_start(wtl_stages *s, const wtl_settings *settings, int n_local, int cores, double ns_per_tick)
{
  memset(s, 0, sizeof *s);
  s->policy = (enum wtl_wait_policy)settings->wait.number;
  s->crowded = n_local > cores;
  s->ns_per_tick = ns_per_tick;
  s->learns = s->policy == WTL_WAIT_ADAPTIVE && settings->spin_max.seconds < 0;
  switch (s->policy) {
  case WTL_WAIT_SPIN: s->spin_ticks = UINT64_MAX; break;
  case WTL_WAIT_YIELD: s->yield_ticks = UINT64_MAX; break;
  case WTL_WAIT_SLEEP: break;
  case WTL_WAIT_ADAPTIVE:
    if (s->learns)
      set_price(s, first_price_s);
    else
      s->spin_ticks = (uint64_t)(settings->spin_max.seconds * 1e9 / ns_per_tick);
  }
}

void wtl_stages_learn(wtl_stages *s, uint64_t ticks)
{
  double seconds = (double)ticks * s->ns_per_tick * 1e-9;
  if (s->learns && seconds < 10 * most_price_s) set_price(s, s->price_s + (seconds - s->price_s) / 8);
}

static double read_two(const char *path, double *second)
{
  char first[32];
  double number;
  FILE *f = fopen(path, "re");
  int n = f ? fscanf(f, "%31s %lf", first, second) : 0;
  if (f) fclose(f);
  return n >= 1 && sscanf(first, "%lf", &number) == 1 ? number : -1; /* "max" or -1: no limit */
}

double wtl_cores_quota(void)
{
  double period = 0, quota = read_two("/sys/fs/cgroup/cpu.max", &period); /* cgroup v2: "quota period", microseconds */
  if (quota < 0) {                                                        /* cgroup v1: two files */
    double none;
    quota = read_two("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &none);
    period = read_two("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &none);
  }
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

int wtl_cores_allowed(void)
{
  cpu_set_t set;
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
  double limit = wtl_cores_quota();
  if (limit < cores) cores = (int)ceil(limit);
  return cores < 1 ? 1 : cores;
}
