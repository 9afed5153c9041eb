/* counters.c - reads the processor's counters, see counters.h. */
#include "counters.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* BR_INST_RETIRED.NOT_TAKEN of Intel's cores since Sandy Bridge (SDM volume 3, chapter 20: event 0xc4, mask 0x10).
 * Other processors have no common number for this event. */
static const uint64_t intel_not_taken = 0x10c4;

static int is_intel(void)
{
#if defined(__x86_64__)
  uint32_t a = 0, b, c, d;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
  return b == 0x756e6547 && d == 0x49656e69 && c == 0x6c65746e; /* GenuineIntel */
#else
  return 0;
#endif
}

static int open_one(uint32_t type, uint64_t event)
{
  struct perf_event_attr a;
  memset(&a, 0, sizeof a);
  a.size = sizeof a;
  a.type = type;
  a.config = event;
  a.disabled = 1;
  a.exclude_kernel = a.exclude_hv = 1;
  return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

void counters_open(counters *c)
{
  c->fd[COUNT_INSTRUCTIONS] = open_one(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  c->fd[COUNT_BRANCHES] = open_one(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
  c->fd[COUNT_NOT_TAKEN] = is_intel() ? open_one(PERF_TYPE_RAW, intel_not_taken) : -1;
}

void counters_begin(const counters *c)
{
  for (int i = 0; i < COUNTERS; i++)
    if (c->fd[i] >= 0) {
      ioctl(c->fd[i], PERF_EVENT_IOC_RESET, 0);
      ioctl(c->fd[i], PERF_EVENT_IOC_ENABLE, 0);
    }
}

void counters_end(const counters *c, double counted[COUNTERS])
{
  for (int i = 0; i < COUNTERS; i++) {
    uint64_t n;
    counted[i] = NAN;
    if (c->fd[i] < 0) continue;
    ioctl(c->fd[i], PERF_EVENT_IOC_DISABLE, 0);
    if (read(c->fd[i], &n, sizeof n) == sizeof n) counted[i] = (double)n;
  }
}

void counters_close(counters *c)
{
  for (int i = 0; i < COUNTERS; i++)
    if (c->fd[i] >= 0) close(c->fd[i]);
}
