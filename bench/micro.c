/*
 * micro.c - times of single OpenSHMEM operations between PEs, of one node or of two.
 *
 * It uses standard headers of OpenSHMEM 1.4 or later only, so that one source builds against any implementation.
 *
 *   micro              every operation below, on 2 PEs; PE 0 prints one JSON object a line
 *   micro far TARGET   the operations between nodes, on 2 PEs, in longer batches. TARGET: waiting or computing
 *   micro crowd        barrier, broadcast and sum, on any number of PEs
 *   micro passive SEC  on 2 PEs: the time of one put, get or atomic whose target computes for SEC seconds and then
 *                      waits
 *
 * One-sided operations are measured twice, because an implementation may wake a sleeping target or need the target's
 * help: "computing" (PE 1 runs its own code and never calls the library) and "waiting" (PE 1 waits in a barrier).
 * Each figure is the median of many short batches. Some operations have a limit of the machine, such as memcpy or
 * the round trip of a cache line. Their batches alternate with batches of the limit in the same process.
 */
#include <shmem.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "clocks.h"

enum {
  BATCHES = 25,
  LARGEST = 1 << 20,
  LINE = 128,
  COLLECTIVE_BATCH = 200,
  CROWD_BATCH = 100,
  ABREAST = 64,
  FLOOD = 1000
};
static const double NEAR_BATCH_SECONDS = 0.4e-3, FAR_BATCH_SECONDS = 2e-3;
static double batch_seconds = NEAR_BATCH_SECONDS;

/* Symmetric memory on the heap. Static variables may not be accessible, or need the target's help in some
 * implementations. Each member has its own cache lines, so that polling a flag does not slow down access to the data
 * beside it. */
typedef struct shared {
  _Alignas(LINE) long long word;
  _Alignas(LINE) int stop;
  _Alignas(LINE) long ping;
  _Alignas(LINE) atomic_long hop;
  _Alignas(LINE) long long addend;
  _Alignas(LINE) long long total;
  _Alignas(LINE) unsigned char bytes[LARGEST];
} shared;

static shared *heap;
static _Alignas(LINE) long long static_word[LINE / 8];
static shared *others;        /* PE 1's, if plain stores reach it; else NULL */
static unsigned char *source; /* LARGEST bytes, private */
static unsigned char *copied; /* LARGEST bytes */
static int collective_batch = COLLECTIVE_BATCH;
static volatile long long sink; /* keeps values that were read from being optimized away */

/* ---- one-sided operations: PE 0 does n of them on PE 1 ---- */

static void put_quiet(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) {
    shmem_putmem(heap->bytes, source, bytes, 1);
    shmem_quiet();
  }
}

/* A stream of puts and one quiet, for the bandwidth. */
static void put(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) shmem_putmem(heap->bytes, source, bytes, 1);
  shmem_quiet();
}

static void get(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) shmem_getmem(source, heap->bytes, bytes, 1);
}

static void put_one(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) shmem_longlong_p(&heap->word, i, 1);
  shmem_quiet();
}

static void get_one(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) sink = shmem_longlong_g(&heap->word, 1);
}

/* Many puts in flight and one quiet for all. */
static void put_nbi(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) {
    shmem_putmem_nbi(heap->bytes + (size_t)(i % ABREAST) * bytes, source, bytes, 1);
    if (i % ABREAST == ABREAST - 1) shmem_quiet();
  }
  shmem_quiet();
}

/* Enough puts in flight to fill every buffer, then one quiet; n times. */
static void put_flood(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < FLOOD; k++) shmem_putmem_nbi(heap->bytes + (size_t)k * bytes, source, bytes, 1);
    shmem_quiet();
  }
}

static void fetch_add_heap(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) sink = shmem_longlong_atomic_fetch_add(&heap->word, 1, 1);
}

static void fetch_add_static(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) sink = shmem_longlong_atomic_fetch_add(static_word, 1, 1);
}

/* n atomics in streams of ABREAST, with one quiet for each. */
static void add_stream(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) {
    shmem_longlong_atomic_add(&heap->word, 1, 1);
    if (i % ABREAST == ABREAST - 1) shmem_quiet();
  }
  shmem_quiet();
}

/* Before OpenSHMEM 1.5 there are only blocking ones. */
static void fetch_stream(size_t bytes, int n)
{
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
  static long long fetched[ABREAST];
  for (int i = 0; i < n; i++) {
    shmem_longlong_atomic_fetch_add_nbi(&fetched[i % ABREAST], &heap->word, 1, 1);
    if (i % ABREAST == ABREAST - 1) shmem_quiet();
  }
  shmem_quiet();
  sink = fetched[0];
#else
  fetch_add_heap(bytes, n);
#endif
}

