/*
 * What a simulated program's calls of the C library become: time is simulated, threads are the simulator's, and the end
 * of a process is the end of a PE. The program is linked with --wrap for each of these (cmake/simulated.link): a call of
 * NAME comes here, to one whose name begins with __wrap_; the library's own is then called __real_NAME.
 *
 * Computation is counted by the basic blocks that the program enters: the compiler puts a call into each. The same
 * program with the same arguments thus always computes for the same time, whatever the machine does meanwhile that
 * simulates it.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
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

#include "sim/libc_calls.h"
#include "sim/simulator.h"

/* --- computation -------------------------------------------------------------------------------------------------- */

/* A program that looks on by itself lets others go on after so many blocks. */
enum { MOST_BLOCKS = 1 << 16 };

/* Not yet part of simulated time, by which this PE is ahead of the others: blocks entered, and what the runtime did, in
 * seconds at the base clock. */
static uint64_t blocks;
static double charged;

/* So far ahead the runtime may get. What a PE does meanwhile it does without having seen what others send it. It
 * catches up when it has left a lock: while one is held the other threads of the PE would have to try for it again and
 * again. */
#define MOST_AHEAD_S 5e-6

static double ahead(void)
{
  return (double)blocks * wtl_sim_price()->block + charged;
}

void wtl_sim_catch_up(void)
{
  double work = ahead();
  if (!wtl_sim_thread()) return; /* a function of the program's that MPI calls: when the PE itself goes on */
  blocks = 0;
  charged = 0;
  if (work > 0) wtl_sim_compute(work);
}

void wtl_sim_charge(double seconds)
{
  charged += seconds;
}

double wtl_sim_ahead(void)
{
  return wtl_sim_thread() ? ahead() * wtl_sim_pace() : 0;
}

/* --- the program's copies ----------------------------------------------------------------------------------------- */

static void copied(size_t n)
{
  const wtl_sim_prices *p = wtl_sim_price();
  if (!wtl_sim_thread()) return; /* MPI's, which has its price */
  /* The memory's own part takes as long at any clock: what is charged is at the base clock. */
  charged += (double)n * p->copy * (p->copy_clock + (1 - p->copy_clock) / wtl_sim_pace());
  wtl_sim_moved(2 * (double)n); /* read and written */
  if (charged > MOST_AHEAD_S) wtl_sim_catch_up();
}

void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n)
{
  copied(n);
  return memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n)
{
  copied(n);
  return memmove(to, from, n);
}

void *__wrap_memset(void *at, int byte, size_t n);
void *__wrap_memset(void *at, int byte, size_t n)
{
  copied(n);
  return memset(at, byte, n);
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
  if (++blocks >= MOST_BLOCKS) wtl_sim_catch_up();
}

void wattle_sim_compute(double seconds)
{
  wtl_sim_catch_up();
  wtl_sim_compute(seconds);
}

void wattle_sim_move(size_t bytes)
{
  copied(bytes / 2);
}

/* --- time --------------------------------------------------------------------------------------------------------- */

double wtl_sim_time(void)
{
  return wtl_sim_now() + wtl_sim_ahead();
}

uint64_t wtl_sim_ns(void)
{
  return (uint64_t)(wtl_sim_time() * 1e9);
}

/* Who asks for the time may do so until some of it has passed. */
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

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
  bool of_cpu = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
  to_timespec(of_cpu ? cpu_s() : time_s(), t);
  return 0;
}

int __wrap_gettimeofday(struct timeval *t, void *zone);
int __wrap_gettimeofday(struct timeval *t, void *zone)
{
  to_timeval(time_s(), t);
  return 0;
}

time_t __wrap_time(time_t *t);
time_t __wrap_time(time_t *t)
{
  time_t now = (time_t)time_s();
  return t ? (*t = now) : now;
}

clock_t __wrap_clock(void);
clock_t __wrap_clock(void)
{
  return (clock_t)(cpu_s() * CLOCKS_PER_SEC);
}

int __wrap_timespec_get(struct timespec *t, int base);
int __wrap_timespec_get(struct timespec *t, int base)
{
  if (base == TIME_UTC) to_timespec(time_s(), t);
  return base == TIME_UTC ? base : 0;
}

