/* os_linux.c - implements the port to Linux, also for the threads build: the functions that need not be inline. */
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "os/atomic.h"
#include "os/floats.h"
#include "os/locale.h"
#include "os/os.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__SANITIZE_THREAD__)
_Atomic int wtl_fence_word; /* see atomic.h */
#endif

/* --- clock --- */

bool wtl_clock_has_tsc;

/* A reading of both clocks. */
typedef struct moment {
  uint64_t ns, ticks;
} moment;

static moment started;

/* Takes the fastest of five readings: during a slower one another process may have had the core. */
static moment now(void)
{
  moment best = {0, 0};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 5; i++) {
    uint64_t before = wtl_ticks(), ns = wtl_clock_ns(), took = wtl_ticks() - before;
    if (took >= least) continue;
    least = took;
    best = (moment){ns, before + took / 2};
  }
  return best;
}

static bool tsc_is_constant(void)
{
#if defined(__x86_64__)
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
#else
  return false;
#endif
}

/* Runs at load, before other constructors read ticks. The first caller that needs the length of a tick usually comes
 * more than 2 ms later, so that it does not wait. */
__attribute__((constructor(101))) static void start(void)
{
  wtl_clock_has_tsc = tsc_is_constant();
  started = now();
}

double wtl_clock_ns_per_tick(void)
{
  if (!wtl_clock_has_tsc) return 1.0;
  /* A reading is off by about 50 ns. Over 2 ms that is 25 ppm, and less the longer the program runs. */
  while (wtl_clock_ns() - started.ns < 2000000) wtl_relax();
  moment then = now();
  return (double)(then.ns - started.ns) / (double)(then.ticks - started.ticks);
}

/* --- threads --- */

int wtl_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int rc = pthread_create(thread, attributes, run, arg);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return rc;
}

/* Returns how much of its stack the calling thread has left. The main thread's grows. */
static size_t stack_left(void)
{
  pthread_attr_t attributes;
  void *low;
  size_t size;
  char here, *at = &here;
  if (gettid() == getpid() || pthread_getattr_np(pthread_self(), &attributes) != 0) return SIZE_MAX;
  int rc = pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return rc == 0 && at > (char *)low && at < (char *)low + size ? (size_t)(at - (char *)low) : SIZE_MAX;
}

static _Thread_local struct {
  void (*run)(void *);
  void *arg;
} with_room;

static void run_with_room(void)
{
  with_room.run(with_room.arg);
}

void wtl_os_call_with_room(void (*run)(void *), void *arg)
{
  enum { ENOUGH = 128 << 10, ROOM = 512 << 10 };
  ucontext_t here, there;
  void *stack = stack_left() >= ENOUGH
                    ? MAP_FAILED
                    : mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED || getcontext(&there) != 0) {
    run(arg);
    return;
  }
  there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = ROOM};
  there.uc_link = &here;
  with_room.run = run;
  with_room.arg = arg;
  makecontext(&there, run_with_room, 0);
  (void)!swapcontext(&here, &there);
  munmap(stack, ROOM);
}

/* The first version of the kernel's struct sched_attr (Linux 3.14). Older C libraries do not declare it. */
typedef struct attributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t slice_ns, deadline_ns, period_ns;
} attributes;

enum { USUAL = 0 /* SCHED_OTHER */, SLICE_NS = 100000 /* the kernel's minimum */ };

void wtl_thread_be_prompt(void)
{
  attributes a = {0};
  if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) || a.policy != USUAL) return;
  a.size = sizeof a;
  a.slice_ns = SLICE_NS;
  (void)!syscall(SYS_sched_setattr, 0, &a, 0);
}

/* --- sleep and wake-up --- */

static struct timespec timespec_of(double seconds)
{
  time_t whole = (time_t)seconds;
  return (struct timespec){.tv_sec = whole, .tv_nsec = (long)((seconds - (double)whole) * 1e9)};
}

bool wtl_os_join_barriers(void)
{
  static _Atomic int joined; /* 0: not tried yet; 1: it has; -1: it cannot */
  if (joined == 0) {
    long offered = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    bool can = offered > 0 && (offered & MEMBARRIER_CMD_GLOBAL_EXPEDITED) &&
               syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    joined = can ? 1 : -1;
  }
  return joined > 0;
}

bool wtl_os_barrier_of_all(void)
{
  return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

int wtl_futex_wait(_Atomic uint32_t *word, uint32_t seen, double seconds, enum wtl_futex_reach reach)
{
  WTL_FLOATS_APART;
  struct timespec most = timespec_of(seconds);
  int operation = reach == WTL_FUTEX_OURS ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT;
  return syscall(SYS_futex, word, operation, seen, &most, NULL, 0) == 0 ? 0 : errno;
}

void wtl_futex_wake(_Atomic uint32_t *word, int n, enum wtl_futex_reach reach)
{
  syscall(SYS_futex, word, reach == WTL_FUTEX_OURS ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE, n, NULL, NULL, 0);
}

int wtl_os_event_open(void)
{
  return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void wtl_os_event_close(int event)
{
  close(event);
}

void wtl_os_event_set(int event)
{
  eventfd_write(event, 1);
}

/* Uses ppoll. An epoll descriptor would cost time at each arrival, even when no thread sleeps. */
int wtl_os_await_network(int descriptor, int event, double seconds, enum wtl_os_idle_mode how)
{
  WTL_FLOATS_APART;
  struct pollfd fds[] = {{descriptor, POLLIN, 0}, {event, POLLIN, 0}};
  struct timespec most = timespec_of(isinf(seconds) ? 0 : seconds);
  (void)how;
  int came = ppoll(fds, 2, isinf(seconds) ? NULL : &most, NULL);
  eventfd_t count;
  if (came > 0 && fds[1].revents) eventfd_read(event, &count);
  return came > 0 ? 1 : came;
}

/* --- the process --- */

bool wtl_os_random(void *to, size_t n)
{
  return getrandom(to, n, 0) == (ssize_t)n;
}

bool wtl_os_program(char *path, size_t size)
{
  ssize_t n = readlink("/proc/self/exe", path, size - 1);
  path[n > 0 ? n : 0] = '\0';
  return n > 0;
}

int wtl_os_each_object(int (*visit)(struct dl_phdr_info *info, size_t size, void *arg), void *arg)
{
  return dl_iterate_phdr(visit, arg);
}

bool wtl_os_is_program(const struct dl_phdr_info *info, int index)
{
  (void)info;
  return index == 0;
}

double wtl_os_thread_cpu_seconds(pthread_t thread)
{
  clockid_t clock;
  struct timespec t;
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &t) != 0) return NAN;
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double wtl_os_machine_cpu_seconds(void)
{
  WTL_LOCALE_APART;
  double user, nice, system, idle, wait, irq, softirq, busy = NAN;
  FILE *f = fopen("/proc/stat", "re");
  if (f && fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait, &irq, &softirq) == 7)
    busy = (user + nice + system + irq + softirq) / (double)sysconf(_SC_CLK_TCK);
  if (f) fclose(f);
  return busy;
}

void wtl_os_machine_id(char *id, size_t size)
{
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read(fd, id, size - 1) : 0;
  if (fd >= 0) close(fd);
  id[n > 0 ? n : 0] = '\0';
  for (char *c = id; *c; c++)
    if (*c == '\n') *c = '\0';
}
