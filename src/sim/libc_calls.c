/*
 * libc_calls.c - replaces calls of the C library in a simulated program. Time is simulated, threads are the
 * simulator's, and the end of a process is the end of a PE. The program is linked with --wrap for each function
 * (cmake/simulated.link): a call of NAME goes to __wrap_NAME, and __real_NAME is the C library's own function.
 *
 * Computation is counted by the basic blocks that the program enters: the compiler inserts a call into each. So the
 * same program with the same arguments always computes for the same time, independent of the load of the machine.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define WATTLE_SIMULATED
#include "wattle_sim.h"

#include "os/floats.h"
#include "sim/libc_calls.h"
#include "sim/recent.h"
#include "sim/simulator.h"

/* --- computation -------------------------------------------------------------------------------------------------- */

/* A PE catches up after at most this many blocks, so that a polling loop of the program lets other PEs run. */
enum { MOST_BLOCKS = 1 << 16 };

/* Computation that is not yet part of simulated time: blocks entered, other work in seconds at the base clock, and
 * bytes read from memory or written to it. This PE is ahead of the others by it. */
static uint64_t blocks;
static double charged, from_memory;

/* Blocks entered since the last wattle_sim_move, without `blocks`. The bytes of a loop move while it computes. */
static uint64_t blocks_before;

/* The program's counts so far. A described second has as many instructions as one of blocks, and a copy one load and
 * one store of 16 bytes. */
enum { BLOCK_INSTRUCTIONS = 5, COPIED_BY_INSTRUCTION = 8, CACHE_LINE = 64 };
static double instructions, missed;

double wtl_sim_instructions(void)
{
  return instructions;
}

double wtl_sim_misses(void)
{
  return missed;
}

/* Limit for the runtime's work by which a PE may be ahead. A PE that is ahead has not seen messages that arrive
 * meanwhile. It catches up after it has released a lock: with a lock held, other threads of the PE would try in vain to
 * take it. */
#define MOST_AHEAD_S 5e-6

/* The same limit where PEs share memory: before an access another PE can notice what this one has done. */
#define MOST_AHEAD_NEAR_S 0.5e-6

/* Seconds at the base clock that bytes of a level take at the present clock. Not all of the time follows the clock. */
static double moved_s(enum wtl_sim_level level, double bytes)
{
  double pace = wtl_sim_pace();
  return bytes / 2 * wtl_sim_copy_s(wtl_sim_price()->levels[level], pace) / pace;
}

/* Without `blocks`. */
static double ahead_by_copies(void)
{
  return from_memory > 0 ? charged + moved_s(WTL_SIM_MEMORY, from_memory) : charged;
}

static double ahead(void)
{
  return (double)blocks * wtl_sim_price()->block + ahead_by_copies();
}

void wtl_sim_catch_up(void)
{
  WTL_FLOATS_APART;
  double work = (double)blocks * wtl_sim_price()->block + charged, bytes = from_memory;
  if (!wtl_sim_thread()) return; /* in a function that MPI calls: the PE catches up when it continues */
  instructions += BLOCK_INSTRUCTIONS * (double)blocks;
  blocks_before += blocks;
  blocks = 0;
  charged = from_memory = 0;
  if (work > 0) wtl_sim_compute(work);
  if (bytes > 0) wtl_sim_move(bytes, 0);
}

void wtl_sim_charge(double seconds)
{
  WTL_FLOATS_APART;
  charged += seconds;
}

void wtl_sim_work(enum wtl_sim_work what)
{
  WTL_FLOATS_APART;
  if (!wtl_sim_thread()) return;
  charged += wtl_sim_price()->work[what];
  if (what == WTL_SIM_CALL && charged > MOST_AHEAD_S) wtl_sim_catch_up();
}

double wtl_sim_ahead(void)
{
  WTL_FLOATS_APART;
  return wtl_sim_thread() ? ahead() * wtl_sim_pace() : 0;
}

/* --- the program's copies ----------------------------------------------------------------------------------------- */

/* Counts bytes that the PE has read or written. */
static void count(enum wtl_sim_level level, size_t n)
{
  double bytes = (double)n;
  instructions += bytes / (2 * COPIED_BY_INSTRUCTION);
  if (level < WTL_SIM_MEMORY) return;
  missed += bytes / CACHE_LINE;
  wtl_sim_count_bytes(bytes);
}

static void moved(enum wtl_sim_level level, size_t n)
{
  count(level, n);
  if (level < WTL_SIM_MEMORY)
    charged += moved_s(level, (double)n);
  else
    from_memory += (double)n;
}

/* `from`: NULL if the bytes are set (memset). Each byte is charged as a read and a write, because a cache fetches a
 * line to change it. */
static void copied(const void *to, const void *from, size_t n)
{
  WTL_FLOATS_APART;
  size_t bytes[WTL_SIM_LEVELS] = {0};
  if (!wtl_sim_thread()) return; /* a copy by MPI, whose messages have a price of their own */
  if (from) wtl_recent_use(from, n, 2 * n, bytes);
  wtl_recent_use(to, n, 2 * n, bytes);
  for (int level = 0; level < WTL_SIM_LEVELS; level++)
    if (bytes[level]) moved((enum wtl_sim_level)level, from ? bytes[level] : 2 * bytes[level]);
  if (ahead_by_copies() > MOST_AHEAD_S) wtl_sim_catch_up();
}

