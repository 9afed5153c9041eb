/* operations.c - counts operations with the kernel's perf events. */
#include "record/operations.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "os/os.h"
#include "power/sensor/perf_event.h"

/* Events with names that the kernel has for all kinds of processors (perf_event_open(2)). */
#define L1D(op) (PERF_COUNT_HW_CACHE_L1D | (PERF_COUNT_HW_CACHE_OP_##op) << 8 | PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16)
static const struct {
  const char *name, *words;
  uint32_t type;
  uint64_t event;
} kinds[WTL_N_OPERATIONS] = {
    [WTL_INSTRUCTIONS] = {"instructions", "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [WTL_BRANCHES] = {"branches", "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    [WTL_LOADS] = {"loads", "loads", PERF_TYPE_HW_CACHE, L1D(READ)},
    [WTL_STORES] = {"stores", "stores", PERF_TYPE_HW_CACHE, L1D(WRITE)},
    [WTL_CYCLES] = {"cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    /* "Usually" those of the last level (perf_event_open(2)). */
    [WTL_CACHE_REFERENCES] = {"cache_references", "cache references", PERF_TYPE_HARDWARE,
                              PERF_COUNT_HW_CACHE_REFERENCES},
    [WTL_CACHE_MISSES] = {"cache_misses", "cache misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

static int open_event(const struct perf_event_attr *event)
{
  return wtl_perf_event_open(event, -1, -1);
}

/* Reads value, time enabled and time running. If there are more events than counters, the kernel counts them
 * alternately. */
static bool read_event(int fd, uint64_t *count)
{
  uint64_t found[3];
  if (read(fd, found, sizeof found) != sizeof found || found[2] == 0) return false;
  *count = found[1] == found[2] ? found[0] : (uint64_t)llround((double)found[0] * (double)found[1] / (double)found[2]);
  return true;
}

static const wtl_operations_sys kernel = {open_event, read_event};

static int open_kind(const wtl_operations *o, int kind)
{
  struct perf_event_attr event = {.size = sizeof event,
                                  .type = kinds[kind].type,
                                  .config = kinds[kind].event,
                                  .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
                                  .exclude_kernel = 1,
                                  .exclude_hv = 1,
                                  .inherit = 1,
                                  .inherit_thread = 1};
  int fd = o->sys->open(&event);
  if (fd != -EINVAL) return fd;
  event.inherit_thread = 0; /* kernels before 5.13 do not know it, and count child processes, too */
  return o->sys->open(&event);
}

void wtl_operations_start(wtl_operations *o, const wtl_operations_sys *sys)
{
  *o = (wtl_operations){.sys = sys ? sys : &kernel};
  for (int kind = 0; kind < WTL_N_OPERATIONS; kind++) {
    o->fd[kind] = WTL_OS_IS_SIMULATED ? -1 : open_kind(o, kind);
    if (o->fd[kind] < 0) o->error[kind] = -o->fd[kind];
  }
}

static void append(char *text, size_t size, const char *separator, const char *more)
{
  size_t used = strlen(text);
  snprintf(text + used, size - used, "%s%s", used ? separator : "", more);
}

/* The reasons why counters are not there: a sentence for each error, "" if all are there. */
static void explain(const wtl_operations *o, char *why, size_t size)
{
  *why = '\0';
  if (WTL_OS_IS_SIMULATED) append(why, size, "", "a simulated processor has no counters");
  for (int kind = 0; kind < WTL_N_OPERATIONS && !WTL_OS_IS_SIMULATED; kind++) {
    char names[160] = "", sentence[320];
    bool reported = o->error[kind] == 0;
    for (int k = 0; k < kind; k++) reported = reported || o->error[k] == o->error[kind];
    for (int k = kind; k < WTL_N_OPERATIONS && !reported; k++)
      if (o->error[k] == o->error[kind]) append(names, sizeof names, ", ", kinds[k].words);
    if (reported) continue;
    wtl_perf_event_explain(sentence, sizeof sentence, o->error[kind], names);
    append(why, size, "; ", sentence);
  }
}

void wtl_operations_write(wtl_operations *o, FILE *f)
{
  char why[WTL_N_OPERATIONS * 320];
  for (int kind = 0; kind < WTL_N_OPERATIONS; kind++) {
    uint64_t count = 0;
    if (o->fd[kind] >= 0 && !o->sys->read(o->fd[kind], &count)) o->error[kind] = WTL_PERF_NEVER_RAN;
    bool counts = o->fd[kind] >= 0 && !o->error[kind];
    putc(kind ? ',' : '{', f);
    wtl_json(f, "%s:%g", kinds[kind].name, counts ? (double)count : NAN);
  }
  explain(o, why, sizeof why);
  wtl_json(f, ",'why':%s}", why);
  wtl_operations_stop(o);
}

void wtl_operations_stop(wtl_operations *o)
{
  if (!o->sys) return; /* never started */
  for (int kind = 0; kind < WTL_N_OPERATIONS; kind++) {
    if (o->fd[kind] >= 0) close(o->fd[kind]);
    o->fd[kind] = -1;
  }
}
