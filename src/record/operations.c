/* operations.c - counts operations with the kernel's perf events. */
#include "record/operations.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/json.h"
#include "os/os.h"

/* Events with names that the kernel has for all kinds of processors (perf_event_open(2)). */
#define L1D(op) (PERF_COUNT_HW_CACHE_L1D | (PERF_COUNT_HW_CACHE_OP_##op) << 8 | PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16)
static const struct {
  const char *name;
  uint32_t type;
  uint64_t event;
} kinds[WTL_N_OPERATIONS] = {
    [WTL_INSTRUCTIONS] = {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [WTL_BRANCHES] = {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    [WTL_LOADS] = {"loads", PERF_TYPE_HW_CACHE, L1D(READ)},
    [WTL_STORES] = {"stores", PERF_TYPE_HW_CACHE, L1D(WRITE)},
};

static int open_event(const struct perf_event_attr *event)
{
  int fd = (int)syscall(SYS_perf_event_open, event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : fd;
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

static void refuse(wtl_operations *o, int kind, int error)
{
  if (error == EACCES || error == EPERM)
    snprintf(o->why, sizeof o->why, "counting %s is not permitted here; wattle doctor says how to grant it",
             kinds[kind].name);
  else if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == EINVAL)
    snprintf(o->why, sizeof o->why, "this processor, or its virtual machine, has no counter of %s", kinds[kind].name);
  else
    snprintf(o->why, sizeof o->why, "%s cannot be counted: %s", kinds[kind].name, strerror(error));
}

void wtl_operations_start(wtl_operations *o, const wtl_operations_sys *sys)
{
  *o = (wtl_operations){.sys = sys ? sys : &kernel, .fd = {-1, -1, -1, -1}};
  if (WTL_OS_IS_SIMULATED) {
    snprintf(o->why, sizeof o->why, "a simulated processor has no counters");
    return;
  }
  for (int kind = 0; kind < WTL_N_OPERATIONS; kind++) {
    o->fd[kind] = open_kind(o, kind);
    if (o->fd[kind] >= 0) continue;
    refuse(o, kind, -o->fd[kind]);
    wtl_operations_stop(o);
    return;
  }
  o->counts = true;
}

void wtl_operations_write(wtl_operations *o, FILE *f)
{
  uint64_t count[WTL_N_OPERATIONS];
  for (int kind = 0; o->counts && kind < WTL_N_OPERATIONS; kind++) {
    if (o->sys->read(o->fd[kind], &count[kind])) continue;
    snprintf(o->why, sizeof o->why, "the counter of %s never ran: too many are in use", kinds[kind].name);
    wtl_operations_stop(o);
  }
  putc('{', f);
  for (int kind = 0; kind < WTL_N_OPERATIONS; kind++)
    wtl_json_number_field(f, kinds[kind].name, o->counts ? (double)count[kind] : NAN, kind == 0);
  wtl_json_text_field(f, "why", o->why, 0);
  putc('}', f);
  wtl_operations_stop(o);
}

void wtl_operations_stop(wtl_operations *o)
{
  if (!o->sys) return; /* never started */
  for (int kind = 0; kind < WTL_N_OPERATIONS; kind++) {
    if (o->fd[kind] >= 0) close(o->fd[kind]);
    o->fd[kind] = -1;
  }
  o->counts = false;
}