/* Bytes of another PE are at best in the cache that the two share. */
void wtl_sim_near(size_t n)
{
  WTL_FLOATS_APART;
  if (wtl_sim_pes_a_node() == 1 || !wtl_sim_thread()) return;
  charged += wtl_sim_price()->near;
  if (n > CACHE_LINE) {
    enum wtl_sim_level level = wtl_recent_pass(2 * n);
    moved(level < WTL_SIM_L3 ? WTL_SIM_L3 : level, 2 * n);
  }
  if (ahead() > MOST_AHEAD_NEAR_S) wtl_sim_catch_up();
}

void *__wrap_memcpy(void *to, const void *from, size_t n)
{
  copied(to, from, n);
  return memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n)
{
  copied(to, from, n);
  return memmove(to, from, n);
}

void *__wrap_memset(void *at, int byte, size_t n)
{
  copied(at, NULL, n);
  return memset(at, byte, n);
}

void __sanitizer_cov_trace_pc(void)
{
  if (++blocks >= MOST_BLOCKS) wtl_sim_catch_up();
}

void wattle_sim_compute(double seconds)
{
  WTL_FLOATS_APART;
  wtl_sim_catch_up();
  if (seconds > 0 && wtl_sim_price()->block > 0) instructions += BLOCK_INSTRUCTIONS * seconds / wtl_sim_price()->block;
  wtl_sim_compute(seconds);
}

void wattle_sim_move(size_t bytes)
{
  WTL_FLOATS_APART;
  if (!wtl_sim_thread()) return;
  double meanwhile = (double)(blocks_before + blocks) * wtl_sim_price()->block;
  enum wtl_sim_level level = wtl_recent_pass(bytes);
  count(level, bytes);
  if (level < WTL_SIM_MEMORY) charged += fmax(0, moved_s(level, (double)bytes) - meanwhile);
  wtl_sim_catch_up();
  if (level == WTL_SIM_MEMORY) wtl_sim_move((double)bytes, meanwhile * wtl_sim_pace());
  blocks_before = 0;
}

/* --- time --------------------------------------------------------------------------------------------------------- */

double wtl_sim_time(void)
{
  WTL_FLOATS_APART;
  return wtl_sim_now() + wtl_sim_ahead();
}

uint64_t wtl_sim_ns(void)
{
  WTL_FLOATS_APART;
  return (uint64_t)(wtl_sim_time() * 1e9);
}

/* Reading the time counts as so many blocks, so that a loop that waits for a time ends. */
enum { BLOCKS_A_QUESTION = 16 };

static void to_timespec(double seconds, struct timespec *t)
{
  t->tv_sec = (time_t)seconds;
  t->tv_nsec = (long)((seconds - (double)t->tv_sec) * 1e9);
}

static void to_timeval(double seconds, struct timeval *t)
{
  t->tv_sec = (time_t)seconds;
  t->tv_usec = (suseconds_t)((seconds - (double)t->tv_sec) * 1e6);
}

static double cpu_s(void)
{
  blocks += BLOCKS_A_QUESTION;
  wtl_sim_catch_up();
  return wtl_sim_cpu_seconds();
}

static double time_s(void)
{
  blocks += BLOCKS_A_QUESTION;
  return wtl_sim_time();
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
  WTL_FLOATS_APART;
  bool of_cpu = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
  to_timespec(of_cpu ? cpu_s() : time_s(), t);
  return 0;
}

int __wrap_gettimeofday(struct timeval *t, void *zone)
{
  WTL_FLOATS_APART;
  to_timeval(time_s(), t);
  return 0;
}

time_t __wrap_time(time_t *t)
{
  WTL_FLOATS_APART;
  time_t now = (time_t)time_s();
  return t ? (*t = now) : now;
}

clock_t __wrap_clock(void)
{
  WTL_FLOATS_APART;
  return (clock_t)(cpu_s() * CLOCKS_PER_SEC);
}

int __wrap_timespec_get(struct timespec *t, int base)
{
  WTL_FLOATS_APART;
  if (base == TIME_UTC) to_timespec(time_s(), t);
  return base == TIME_UTC ? base : 0;
}

clock_t __wrap_times(struct tms *t)
{
  WTL_FLOATS_APART;
  double a_second = (double)sysconf(_SC_CLK_TCK);
  if (t) *t = (struct tms){.tms_utime = (clock_t)(cpu_s() * a_second)};
  return (clock_t)(wtl_sim_time() * a_second);
}

/* Only the CPU time of a PE is known. */
int __wrap_getrusage(int who, struct rusage *r)
{
  WTL_FLOATS_APART;
  memset(r, 0, sizeof *r);
  if (who != RUSAGE_CHILDREN) to_timeval(cpu_s(), &r->ru_utime);
  return 0;
}

