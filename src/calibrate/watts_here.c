/* watts_here.c - the load on this machine: one process on each core. */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "calibrate/load.h"
#include "calibrate/watts.h"
#include "os/atomic.h"
#include "os/locale.h"
#include "power/machine/clock_domains.h"

enum { MOST_CORES = CPU_SETSIZE, STREAM_BYTES = 64 << 20 };

typedef struct counter {
  _Alignas(128) _Atomic uint64_t bytes;
} counter;

typedef struct cores {
  cpu_set_t set;
  int n;
  const char *sysfs;
  pid_t pid[MOST_CORES];
  counter *counter; /* one for each process, shared with it */
} cores;

static void compute(void)
{
  for (double a = 1, b = 1.000001, c = 0.5;;) { /* several chains at once, as compilers generate for numerical loops */
    for (int i = 0; i < 1000; i++) {
      a = a * b + 1e-9;
      c = c * b + 1e-9;
    }
    if (a > 1e9) a = 1;
    if (c > 1e9) c = 1;
    __asm__ __volatile__("" : "+m"(a), "+m"(c));
  }
}

static void move_memory(counter *mine)
{
  char *from = malloc(STREAM_BYTES), *to = malloc(STREAM_BYTES);
  if (!from || !to) _exit(1);
  memset(from, 1, STREAM_BYTES);
  for (;;) {
    memcpy(to, from, STREAM_BYTES);
    __asm__ __volatile__("" ::"r"(to) : "memory");
    atomic_fetch_add(&mine->bytes, STREAM_BYTES);
  }
}

static _Noreturn void work(enum watts_state state, counter *mine)
{
  if (state == WATTS_ACTIVE) compute();
  if (state == WATTS_STREAM) move_memory(mine);
  for (;;) {
    if (state == WATTS_SPIN) wtl_relax();
    if (state == WATTS_YIELD) sched_yield();
    if (state == WATTS_ASLEEP) usleep(1000);
  }
}

static void start(void *arg, enum watts_state state)
{
  cores *c = arg;
  int i = 0;
  pid_t parent = getpid();
  memset(c->counter, 0, (size_t)c->n * sizeof *c->counter);
  fflush(NULL);
  for (int cpu = 0; cpu < CPU_SETSIZE && state != WATTS_IDLE; cpu++) {
    if (!CPU_ISSET((size_t)cpu, &c->set)) continue;
    if ((c->pid[i] = fork()) == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET((size_t)cpu, &one);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent || sched_setaffinity(0, sizeof one, &one) != 0) _exit(1);
      work(state, &c->counter[i]);
    }
    i++;
  }
}

static void stop(void *arg)
{
  cores *c = arg;
  for (int i = 0; i < c->n; i++) {
    if (c->pid[i] <= 0) continue;
    kill(c->pid[i], SIGKILL);
    waitpid(c->pid[i], NULL, 0);
    c->pid[i] = 0;
  }
}

static double bytes(void *arg)
{
  const cores *c = arg;
  double sum = 0;
  for (int i = 0; i < c->n; i++) sum += (double)atomic_load(&c->counter[i].bytes);
  return sum;
}

/* Returns the mean of the cores' clocks by cpufreq. */
static double ghz(void *arg)
{
  WTL_LOCALE_APART;
  const cores *c = arg;
  double sum = 0;
  int n = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    char text[64];
    if (!CPU_ISSET((size_t)cpu, &c->set)) continue;
    if (wtl_cpu_file(&wtl_sys_real, c->sysfs, cpu, "cpufreq/scaling_cur_freq", text, sizeof text) <= 0) return NAN;
    sum += strtod(text, NULL) * 1e-6;
    n++;
  }
  return n && sum > 0 ? sum / n : NAN;
}

/* Called while no process of the load runs, because their time counts as our own only after their end. */
static double others(void *arg)
{
  load now = load_now();
  (void)arg;
  return now.busy_s - now.own_s + now.stolen_s;
}

static void print_step(int done, int all, const char *name)
{
  fprintf(stderr, "%d of %d: %s\n", done, all, name);
}

static bool is_measuring(const wtl_meter *m)
{
  wtl_domain d[WTL_MAX_DOMAINS];
  size_t n = wtl_meter_domains(m, d);
  for (size_t i = 0; i < n; i++)
    if (d[i].available && wtl_meter_measures(m) && d[i].scope != WATTLE_SCOPE_DEVICE) return true;
  return false;
}

/* Opens the knob and claims its domains. Returns the knob `none` if they cannot be claimed and guarded. */
static wtl_knob *claimed(const wtl_settings *settings, const cpu_set_t *set)
{
  wtl_settings none = *settings;
  pid_t me = getpid();
  wtl_knob *k = wtl_knob_open(settings, set, NULL);
  if (!k) return NULL;
  bool good = wtl_knob_acts(k), hint = good && wtl_knob_domains(k) && wtl_knob_domain(k, 0)->hint;
  if (hint) wtl_message_print("clocks are not changed: %s can only suggest them here", wtl_knob_name(k));
  if (hint) return k;
  for (size_t d = 0; good && d < wtl_knob_domains(k); d++) good = wtl_knob_claim(k, d) == 0;
  if (good) good = wtl_knob_guard(k, &me, 1) == 0;
  if (good || !wtl_knob_acts(k)) return k;
  wtl_message_print("clocks are not changed: %s", wtl_knob_why(k));
  wtl_knob_restore(k);
  wtl_knob_close(k);
  none.knob.number = WTL_KNOB_NONE;
  return wtl_knob_open(&none, set, NULL);
}

int watts_here(const wtl_settings *settings, double seconds, bool progress)
{
  static cores c;
  char error[512];
  wtl_meter *meter = wtl_meter_open(settings, error, sizeof error);
  if (!meter) return wtl_message_print("%s", error), WTL_EXIT_CONFIG;
  if (!is_measuring(meter)) {
    wtl_message_print(
        "no sensor of this node can be read, so nothing can be fitted (--plug takes typed watts of a plug "
        "meter, --meter-log a meter's log): %s",
        wtl_meter_why(meter));
    wtl_meter_close(meter);
    return WTL_EXIT_UNAVAILABLE;
  }
  sched_getaffinity(0, sizeof c.set, &c.set);
  c.sysfs = settings->sysfs.text;
  c.n = CPU_COUNT(&c.set);
  size_t length = (size_t)c.n * sizeof *c.counter;
  c.counter = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  wtl_knob *knob = claimed(settings, &c.set);
  if (c.counter == MAP_FAILED || !knob) return wtl_message_print("no memory"), WTL_EXIT_OSERR;
  watts_load work = {
      .arg = &c, .cores = c.n, .start = start, .stop = stop, .bytes = bytes, .ghz = ghz, .others = others};
  watts_measure(stdout, meter, knob, &wtl_sys_real, &work, seconds, progress ? print_step : NULL);
  wtl_knob_restore(knob);
  wtl_knob_close(knob);
  wtl_meter_close(meter);
  munmap(c.counter, length);
  return 0;
}