/* ---- the machine's own limits, which alternate with the operations ---- */

static void copy_private(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) {
    memcpy(copied, source, bytes);
    atomic_signal_fence(memory_order_seq_cst); /* keeps the compiler from omitting copies */
  }
}

/* A copy to the target of a put. */
static void copy_there(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) {
    memcpy(others->bytes, source, bytes);
    atomic_signal_fence(memory_order_seq_cst);
  }
}

/* A copy with the guarantee of quiet: all of it is visible before any later load of this PE. */
static void copy_fenced(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) {
    memcpy(others->bytes, source, bytes);
    atomic_thread_fence(memory_order_seq_cst);
  }
}

/* Pauses between two polls of a line. A core that reads it without pause slows down its writer. */
static void pause_core(void)
{
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

/* Like ping_pong, by plain stores and loads: the time of the caches alone. */
static void hop(size_t bytes, int n)
{
  static long round;
  bool first = shmem_my_pe() == 0;
  for (int i = 0; i < n / 2; i++) {
    round++;
    if (first) atomic_store_explicit(&others->hop, round, memory_order_release);
    while (atomic_load_explicit(&heap->hop, memory_order_acquire) < round) pause_core();
    if (!first) atomic_store_explicit(&others->hop, round, memory_order_release);
  }
}

/* ---- collective operations: all PEs do n of them ---- */

static void barrier(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) shmem_barrier_all();
}

static void p(size_t bytes, long round, int pe)
{
  shmem_long_p(&heap->ping, round, pe);
}

/* n/2 round trips, so n trips in one direction. */
static void there_and_back(void (*tell)(size_t bytes, long round, int pe), size_t bytes, int n)
{
  static long round; /* continues from batch to batch */
  for (int i = 0; i < n / 2; i++) {
    round++;
    if (shmem_my_pe() == 0) tell(bytes, round, 1);
    shmem_long_wait_until(&heap->ping, SHMEM_CMP_GE, round);
    if (shmem_my_pe() == 1) tell(bytes, round, 0);
  }
}

static void ping_pong(size_t bytes, int n)
{
  there_and_back(p, bytes, n);
}

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
static void put_signal(size_t bytes, long round, int pe)
{
  shmem_putmem_signal(heap->bytes, source, bytes, (uint64_t *)&heap->ping, (uint64_t)round, SHMEM_SIGNAL_SET, pe);
}

static void active_set_prepare(void) {}

static void broadcast_from(int root, size_t bytes)
{
  shmem_broadcastmem(SHMEM_TEAM_WORLD, &heap->total, &heap->addend, bytes, root);
}

static void sum(size_t bytes, int n)
{
  for (int i = 0; i < n; i++)
    shmem_longlong_sum_reduce(SHMEM_TEAM_WORLD, &heap->total, &heap->addend, bytes / sizeof(long long));
}
#else
static void put_signal(size_t bytes, long round, int pe)
{
  shmem_putmem(heap->bytes, source, bytes, pe);
  shmem_fence();
  shmem_long_p(&heap->ping, round, pe);
}

/* An active-set call may reuse a pSync only after all PEs have left the earlier call. Sums alternate between two.
 * Broadcasts have one for each call of a batch, with a barrier between batches. */
enum { TURNS = COLLECTIVE_BATCH, WORK = 2 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? 2 : SHMEM_REDUCE_MIN_WRKDATA_SIZE };
static long broadcast_sync[TURNS][SHMEM_BCAST_SYNC_SIZE], reduce_sync[2][SHMEM_REDUCE_SYNC_SIZE];
static long long reduce_work[2][WORK];

static void active_set_prepare(void)
{
  for (int turn = 0; turn < TURNS; turn++)
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++) broadcast_sync[turn][i] = SHMEM_SYNC_VALUE;
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) reduce_sync[turn][i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
}

static void broadcast_from(int root, size_t bytes)
{
  static int turn;
  turn = (turn + 1) % TURNS;
  shmem_broadcast64(&heap->total, &heap->addend, bytes / 8, root, 0, 0, shmem_n_pes(), broadcast_sync[turn]);
}

