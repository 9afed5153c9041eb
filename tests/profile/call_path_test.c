/* Call paths as the stack has them: frames of every kind, phases that share a wrapper, bounds, stacks that are not the
 * thread's own. */
#include "profile/call_path.h"

#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "power/check.h"
#include "profile/profile.h"

#define FUNCTION __attribute__((noinline))
#ifdef __clang__ /* has no such attribute, so the frames are those of the build */
#define OPTIMISED __attribute__((noinline))
#else
#define OPTIMISED __attribute__((noinline, optimize("O2", "omit-frame-pointer")))
#endif

enum { DEPTH = 16, CALL = 1, MOST = 64 };

static wtl_profile profile;
static void *seen[MOST]; /* the return addresses by the unwinder of the C library */
static int n_seen;

/* A call of the library. The unwinder begins in this function; a sanitizer's begins in the sanitizer. */
FUNCTION static wtl_site *call(void)
{
  n_seen = backtrace(seen, MOST);
  return wtl_profile_enter(&profile, WTL_ORIGIN, CALL, 8);
}

static int callers_of(const wtl_site *site, uintptr_t addr[MOST])
{
  int n = 0;
  for (uint32_t i = wtl_path_node_of(site->path).parent; i != WTL_NO_PATH && n < MOST; i = wtl_path_node_of(i).parent)
    addr[n++] = i < WTL_N_PATH_MARKS ? i : wtl_path_node_of(i).addr;
  return n;
}

/* Checks a path against the C library's unwinder. */
static void check(const wtl_site *site)
{
  uintptr_t addr[MOST];
  int n = callers_of(site, addr), first = 0;
  while (first < n_seen && (uintptr_t)seen[first] != site->addr) first++;
  CHECK(n > 0 && first + n < n_seen);
  for (int i = 0; i < n && first + n < n_seen; i++) CHECK(addr[i] == (uintptr_t)seen[first + 1 + i]);
}

/* --- frames --- */

FUNCTION static wtl_site *with_fp(void)
{
  wtl_site *site = call();
  check(site);
  return site;
}

OPTIMISED static wtl_site *without_fp(int k)
{
  volatile int filler[30] = {k};
  wtl_site *site = with_fp();
  return filler[0] ? site : NULL;
}

OPTIMISED static wtl_site *with_alloca(size_t n)
{
  volatile char *some = alloca(n);
  some[0] = 1;
  wtl_site *site = without_fp(1);
  return some[0] ? site : NULL;
}

OPTIMISED static wtl_site *with_array(int n)
{
  volatile int some[n];
  some[n - 1] = 1;
  wtl_site *site = with_alloca((size_t)n);
  return some[n - 1] ? site : NULL;
}

/* The compiler moves the stack pointer and describes the frame by an expression. */
OPTIMISED static wtl_site *with_aligned(int n)
{
  volatile _Alignas(128) char some[256];
  some[n] = 1;
  wtl_site *site = with_array(n);
  return some[n] ? site : NULL;
}

OPTIMISED static wtl_site *with_large(int n)
{
  volatile char some[200000];
  some[n] = 1;
  wtl_site *site = with_aligned(n);
  return some[n] ? site : NULL;
}

static void every_kind_of_frame_is_followed(void)
{
  wtl_profile_start(&profile, true, DEPTH);
  const wtl_site *site = NULL;
  for (int i = 1; i < 60; i++) site = with_large(i); /* frames of different sizes, but one path */
  CHECK(site->calls == 59);
  wtl_profile_stop(&profile);
}

/* --- callers --- */

FUNCTION static wtl_site *wrapper(void)
{
  wtl_site *site = call();
  check(site);
  return site;
}

FUNCTION static wtl_site *first_phase(void)
{
  return wrapper();
}

FUNCTION static wtl_site *second_phase(void)
{
  return wrapper();
}

static void two_phases_that_call_one_wrapper_are_two_sites(void)
{
  wtl_profile_start(&profile, true, DEPTH);
  wtl_site *site[2] = {NULL, NULL};
  for (int i = 0; i < 100; i++) {
    site[0] = first_phase();
    site[1] = second_phase();
  }
  CHECK(site[0] != site[1] && site[0]->addr == site[1]->addr && site[0]->call == site[1]->call);
  CHECK(site[0]->calls == 100 && site[1]->calls == 100);
  wtl_profile_stop(&profile);
}

static void with_depth_0_they_are_one(void)
{
  wtl_profile_start(&profile, true, 0);
  n_seen = 0;
  wtl_site *first = call();
  for (int i = 0; i < 2; i++) first = call();
  CHECK(first->calls == 2 && wtl_path_node_of(first->path).parent == WTL_NO_PATH);
  wtl_profile_stop(&profile);
}

FUNCTION static wtl_site *nested(int n)
{
  return n ? nested(n - 1) : call();
}

static void a_path_is_cut_at_the_depth(void)
{
  uintptr_t addr[MOST];
  wtl_profile_start(&profile, true, 5);
  wtl_site *site = nested(20);
  int n = callers_of(site, addr);
  CHECK(n == 6 && addr[5] == WTL_PATH_CUT && addr[0] == addr[4]);
  CHECK(nested(30)->path == site->path && site->calls == 2);
  CHECK(nested(3)->path != site->path);
  wtl_profile_stop(&profile);
}

