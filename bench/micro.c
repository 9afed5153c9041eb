/*
 * micro.c - what single OpenSHMEM operations cost between two PEs, of one node or of two.
 *
 * Standard headers only, OpenSHMEM 1.4 or later, so that one source builds against any implementation. Run with two PEs:
 *
 *   micro              every operation below; PE 0 prints one JSON object a line
 *   micro far TARGET   those that are measured between nodes, in longer batches. TARGET: waiting or computing
 *   micro passive SEC  how long one put, get or atomic takes whose target computes for SEC seconds and then waits
 *   micro wait SEC     CPU seconds that PE 0 uses while it waits SEC seconds in wait_until, then in a barrier
 *
 * One-sided operations are measured twice, because an implementation may wake a sleeping target, or need the target's
 * help: "computing" (PE 1 runs its own code and never calls the library) and "waiting" (PE 1 waits in a barrier). Each
 * figure is the median of many short batches.
 */
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { BATCHES = 25, LARGEST = 1 << 20, LINE = 128, COLLECTIVE_BATCH = 200, ABREAST = 64 };
static const double NEAR_BATCH_SECONDS = 0.4e-3, FAR_BATCH_SECONDS = 2e-3;
static double batch_seconds = NEAR_BATCH_SECONDS;

/*
 * Symmetric memory, on the heap: where static variables can be reached at all, some implementations need the target's help.
 * Each on lines of its own, so that polling a flag does not slow down the data beside it.
 */
typedef struct shared {
  _Alignas(LINE) long long word;
  _Alignas(LINE) int stop;
  _Alignas(LINE) long ping;
  _Alignas(LINE) long long addend;
  _Alignas(LINE) long long total;
  _Alignas(LINE) unsigned char bytes[LARGEST];
} shared;

static shared *heap;
static _Alignas(LINE) long long static_word[LINE / 8];
static unsigned char *source;   /* LARGEST bytes, private */
static volatile long long sink; /* keeps values read from being optimised away */

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU seconds of this process, all threads. */
static double cpu_seconds(void)
{
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* ---- one-sided operations: PE 0 does n of them on PE 1 ---- */

static void put_quiet(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) {
    shmem_putmem(heap->bytes, source, bytes, 1);
    shmem_quiet();
  }
}

static void get(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) shmem_getmem(source, heap->bytes, bytes, 1);
}

static void put_one(size_t bytes, int n)
{
  (void)bytes;
  for (int i = 0; i < n; i++) shmem_longlong_p(&heap->word, i, 1);
  shmem_quiet();
}

static void get_one(size_t bytes, int n)
{
  (void)bytes;
  for (int i = 0; i < n; i++) sink = shmem_longlong_g(&heap->word, 1);
}

/* Many puts under way, one quiet for all. */
static void put_nbi(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) {
    shmem_putmem_nbi(heap->bytes + (size_t)(i % ABREAST) * bytes, source, bytes, 1);
    if (i % ABREAST == ABREAST - 1) shmem_quiet();
  }
  shmem_quiet();
}

static void fetch_add_heap(size_t bytes, int n)
{
  (void)bytes;
  for (int i = 0; i < n; i++) sink = shmem_longlong_atomic_fetch_add(&heap->word, 1, 1);
}

static void fetch_add_static(size_t bytes, int n)
{
  (void)bytes;
  for (int i = 0; i < n; i++) sink = shmem_longlong_atomic_fetch_add(static_word, 1, 1);
}

/* ---- collective operations: both PEs do n of them ---- */

static void barrier(size_t bytes, int n)
{
  (void)bytes;
  for (int i = 0; i < n; i++) shmem_barrier_all();
}

/* There and back n/2 times, so n one-way trips. */
static void ping_pong(size_t bytes, int n)
{
  static long round; /* goes on from batch to batch */
  (void)bytes;
  for (int i = 0; i < n / 2; i++) {
    round++;
    if (shmem_my_pe() == 0) shmem_long_p(&heap->ping, round, 1);
    shmem_long_wait_until(&heap->ping, SHMEM_CMP_GE, round);
    if (shmem_my_pe() == 1) shmem_long_p(&heap->ping, round, 0);
  }
}

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
static void broadcast(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) shmem_broadcastmem(SHMEM_TEAM_WORLD, &heap->total, &heap->addend, bytes, 0);
}