static void sum(size_t bytes, int n)
{
  for (int i = 0; i < n; i++)
    shmem_longlong_sum_to_all(&heap->total, &heap->addend, (int)(bytes / 8), 0, 0, shmem_n_pes(), reduce_work[i % 2],
                              reduce_sync[i % 2]);
}
#endif

/* Like ping_pong, with data before the flag. */
static void signal_ping_pong(size_t bytes, int n)
{
  there_and_back(put_signal, bytes, n);
}

/* Each PE is the root in turn, after it received the data of the last root, so that no PE runs ahead. */
static void broadcast(size_t bytes, int n)
{
  int pes = shmem_n_pes();
  for (int i = 0; i < n; i++) broadcast_from(i % pes, bytes);
}

/* PE 0 may run ahead of the others. */
static void broadcast_stream(size_t bytes, int n)
{
  for (int i = 0; i < n; i++) broadcast_from(0, bytes);
}

typedef void operation(size_t bytes, int n);

/* Flags: how an operation is measured. */
enum {
  FAR = 1,        /* also between nodes */
  ONLY_FAR = 2,   /* between nodes only */
  SERVED = 4,     /* some implementations need PE 1 inside the library for it */
  COLLECTIVE = 8, /* all PEs call it */
  CROWD = 16,     /* also with more than two PEs */
  COPY = 32,      /* compared with memcpy */
  HOP = 64,       /* compared with the transfer of a cache line */
  LAST = 128      /* PE 0 may run ahead of the others, so the last PE's time counts */
};

typedef struct test {
  const char *name;
  operation *run;
  size_t bytes;
  int how;
} test;

static const test tests[] = {
    {"put_quiet", put_quiet, 8, FAR},
    {"put_quiet", put_quiet, 64, 0},
    {"put_quiet", put_quiet, 512, 0},
    {"put_quiet", put_quiet, 4096, FAR | COPY},
    {"put_quiet", put_quiet, 32768, COPY},
    {"put_quiet", put_quiet, 262144, FAR | COPY},
    {"put_quiet", put_quiet, LARGEST, FAR | COPY},
    {"put", put, 4096, COPY},
    {"put", put, LARGEST, COPY},
    {"get", get, 8, FAR},
    {"get", get, LARGEST, FAR},
    {"p", put_one, 8, FAR},
    {"g", get_one, 8, 0},
    {"put_nbi", put_nbi, 8, FAR},
    {"put_flood", put_flood, 8, ONLY_FAR},
    {"fetch_add_heap", fetch_add_heap, 8, FAR},
    {"add_stream", add_stream, 8, FAR},
    {"fetch_stream", fetch_stream, 8, FAR},
    {"fetch_add_static", fetch_add_static, 8, SERVED},
    {"barrier", barrier, 0, COLLECTIVE | CROWD | FAR},
    {"ping_pong", ping_pong, 8, COLLECTIVE | FAR | HOP},
    {"signal_ping_pong", signal_ping_pong, 8, COLLECTIVE | FAR},
    {"broadcast", broadcast, 8, COLLECTIVE | CROWD},
    {"broadcast_stream", broadcast_stream, 8, COLLECTIVE | CROWD | LAST},
    {"sum", sum, 8, COLLECTIVE | CROWD},
};

/* The number of operations of a batch of about batch_seconds. */
static int batch_size(const test *t)
{
  if (t->how & COLLECTIVE) return collective_batch; /* all PEs must agree, so it is fixed */
  int n = 1;
  t->run(t->bytes, 1); /* first touch of the memory */
  for (double took = 0; took < batch_seconds / 2 && n < 1 << 20;) {
    double start = now();
    t->run(t->bytes, n);
    took = now() - start;
    if (took < batch_seconds / 2) n *= 2;
  }
  return n;
}

/* An operation, or a limit that alternates with it. */
typedef struct turn {
  const char *name;
  operation *run;
  double seconds[BATCHES];
} turn;

enum { MOST_TURNS = 4 };

/* The test and its limits, if plain stores reach PE 1's memory. */
static int turns_of(const test *t, turn *turns)
{
  int n = 0;
  turns[n++] = (turn){t->name, t->run, {0}};
  if (t->how & COPY && others) turns[n++] = (turn){"copy_private", copy_private, {0}};
  if (t->how & COPY && others) turns[n++] = (turn){"copy_there", copy_there, {0}};
  if (t->how & COPY && others) turns[n++] = (turn){"copy_fenced", copy_fenced, {0}};
  if (t->how & HOP && others) turns[n++] = (turn){"hop", hop, {0}};
  return n;
}

