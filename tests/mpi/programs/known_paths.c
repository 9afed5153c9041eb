/* A program whose call paths are known, for test_known_paths.py. CALL is MPI_Barrier, or shmem_barrier_all. Its C++ and
 * Fortran parts are known_paths.cc and known_paths.f90; its library, of which two are made, is known_paths_library.c. */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#ifdef SHMEM
#include <shmem.h>
#define CALL() shmem_barrier_all()
#else
#include <mpi.h>
#define CALL() MPI_Barrier(MPI_COMM_WORLD)
#endif

#define FUNCTION __attribute__((noinline, noclone))
#define STAY() __asm__ volatile("") /* so that the call before it is no tail call */

void in_cxx(void);
void in_fortran_(void);

FUNCTION void the_call(void)
{
  CALL();
  STAY();
}

void the_call_(void) __attribute__((alias("the_call")));

FUNCTION static void phase_a(void)
{
  the_call();
  STAY();
}
FUNCTION static void phase_b(void)
{
  the_call();
  STAY();
}
FUNCTION static void third(void)
{
  CALL();
  STAY();
}
FUNCTION static void second(void)
{
  third();
  STAY();
}
FUNCTION static void first(void)
{
  second();
  STAY();
}

static inline __attribute__((always_inline)) void inner(void)
{
  CALL();
  STAY();
}
static inline __attribute__((always_inline)) void outer(void)
{
  inner();
  STAY();
}
FUNCTION static void with_inlined(void)
{
  outer();
  STAY();
}

FUNCTION static void jumped_to(void)
{
  CALL();
  STAY();
}
FUNCTION static void jumps(void)
{
  jumped_to();
} /* a tail call, which leaves no frame */
FUNCTION static void before_jump(void)
{
  jumps();
  STAY();
}

FUNCTION static void recursive(int n)
{
  if (n > 0)
    recursive(n - 1);
  else
    CALL();
  STAY();
}

FUNCTION static void with_alloca(size_t n)
{
  volatile char *some = alloca(n);
  some[0] = 1;
  the_call();
  some[0] = 2;
}

FUNCTION static void with_array(int n)
{
  volatile int some[n];
  some[0] = 1;
  the_call();
  some[0] = 2;
}

FUNCTION static void with_aligned(void)
{
  volatile _Alignas(256) char some[512];
  some[0] = 1;
  the_call();
  some[0] = 2;
}

FUNCTION static void with_large(void)
{
  volatile char some[300000];
  some[0] = 1;
  the_call();
  some[0] = 2;
}

FUNCTION __attribute__((optimize("no-omit-frame-pointer"))) static void with_fp(void)
{
  the_call();
  STAY();
}
FUNCTION __attribute__((optimize("O0"))) static void unoptimised(void)
{
  the_call();
}
FUNCTION static void by_pointer(void (*function)(void))
{
  function();
  STAY();
}
FUNCTION static void variadic(int n, ...)
{
  (void)n;
  the_call();
  STAY();
}

static int compare_texts(const void *a, const void *b)
{
  return *(const char *)a - *(const char *)b;
}

static int compares;
FUNCTION static int compare(const void *a, const void *b)
{
  if (compares++ == 0) the_call();
  return (a > b) - (a < b);
}

FUNCTION static void with_sort(void)
{
  int numbers[2] = {2, 1};
  qsort(numbers, 2, sizeof *numbers, compare);
  STAY();
}

/* Calls from functions that the C library calls, by other ways than qsort. */
FUNCTION static void once_function(void)
{
  the_call();
  STAY();
}
FUNCTION static void with_once(void)
{
  pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, once_function);
  STAY();
}

FUNCTION static void visit(const void *node, VISIT which, int depth)
{
  (void)node, (void)which, (void)depth;
  the_call();
  STAY();
}
FUNCTION static void with_tree(void)
{
  void *root = NULL;
  tsearch("a", &root, compare_texts);
  twalk(root, visit);
  tdelete("a", &root, compare_texts);
  STAY();
}

/* GCC moves the call to another section, with a frame of its own. */
static volatile int is_rare = 1;
FUNCTION static __attribute__((cold)) void rare(void)
{
  the_call();
  STAY();
}
FUNCTION static void with_cold(int n)
{
  for (int i = 0; i < n; i++)
    if (__builtin_expect(is_rare, 0)) rare();
  STAY();
}