/* --- bounds --- */

FUNCTION static void left(int n, unsigned bits);
FUNCTION static void right(int n, unsigned bits)
{
  if (!n) {
    wtl_profile_enter(&profile, WTL_ORIGIN, CALL, 8);
  } else if (bits & 1) {
    right(n - 1, bits >> 1);
  } else {
    left(n - 1, bits >> 1);
  }
}

FUNCTION static void left(int n, unsigned bits)
{
  if (!n) {
    wtl_profile_enter(&profile, WTL_ORIGIN, CALL, 8);
  } else if (bits & 1) {
    right(n - 1, bits >> 1);
  } else {
    left(n - 1, bits >> 1);
  }
}

static void a_million_paths_stay_within_the_bounds(void)
{
  enum { BITS = 20 };
  uint64_t n, calls = 0, others = 0;
  uintptr_t addr[MOST];
  wtl_profile_start(&profile, true, 32);
  for (unsigned i = 0; i < 1u << BITS; i++) left(BITS, i);
  wtl_site *all = wtl_profile_merge(&profile, 0, &n);
  for (uint64_t i = 0; i < n; i++) {
    calls += all[i].calls;
    if (callers_of(&all[i], addr) == 1 && addr[0] == WTL_PATH_OTHER) others += all[i].calls;
  }
  CHECK(calls == 1u << BITS && others > 0);
  CHECK(n > WTL_PATH_LEAVES / 4 && n <= WTL_PATH_LEAVES + 16);
  free(all);
  wtl_profile_stop(&profile);
}

/* --- other stacks --- */

static wtl_site *from_elsewhere;

FUNCTION static void call_elsewhere(int signal)
{
  (void)signal;
  from_elsewhere = call();
}

static void the_path_of_a_signal_handler_ends_there(void)
{
  uintptr_t addr[MOST];
  wtl_profile_start(&profile, true, DEPTH);
  signal(SIGUSR1, call_elsewhere);
  raise(SIGUSR1);
  CHECK(callers_of(from_elsewhere, addr) == 1 && addr[0] == WTL_PATH_SIGNAL);
  wtl_profile_stop(&profile);
}

static ucontext_t back, coroutine;

static void in_coroutine(void)
{
  call_elsewhere(0);
}

static void another_stack_is_not_read(void)
{
  static _Alignas(64) char stack[64 << 10];
  uintptr_t addr[MOST];
  wtl_profile_start(&profile, true, DEPTH);
  call(); /* the thread's own stack is known from now on */
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = sizeof stack;
  coroutine.uc_link = &back;
  makecontext(&coroutine, in_coroutine, 0);
  swapcontext(&back, &coroutine);
  CHECK(callers_of(from_elsewhere, addr) == 1 && addr[0] == WTL_PATH_CUT);
  wtl_profile_stop(&profile);
}

static void *in_thread(void *arg)
{
  (void)arg;
  return wrapper();
}

static void a_path_ends_at_the_function_of_a_thread(void)
{
  pthread_t thread;
  void *site;
  uintptr_t addr[MOST];
  wtl_profile_start(&profile, true, DEPTH);
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, &site);
  int n = callers_of(site, addr);
  CHECK(n >= 1 && addr[0] > (uintptr_t)in_thread && addr[0] < (uintptr_t)in_thread + 64);
  wtl_profile_stop(&profile);
}

static int compare(const void *a, const void *b)
{
  (void)a, (void)b;
  from_elsewhere = call();
  check(from_elsewhere);
  return 0;
}

static void frames_of_the_c_library_in_between_are_followed(void)
{
  int numbers[4] = {3, 1, 2, 0};
  uintptr_t addr[MOST];
  wtl_profile_start(&profile, true, DEPTH);
  qsort(numbers, 4, sizeof *numbers, compare);
  int n = callers_of(from_elsewhere, addr);
  CHECK(n > 1);
  wtl_profile_stop(&profile);
}

/* A path that was seen is found again while its place on the stack has other paths in between. */
static void paths_alternate(void)
{
  wtl_profile_start(&profile, true, DEPTH);
  for (int i = 0; i < 64; i++)
    for (int n = 0; n < 8; n++) {
      wtl_site *site = nested(n);
      check(site);
      CHECK(site->calls == (unsigned)i + 1);
    }
  wtl_profile_stop(&profile);
}

TESTS(TEST(every_kind_of_frame_is_followed), TEST(two_phases_that_call_one_wrapper_are_two_sites),
      TEST(with_depth_0_they_are_one), TEST(a_path_is_cut_at_the_depth), TEST(a_million_paths_stay_within_the_bounds),
      TEST(the_path_of_a_signal_handler_ends_there), TEST(another_stack_is_not_read),
      TEST(a_path_ends_at_the_function_of_a_thread), TEST(frames_of_the_c_library_in_between_are_followed),
      TEST(paths_alternate))
