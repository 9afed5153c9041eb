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
/* From another node a sleeper is woken by an agent that must be woken first, and only the second wake-up is seen by who
 * learns: 84 us against 25 us polling for a put across two namespaces (field experience with UCX 1.13 over TCP). */
static const double least_far_price_s = 50e-6;

static void set_price(wtl_stages *s, double seconds)
{
  s->price_s = fmin(fmax(seconds, s->least_price_s), most_price_s);
  uint64_t ticks = (uint64_t)(s->price_s * 1e9 / s->ns_per_tick);
  /* Where PEs outnumber cores, the peer can only make progress on the core this PE gives up. */
  s->spin_ticks = s->crowded ? 0 : ticks;
  s->yield_ticks = s->crowded ? ticks : 0;
}

void wtl_stages_start(wtl_stages *s, const wtl_settings *settings, int n_local, int cores, bool far, double ns_per_tick)
{
  memset(s, 0, sizeof *s);
  s->policy = (enum wtl_wait_policy)settings->wait.number;
  s->crowded = n_local > cores;
  s->least_price_s = far ? least_far_price_s : least_price_s;
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

/* The two versions of cgroups: where their trees lie, and the file, or two, with a quota and its period in microseconds. */
typedef struct cgroups {
  const char *controller, *root, *quota, *period;
} cgroups;

static const cgroups versions[] = {{"", "/sys/fs/cgroup", "cpu.max", NULL},
                                   {"cpu", "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us"}};

/* The quota of the cgroup root + path, in cores; INFINITY where it has none. */
static double quota_of(const cgroups *version, const char *path)
{
  char file[4400];
  double quota, period = 0, none;
  snprintf(file, sizeof file, "%s%s/%s", version->root, path, version->quota);
  quota = read_two(file, &period);
  if (version->period) {
    snprintf(file, sizeof file, "%s%s/%s", version->root, path, version->period);
    period = read_two(file, &none);
  }
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* Is `word` one of those in `list`, with commas between them? */
static bool is_listed(const char *list, const char *word)
{
  size_t n = strlen(word);
  for (;; list += strcspn(list, ",") + 1) {
    if (strcspn(list, ",") == n && strncmp(list, word, n) == 0) return true;
    if (!list[strcspn(list, ",")]) return false;
  }
}

/* This process's cgroup, below the root: "/a/b"; "" for the root itself and where that cannot be known. */
static void own_path(const cgroups *version, char *path, size_t size)
{
  char line[4352];
  FILE *f = fopen("/proc/self/cgroup", "re");
  *path = '\0';
  while (f && !*path && fgets(line, sizeof line, f)) { /* "4:cpu,cpuacct:/a/b", or "0::/a/b" */
    char *list = strchr(line, ':'), *at = list ? strchr(list + 1, ':') : NULL;
    if (!at) continue;
    *at++ = '\0';
    at[strcspn(at, "\n")] = '\0';
    /* A path with /.. lies outside of what this process is shown. */
    if (is_listed(list + 1, version->controller) && !strstr(at, "/..") && strcmp(at, "/") != 0)
      snprintf(path, size, "%s", at);
  }
  if (f) fclose(f);
}

/* The tightest of those from this process's own cgroup up to the root. (In a container the root is the container's.) */
double wtl_cores_quota(void)
{
  double least = INFINITY;
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    char path[4096];
    own_path(&versions[i], path, sizeof path);
    for (char *end = path + strlen(path); end; end = strrchr(path, '/')) {
      *end = '\0';
      least = fmin(least, quota_of(&versions[i], path));
    }
  }
  return least;
}

int wtl_cores_allowed(void)
{
  cpu_set_t set;
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
  double limit = wtl_cores_quota();
  if (limit < cores) cores = (int)ceil(limit);
  return cores < 1 ? 1 : cores;
}