FUNCTION static void odd(int n);
FUNCTION static void even(int n)
{
  if (n > 0)
    odd(n - 1);
  else
    CALL();
  STAY();
}
FUNCTION static void odd(int n)
{
  even(n - 1);
  STAY();
}

static inline __attribute__((always_inline)) void deepest(int n)
{
  if (n) CALL();
  STAY();
}
static inline __attribute__((always_inline)) void deeper(int n)
{
  for (int i = 0; i < n; i++) deepest(1);
}
static inline __attribute__((always_inline)) void deep(int n)
{
  deeper(n);
  STAY();
}
FUNCTION static void with_inlines(int n)
{
  deep(n);
  STAY();
}

/* The linker chooses the function when the program starts. */
FUNCTION static void chosen_one(void)
{
  the_call();
  STAY();
}
static void (*choose(void))(void)
{
  return chosen_one;
}
void chosen(void) __attribute__((ifunc("choose")));
FUNCTION static void with_choice(void)
{
  chosen();
  STAY();
}

FUNCTION static void handler(int number)
{
  (void)number;
  the_call();
  STAY();
}
FUNCTION static void interrupted(void)
{
  raise(SIGUSR1);
  STAY();
}

static ucontext_t back, own;
FUNCTION static void coroutine(void)
{
  the_call();
  STAY();
}
FUNCTION static void with_coroutine(void)
{
  static char stack[1 << 16];
  getcontext(&own);
  own.uc_stack.ss_sp = stack;
  own.uc_stack.ss_size = sizeof stack;
  own.uc_link = &back;
  makecontext(&own, coroutine, 0);
  swapcontext(&back, &own);
  STAY();
}

static jmp_buf place;
FUNCTION static void jumps_back(void)
{
  longjmp(place, 1);
}
FUNCTION static void after_jump(void)
{
  if (setjmp(place) == 0) jumps_back();
  the_call();
  STAY();
}

FUNCTION static void *in_thread(void *arg)
{
  the_call();
  STAY();
  return arg;
}
FUNCTION static void with_thread(void)
{
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
}

/* A thread whose stack the program made. */
FUNCTION static void *in_own_stack(void *arg)
{
  the_call();
  STAY();
  return arg;
}
FUNCTION static void with_own_stack(void)
{
  enum { BYTES = 1 << 20 };
  void *stack = NULL;
  pthread_attr_t attributes;
  pthread_t thread;
  if (posix_memalign(&stack, 4096, BYTES) != 0) return;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, BYTES);
  pthread_create(&thread, &attributes, in_own_stack, NULL);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  free(stack);
}

/* The libraries have the same code. The second one is often loaded where the first one was. */
FUNCTION static void with_library(const char *path)
{
  void *library = dlopen(path, RTLD_NOW);
  if (!library) puts(dlerror());
  void (*enter)(void (*)(void)) = (void (*)(void (*)(void)))dlsym(library, "library_enter");
  enter(the_call);
  dlclose(library);
}

int main(int argc, char **argv)
{
#ifdef SHMEM
  int level;
  shmem_init_thread(SHMEM_THREAD_SERIALIZED, &level);
#else
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
#endif
  signal(SIGUSR1, handler);
  for (int i = 0; i < 20; i++) {
    compares = 0;
    CALL();
    phase_a();
    phase_b();
    first();
    with_inlined();
    before_jump();
    recursive(3);
    recursive(30);
    with_alloca((size_t)i * 100 + 1);
    with_array(i + 1);
    with_aligned();
    with_large();
    with_fp();
    unoptimised();
    by_pointer(the_call);
    variadic(2, 1, 2);
    with_sort();
    interrupted();
    with_coroutine();
    after_jump();
    with_thread();
    with_once();
    with_tree();
    with_cold(1);
    even(3 - 1);
    with_inlines(1);
    with_choice();
    with_own_stack();
    in_cxx();
    in_fortran_();
    for (int k = 1; k < argc; k++) with_library(argv[k]);
  }
#ifdef SHMEM
  shmem_finalize();
#else
  MPI_Finalize();
#endif
  return 0;
}
