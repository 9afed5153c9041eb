/* Threads of the library's own. */
#include "os/os.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "power/check.h"

/* The kernel's struct sched_attr, which older C libraries do not declare. */
typedef struct attributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t slice_ns, deadline_ns, period_ns;
} attributes;

static attributes of_this_thread(void)
{
  attributes a = {0};
  CHECK(syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) == 0);
  return a;
}

static bool has_slices(void)
{
  struct utsname u;
  int version = 0, minor = 0;
  return uname(&u) == 0 && sscanf(u.release, "%d.%d", &version, &minor) == 2 && version * 100 + minor >= 612;
}

static void *be_prompt(void *arg)
{
  attributes *a = arg;
  setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 5);
  a[0] = of_this_thread();
  wtl_thread_be_prompt();
  a[1] = of_this_thread();
  return NULL;
}

/* Its share of the core stays, and other threads are as they were. */
static void a_prompt_thread_has_short_slices_and_nothing_else_changes(void)
{
  attributes before = of_this_thread(), its[2];
  pthread_t thread;
  CHECK(wtl_thread_start(&thread, NULL, be_prompt, its) == 0);
  pthread_join(thread, NULL);
  CHECK(its[1].nice == its[0].nice && its[1].policy == its[0].policy);
  if (its[0].policy == 0 && has_slices()) CHECK(its[1].slice_ns == 100000);
  attributes after = of_this_thread();
  CHECK(after.nice == before.nice && after.slice_ns == before.slice_ns);
}

TESTS(TEST(a_prompt_thread_has_short_slices_and_nothing_else_changes))