static void sleep_for(double seconds)
{
  WTL_FLOATS_APART;
  wtl_sim_catch_up();
  enum wtl_sim_idle_mode before = wtl_sim_set_idle_mode(WTL_SIM_SLEEPS);
  wtl_sim_pause(seconds);
  wtl_sim_wake_up();
  wtl_sim_set_idle_mode(before);
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
  WTL_FLOATS_APART;
  sleep_for((double)t->tv_sec + (double)t->tv_nsec * 1e-9);
  return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
  WTL_FLOATS_APART;
  double seconds = (double)t->tv_sec + (double)t->tv_nsec * 1e-9;
  if (flags & TIMER_ABSTIME) seconds -= wtl_sim_time();
  if (seconds > 0) sleep_for(seconds);
  return 0;
}

int __wrap_usleep(useconds_t us)
{
  WTL_FLOATS_APART;
  sleep_for(us * 1e-6);
  return 0;
}

unsigned __wrap_sleep(unsigned seconds)
{
  WTL_FLOATS_APART;
  sleep_for(seconds);
  return 0;
}

int __wrap_sched_yield(void)
{
  blocks += BLOCKS_A_QUESTION;
  wtl_sim_catch_up();
  return 0;
}

int __wrap_gethostname(char *name, size_t size)
{
  int each = wtl_sim_pes_a_node();
  snprintf(name, size, each == 1 ? "pe-%d" : "node-%d", wtl_sim_pe() / each);
  return 0;
}

/* Each PE is bound to a core of its own. */
int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
  (void)process;
  CPU_ZERO_S(size, set);
  CPU_SET_S((size_t)(wtl_sim_pe() % wtl_sim_pes_a_node()), size, set);
  return 0;
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
  wtl_sim_catch_up();
  *thread = (pthread_t)wtl_sim_spawn(run, arg, false);
  return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
  wtl_sim_catch_up();
  void *it = wtl_sim_join((void *)thread);
  if (result) *result = it;
  return 0;
}

int __wrap_pthread_detach(pthread_t thread)
{
  return 0;
}

pthread_t __wrap_pthread_self(void)
{
  return (pthread_t)wtl_sim_thread();
}

int __real_pthread_mutex_unlock(pthread_mutex_t *m);

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
  int rc;
  while ((rc = pthread_mutex_trylock(m)) == EBUSY) {
    wtl_sim_catch_up();
    if (pthread_mutex_trylock(m) == 0) return 0; /* it was released meanwhile */
    wtl_sim_block(m, INFINITY);
  }
  return rc;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
  WTL_FLOATS_APART;
  int rc = __real_pthread_mutex_unlock(m);
  if (wtl_sim_is_awaited(m)) wtl_sim_wake(m, 1);
  if (charged > MOST_AHEAD_S) wtl_sim_catch_up();
  return rc;
}

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
  wtl_sim_catch_up();
  __real_pthread_mutex_unlock(m); /* no other thread runs between this and the block */
  wtl_sim_block(c, INFINITY);
  return __wrap_pthread_mutex_lock(m);
}

int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
  wtl_sim_wake(c, 1);
  return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
  wtl_sim_wake(c, INT_MAX);
  return 0;
}

/* --- libraries that the program loads while it runs --------------------------------------------------------------- */

void *__real_dlopen(const char *file, int flags);
void *__wrap_dlopen(const char *file, int flags)
{
  void *library = __real_dlopen(file, flags);
  if (library && file) wtl_sim_loaded();
  return library;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

typedef struct last {
  struct last *earlier;
  void (*call)(int, void *);
  void *arg;
} last;

static last *lasts;

int __wrap_on_exit(void (*call)(int, void *), void *arg)
{
  last *l = malloc(sizeof *l);
  if (!l) return -1;
  *l = (last){lasts, call, arg};
  lasts = l;
  return 0;
}

static void call_plain(int status, void *arg)
{
  void (*call)(void);
  call = *(void (**)(void))arg;
  free(arg);
  call();
}

int __wrap_atexit(void (*call)(void))
{
  void (**copy)(void) = malloc(sizeof *copy);
  if (!copy) return -1;
  *copy = call;
  return __wrap_on_exit(call_plain, copy);
}

void wtl_sim_end(int status)
{
  for (last *l; (l = lasts); free(l)) {
    lasts = l->earlier;
    l->call(status, l->arg);
  }
  wtl_sim_catch_up();
}

/* The simulator's process ID. A child that the program has forked is no PE and ends as a normal process. */
static pid_t simulator;

__attribute__((constructor)) static void note_simulator(void)
{
  simulator = getpid();
}

void __real_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status)
{
  if (getpid() != simulator) __real_exit(status);
  wtl_sim_end(status);
  wtl_sim_exit(status);
}

/* _exit and _Exit do not run the functions registered for the exit. */
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status)
{
  if (getpid() != simulator) __real__exit(status);
  wtl_sim_exit(status);
}

void __wrap__Exit(int status) __attribute__((noreturn));
void __wrap__Exit(int status)
{
  __wrap__exit(status);
}
