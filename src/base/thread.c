#include "base/thread.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's struct sched_attr in its first form, which has had all of this since Linux 3.14; newer C libraries declare
 * it, older ones do not. */
typedef struct attributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t slice_ns, deadline_ns, period_ns;
} attributes;

enum { USUAL = 0 /* SCHED_OTHER */, SLICE_NS = 100000 /* the kernel takes no less */ };

void wtl_thread_be_prompt(void)
{
  attributes a = {0};
  if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) || a.policy != USUAL) return;
  a.size = sizeof a;
  a.slice_ns = SLICE_NS;
  (void)!syscall(SYS_sched_setattr, 0, &a, 0);
}
