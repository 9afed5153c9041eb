/* counts.c - the counters of a thread by perf events, as one group. */
#include "power/sensor/counts.h"

#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "power/sensor/perf_event.h"

enum { CYCLES, INSTRUCTIONS, MISSES, KINDS };

static const uint64_t events[KINDS] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
                                       PERF_COUNT_HW_CACHE_MISSES};

static long real_read(int fd, void *buffer, size_t size)
{
  return read(fd, buffer, size);
}

static const wtl_counters_sys kernel = {wtl_perf_event_open, real_read};

static int open_kind(const wtl_counters *c, int kind)
{
  struct perf_event_attr event = {.size = sizeof event,
                                  .type = PERF_TYPE_HARDWARE,
                                  .config = events[kind],
                                  .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                 PERF_FORMAT_TOTAL_TIME_RUNNING,
                                  .exclude_kernel = 1,
                                  .exclude_hv = 1};
  return c->sys->open(&event, -1, kind == CYCLES ? -1 : c->fd[CYCLES]);
}

bool wtl_counters_open(wtl_counters *c, const wtl_counters_sys *sys)
{
  *c = (wtl_counters){.sys = sys ? sys : &kernel, .fd = {-1, -1, -1}};
  for (int kind = 0; kind < KINDS; kind++) {
    c->fd[kind] = open_kind(c, kind);
    if (c->fd[kind] >= 0 || kind == MISSES) continue; /* misses are useful, but not needed */
    wtl_perf_event_explain(c->why, sizeof c->why, -c->fd[kind], kind == CYCLES ? "cycles" : "instructions");
    wtl_counters_close(c);
    return false;
  }
  return true;
}

/* The kernel writes the number of events, the times enabled and running, and the counts in the order of opening. A
 * group that had to share the processor's counters with others has run for a part of the time. */
bool wtl_counters_read(wtl_counters *c, wtl_counts *now)
{
  uint64_t found[3 + KINDS] = {0};
  size_t n = c->fd[MISSES] >= 0 ? KINDS : MISSES, size = (3 + n) * sizeof *found;
  if (c->fd[CYCLES] < 0 || c->sys->read(c->fd[CYCLES], found, size) != (long)size || found[0] != n || !found[2])
    return false;
  double share = (double)found[1] / (double)found[2];
  now->cycles = share * (double)found[3 + CYCLES];
  now->instructions = share * (double)found[3 + INSTRUCTIONS];
  now->misses = n > MISSES ? share * (double)found[3 + MISSES] : NAN;
  return true;
}

void wtl_counters_close(wtl_counters *c)
{
  for (int kind = KINDS - 1; c->sys && kind >= 0; kind--) {
    if (c->fd[kind] >= 0) close(c->fd[kind]);
    c->fd[kind] = -1;
  }
}