clock_t __wrap_times(struct tms *t);
clock_t __wrap_times(struct tms *t)
{
  double a_second = (double)sysconf(_SC_CLK_TCK);
  if (t) *t = (struct tms){.tms_utime = (clock_t)(cpu_s() * a_second)};
  return (clock_t)(wtl_sim_time() * a_second);
}

/* Of a PE its CPU time is known, and nothing else. */
int __wrap_getrusage(int who, struct rusage *r);
int __wrap_getrusage(int who, struct rusage *r)
{
  memset(r, 0, sizeof *r);
  if (who != RUSAGE_CHILDREN) to_timeval(cpu_s(), &r->ru_utime);
  return 0;
}

static void sleep_for(double seconds)
{
  wtl_sim_catch_up();
  enum wtl_sim_rest before = wtl_sim_set_rest(WTL_SIM_SLEEPS);
  wtl_sim_pause(seconds);
  wtl_sim_wake_up();
  wtl_sim_set_rest(before);
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
  sleep_for((double)t->tv_sec + (double)t->tv_nsec * 1e-9);
  return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
  double seconds = (double)t->tv_sec + (double)t->tv_nsec * 1e-9;
  if (flags & TIMER_ABSTIME) seconds -= wtl_sim_time();
  if (seconds > 0) sleep_for(seconds);
  return 0;
}

int __wrap_usleep(useconds_t us);
int __wrap_usleep(useconds_t us)
{
  sleep_for(us * 1e-6);
  return 0;
}

unsigned __wrap_sleep(unsigned seconds);
unsigned __wrap_sleep(unsigned seconds)
{
  sleep_for(seconds);
  return 0;
}

int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
  blocks += BLOCKS_A_QUESTION;
  wtl_sim_catch_up();
  return 0;
}

int __wrap_gethostname(char *name, size_t size);
int __wrap_gethostname(char *name, size_t size)
{
  snprintf(name, size, "pe-%d", wtl_sim_pe());
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

int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
  wtl_sim_catch_up();
  void *it = wtl_sim_join((void *)thread);
  if (result) *result = it;
  return 0;
}

int __wrap_pthread_detach(pthread_t thread);
int __wrap_pthread_detach(pthread_t thread)
{
  return 0;
}

pthread_t __wrap_pthread_self(void);
pthread_t __wrap_pthread_self(void)
{
  return (pthread_t)wtl_sim_thread();
}

int __real_pthread_mutex_unlock(pthread_mutex_t *m);

int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
  int rc;
  while ((rc = pthread_mutex_trylock(m)) == EBUSY) {
    wtl_sim_catch_up();
    if (pthread_mutex_trylock(m) == 0) return 0; /* meanwhile */
    wtl_sim_block(m, INFINITY);
  }
  return rc;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
  int rc = __real_pthread_mutex_unlock(m);
  if (wtl_sim_is_awaited(m)) wtl_sim_wake(m, 1);
  if (charged > MOST_AHEAD_S) wtl_sim_catch_up();
  return rc;
}

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
  wtl_sim_catch_up();
  __real_pthread_mutex_unlock(m); /* nobody runs between this and the block */
  wtl_sim_block(c, INFINITY);
  return __wrap_pthread_mutex_lock(m);
}

int __wrap_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
  wtl_sim_wake(c, 1);
  return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
  wtl_sim_wake(c, INT_MAX);
  return 0;
}

/* --- libraries that the program loads while it runs ------------------------------------------------------------------ */

void *__real_dlopen(const char *file, int flags);
void *__wrap_dlopen(const char *file, int flags);
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

int __wrap_on_exit(void (*call)(int, void *), void *arg);
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

int __wrap_atexit(void (*call)(void));
int __wrap_atexit(void (*call)(void))
{
  void (**copy)(void) = malloc(sizeof *copy);
  if (!copy) return -1;
  *copy = call;
  return __wrap_on_exit(call_plain, copy);
}

/* What a process does at its end; the simulator calls it when main returns. */
void wtl_sim_end(int status)
{
  for (last *l; (l = lasts); free(l)) {
    lasts = l->earlier;
    l->call(status, l->arg);
  }
  wtl_sim_catch_up();
}

/* A child that the program has forked is no PE, and ends as it is. */
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

/* These leave out what was to be done at exit. */
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
