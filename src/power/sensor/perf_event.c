/* perf_event.c - the system call of perf events, and its errors in words. */
#include "power/sensor/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int wtl_perf_event_open(const struct perf_event_attr *event, int cpu, int group)
{
  int process = cpu < 0 ? 0 : -1;
  int fd = (int)syscall(SYS_perf_event_open, event, process, cpu, group, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

void wtl_perf_event_explain(char *out, size_t size, int error, const char *names)
{
  if (error == EACCES || error == EPERM)
    snprintf(out, size, "counting %s is not permitted here; wattle doctor says how to grant it", names);
  else if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == EINVAL)
    snprintf(out, size, "this processor, or its virtual machine, has no counter of %s", names);
  else if (error == WTL_PERF_NEVER_RAN)
    snprintf(out, size, "the counter of %s never ran: too many are in use", names);
  else
    snprintf(out, size, "%s cannot be counted: %s", names, strerror(error));
}