static void sum(size_t bytes, int n)
{
  for (int i = 0; i < n; i++)
    shmem_longlong_sum_reduce(SHMEM_TEAM_WORLD, &heap->total, &heap->addend, bytes / sizeof(long long));
}
#else
enum { WORK = 2 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? 2 : SHMEM_REDUCE_MIN_WRKDATA_SIZE };
static long broadcast_sync[2][SHMEM_BCAST_SYNC_SIZE], reduce_sync[2][SHMEM_REDUCE_SYNC_SIZE];
static long long reduce_work[2][WORK];

/* The active-set calls may use a pSync again only once all have left the call before; two, by turns, see to that. */
static void active_set_prepare(void)
{
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++) broadcast_sync[turn][i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) reduce_sync[turn][i] = SHMEM_SYNC_VALUE;
  }
  shmem_barrier_all();
}

static void broadcast(size_t bytes, int n)
{
  for (int i = 0; i < n; i++)
    shmem_broadcast64(&heap->total, &heap->addend, bytes / 8, 0, 0, 0, 2, broadcast_sync[i % 2]);
}

static void sum(size_t bytes, int n)
{
  for (int i = 0; i < n; i++)
    shmem_longlong_sum_to_all(&heap->total, &heap->addend, (int)(bytes / 8), 0, 0, 2, reduce_work[i % 2],
                              reduce_sync[i % 2]);
}
#endif

typedef struct test {
  const char *name;
  void (*run)(size_t bytes, int n);
  size_t bytes;
  bool collective;
  bool served; /* some implementations need PE 1 inside the library for it */
  bool far;    /* measured between nodes, too */
} test;

static const test tests[] = {
    {"put_quiet", put_quiet, 8, false, false, true},
    {"put_quiet", put_quiet, 64, false, false, false},
    {"put_quiet", put_quiet, 512, false, false, false},
    {"put_quiet", put_quiet, 4096, false, false, true},
    {"put_quiet", put_quiet, 32768, false, false, false},
    {"put_quiet", put_quiet, 262144, false, false, true},
    {"put_quiet", put_quiet, LARGEST, false, false, true},
    {"get", get, 8, false, false, true},
    {"get", get, LARGEST, false, false, true},
    {"p", put_one, 8, false, false, true},
    {"g", get_one, 8, false, false, false},
    {"put_nbi", put_nbi, 8, false, false, true},
    {"fetch_add_heap", fetch_add_heap, 8, false, false, true},
    {"fetch_add_static", fetch_add_static, 8, false, true, false},
    {"barrier", barrier, 0, true, false, true},
    {"ping_pong", ping_pong, 8, true, false, true},
    {"broadcast", broadcast, 8, true, false, false},
    {"sum", sum, 8, true, false, false},
};

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* So many operations that a batch takes about batch_seconds. */
static int batch_size(const test *t)
{
  if (t->collective) return COLLECTIVE_BATCH; /* both PEs must agree, so it is fixed */
  int n = 1;
  t->run(t->bytes, 1); /* first touch */
  for (double took = 0; took < batch_seconds / 2 && n < 1 << 20;) {
    double start = now();
    t->run(t->bytes, n);
    took = now() - start;
    if (took < batch_seconds / 2) n *= 2;
  }
  return n;
}

static void measure(const test *t, const char *target)
{
  double seconds[BATCHES];
  int n = batch_size(t);
  t->run(t->bytes, n); /* warm */
  for (int i = 0; i < BATCHES; i++) {
    double start = now();
    t->run(t->bytes, n);
    seconds[i] = (now() - start) / n;
  }
  qsort(seconds, BATCHES, sizeof *seconds, ascending);
  if (shmem_my_pe() == 0)
    printf(
        "{\"test\": \"%s\", \"bytes\": %zu, \"target\": \"%s\", \"median_s\": %.4e, \"best_s\": %.4e, \"batch\": %d}\n",
        t->name, t->bytes, target, seconds[BATCHES / 2], seconds[0], n);
}

/* PE 1 runs until PE 0 says stop, without a call into the library: it only looks at its own memory. */
static void compute_until(int round)
{
  volatile int *told = &heap->stop;
  double give_up = now() + 60;
  while (*told < round)
    for (volatile int i = 0; i < 1000; i++)
      if (now() > give_up) {
        fprintf(stderr, "micro: PE 0's put has not arrived in 60 s while PE 1 computed\n");
        shmem_global_exit(1);
      }
}