static void measure(const test *t, const char *target)
{
  turn turns[MOST_TURNS];
  int count = turns_of(t, turns), n = batch_size(t);
  for (int k = 0; k < count; k++) turns[k].run(t->bytes, n); /* warm up */
  for (int i = 0; i < BATCHES; i++)
    for (int k = 0; k < count; k++) {
      if (t->how & COLLECTIVE) shmem_barrier_all(); /* all PEs begin together */
      double start = now();
      turns[k].run(t->bytes, n);
      turns[k].seconds[i] = (now() - start) / n;
    }
  if (shmem_my_pe() != (t->how & LAST ? shmem_n_pes() - 1 : 0)) return;
  for (int k = 0; k < count; k++) {
    char row[100];
    snprintf(row, sizeof row, "%s/%zu/%s", turns[k].name, t->bytes, target);
    tell_samples(row, turns[k].seconds, BATCHES);
  }
}

/* PE 1 computes until PE 0 stores the end, without a call of the library: it only reads its own memory. */
static void compute_until(int round)
{
  volatile int *stop = &heap->stop;
  double give_up = now() + 60;
  while (*stop < round)
    for (volatile int i = 0; i < 1000; i++)
      if (now() > give_up) {
        fprintf(stderr, "micro: PE 0's put has not arrived in 60 s while PE 1 computed\n");
        shmem_global_exit(1);
      }
}

/* Runs one test with each kind of target, or only with `only`. */
static void run_test(const test *t, const char *only)
{
  static int round;
  shmem_barrier_all();
  if (t->how & COLLECTIVE) {
    if (!only || !strcmp(only, "waiting")) measure(t, "both");
    return;
  }
  if (!(t->how & SERVED) && (!only || !strcmp(only, "computing"))) {
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

/* PE 1 computes for a while, then waits in a barrier. Shows whether an operation on it waits for that. */
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
      compute_for(seconds);
    } else {
      sleep_for(seconds / 10); /* PE 1 computes by then */
      start = now();
      ops[i].run(8, 1);
      char row[100];
      snprintf(row, sizeof row, "passive_%s/8/computing", ops[i].name);
      tell(row, now() - start);
    }
    shmem_barrier_all();
  }
}

static void allocate(void)
{
  heap = shmem_align(LINE, sizeof *heap);
  source = aligned_alloc(LINE, LARGEST);
  copied = aligned_alloc(LINE, LARGEST);
  if (!heap || !source || !copied) {
    fprintf(stderr, "micro: PE %d: not enough memory\n", shmem_my_pe());
    shmem_global_exit(1);
  }
  memset(heap, 0, sizeof *heap);
  memset(source, 2, LARGEST);
  memset(copied, 3, LARGEST);
  others = shmem_n_pes() == 2 ? shmem_ptr(heap, 1 - shmem_my_pe()) : NULL;
  shmem_barrier_all();
}

/* Whether the test belongs to "all", "far" or "crowd". */
static bool belongs(const test *t, const char *what)
{
  if (!strcmp(what, "far")) return t->how & (FAR | ONLY_FAR);
  if (!strcmp(what, "crowd")) return t->how & CROWD;
  return !(t->how & ONLY_FAR);
}

static void run_all(const char *what, const char *only)
{
  active_set_prepare();
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    if (belongs(&tests[i], what)) run_test(&tests[i], only);
}

/* Runs the command line. Returns 0, or the exit code for wrong usage. */
static int run(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "all", *how = argc > 2 ? argv[2] : "";
  bool two = shmem_n_pes() == 2;
  if (two && !strcmp(what, "all")) return run_all(what, NULL), 0;
  if (two && !strcmp(what, "far") && (!strcmp(how, "waiting") || !strcmp(how, "computing"))) {
    batch_seconds = FAR_BATCH_SECONDS;
    return run_all(what, how), 0;
  }
  if (!strcmp(what, "crowd")) {
    collective_batch = CROWD_BATCH;
    return run_all(what, NULL), 0;
  }
  if (two && !strcmp(what, "passive") && atof(how) > 0) return passive(atof(how)), 0;
  if (shmem_my_pe() == 0)
    fprintf(stderr,
            "usage: micro [all | far waiting | far computing | crowd | passive SECONDS], all but crowd on 2 PEs\n");
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
  free(copied);
  shmem_free(heap);
  start = now();
  shmem_finalize();
  if (me == 0 && !wrong) {
    tell("init", init);
    tell("finalize", now() - start);
  }
  return wrong;
}