/* One test with each kind of target, or with `only` that. */
static void run_test(const test *t, const char *only)
{
  static int round;
  shmem_barrier_all();
  if (t->collective) {
    if (!only || !strcmp(only, "waiting")) measure(t, "both");
    return;
  }
  if (!t->served && (!only || !strcmp(only, "computing"))) {
    round++;
    if (shmem_my_pe() == 0) {
      measure(t, "computing");
      shmem_int_p(&heap->stop, round, 1);
      shmem_quiet();
    } else {
      compute_until(round);
    }
    shmem_barrier_all();
  }
  if (shmem_my_pe() == 0 && (!only || !strcmp(only, "waiting"))) measure(t, "waiting");
  shmem_barrier_all();
}

static void sleep_for(double seconds)
{
  struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&t, NULL);
}

/* PE 1 computes for a while, then waits in a barrier: does an operation on it wait for that? */
static void passive(double seconds)
{
  static const struct {
    const char *name;
    void (*run)(size_t bytes, int n);
  } ops[] = {{"put_quiet", put_quiet}, {"get", get}, {"fetch_add_heap", fetch_add_heap}};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    if (shmem_my_pe() == 0) ops[i].run(8, 1); /* first contact */
    shmem_barrier_all();
    double start = now();
    if (shmem_my_pe() == 1) {
      while (now() < start + seconds) continue;
    } else {
      sleep_for(seconds / 10); /* by now it computes */
      start = now();
      ops[i].run(8, 1);
      printf("{\"test\": \"passive_%s\", \"bytes\": 8, \"target\": \"computing\", \"median_s\": %.4e}\n", ops[i].name,
             now() - start);
    }
    shmem_barrier_all();
  }
}

/* PE 1 comes late; what does the wait cost PE 0? */
static void wait_cost(double seconds)
{
  for (int in_barrier = 0; in_barrier < 2; in_barrier++) {
    shmem_barrier_all();
    double cpu = cpu_seconds(), wall = now();
    if (shmem_my_pe() == 1) sleep_for(seconds);
    if (in_barrier)
      shmem_barrier_all();
    else if (shmem_my_pe() == 0)
      shmem_long_wait_until(&heap->ping, SHMEM_CMP_NE, 0);
    else
      shmem_long_p(&heap->ping, 1, 0);
    cpu = cpu_seconds() - cpu;
    wall = now() - wall;
    if (shmem_my_pe() == 0)
      printf("{\"test\": \"wait_%s\", \"wall_s\": %.6f, \"cpu_s\": %.6f}\n", in_barrier ? "barrier" : "until", wall,
             cpu);
  }
}

static void allocate(void)
{
  heap = shmem_align(LINE, sizeof *heap);
  source = malloc(LARGEST);
  if (!heap || !source) {
    fprintf(stderr, "micro: PE %d: not enough memory\n", shmem_my_pe());
    shmem_global_exit(1);
  }
  memset(heap, 0, sizeof *heap);
  memset(source, 2, LARGEST);
  shmem_barrier_all();
}

static void run_all(const char *only)
{
#if !(SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5)
  active_set_prepare();
#endif
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    if (!only || tests[i].far) run_test(&tests[i], only);
}

/* Does what the command line says; 0, or the exit code for wrong usage. */
static int run(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "all", *how = argc > 2 ? argv[2] : "";
  double seconds = atof(how);
  if (shmem_n_pes() == 2 && !strcmp(what, "all")) return run_all(NULL), 0;
  if (shmem_n_pes() == 2 && !strcmp(what, "far") && (!strcmp(how, "waiting") || !strcmp(how, "computing"))) {
    batch_seconds = FAR_BATCH_SECONDS;
    return run_all(how), 0;
  }
  if (shmem_n_pes() == 2 && !strcmp(what, "passive") && seconds > 0) return passive(seconds), 0;
  if (shmem_n_pes() == 2 && !strcmp(what, "wait") && seconds > 0) return wait_cost(seconds), 0;
  if (shmem_my_pe() == 0)
    fprintf(stderr, "usage: micro [all | far waiting | far computing | passive SECONDS | wait SECONDS], on 2 PEs\n");
  return 64;
}

int main(int argc, char **argv)
{
  double start = now();
  shmem_init();
  double init = now() - start;
  allocate();
  int wrong = run(argc, argv);
  int me = shmem_my_pe();
  free(source);
  shmem_free(heap);
  start = now();
  shmem_finalize();
  if (me == 0 && !wrong)
    printf("{\"test\": \"start_finish\", \"init_s\": %.6f, \"finalize_s\": %.6f}\n", init, now() - start);
  return wrong;
}
