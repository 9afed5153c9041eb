/*
 * waits.c - the CPU seconds of a wait, between two PEs of one node or of two.
 *
 * It uses standard headers of OpenSHMEM 1.4 or later only, so that one source builds against any implementation.
 *
 *   waits slack SEC   CPU seconds of PE 0 while PE 1 is SEC seconds late: in wait_until, in a barrier, at a lock
 *   waits quiet SEC   CPU seconds of PE 0 in a quiet that cannot end, because PE 1's process is stopped for SEC
 *                     seconds. Between nodes only: on one node a put is complete before quiet is called
 *   waits puts BYTES...  PE 0 puts BYTES and waits for them (quiet), for about half a second: seconds a put, and CPU
 *                     seconds of both PEs a put. PE 1 waits in a barrier
 */
#include <shmem.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clocks.h"

typedef struct shared {
  long flag;
  long lock;
  long long word;
  double cpu; /* of PE 1, read by PE 0 */
} shared;

static shared *heap;

static const double STOPPED_BY_NOW = 0.3, PUTS_SECONDS = 0.5;

/* ---- PE 1 is late ---- */

static void late_flag(double seconds)
{
  if (shmem_my_pe() == 0) {
    shmem_long_wait_until(&heap->flag, SHMEM_CMP_NE, 0);
  } else {
    sleep_for(seconds);
    shmem_long_p(&heap->flag, 1, 0);
  }
}

static void late_barrier(double seconds)
{
  if (shmem_my_pe() == 1) sleep_for(seconds);
  shmem_barrier_all();
}

static void take_lock(double seconds)
{
  if (shmem_my_pe() == 1) shmem_set_lock(&heap->lock);
  shmem_barrier_all();
}

static void late_unlock(double seconds)
{
  if (shmem_my_pe() == 0) {
    shmem_set_lock(&heap->lock);
    shmem_clear_lock(&heap->lock);
  } else {
    sleep_for(seconds);
    shmem_clear_lock(&heap->lock);
  }
}

/* ---- PE 1 is stopped ---- */

/* Stops this process until a child process, which the library does not know, continues it. */
static void stop_for(double seconds)
{
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    sleep_for(seconds);
    kill(parent, SIGCONT);
    _exit(0);
  }
  if (child < 0 || raise(SIGSTOP)) {
    fprintf(stderr, "waits: PE 1 cannot be stopped\n");
    shmem_global_exit(1);
  }
  waitpid(child, NULL, 0);
}

static void contact(double seconds)
{
  if (shmem_my_pe() == 0) shmem_longlong_p(&heap->word, 1, 1);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) sleep_for(STOPPED_BY_NOW); /* PE 1 is in stopped_target by then */
}

static void stopped_target(double seconds)
{
  if (shmem_my_pe() == 1) {
    stop_for(seconds + STOPPED_BY_NOW);
  } else {
    shmem_longlong_p(&heap->word, 2, 1);
    shmem_quiet();
  }
}

typedef struct lateness {
  const char *row;
  void (*prepare)(double seconds); /* may be NULL */
  void (*run)(double seconds);
} lateness;

static const lateness slack[] = {
    {"wait_until", NULL, late_flag}, {"wait_barrier", NULL, late_barrier}, {"wait_lock", take_lock, late_unlock}};
static const lateness quiet[] = {{"wait_quiet", contact, stopped_target}};

static void measure(const lateness *w, double seconds)
{
  shmem_barrier_all();
  if (w->prepare) w->prepare(seconds);
  double cpu = cpu_seconds(), wall = now();
  w->run(seconds);
  cpu = cpu_seconds() - cpu;
  wall = now() - wall;
  if (shmem_my_pe() == 0) {
    char row[64];
    snprintf(row, sizeof row, "%s/wall", w->row);
    tell(w->row, cpu);
    tell(row, wall);
  }
  shmem_barrier_all();
}

/* ---- transfers that wait for the network ---- */

/* The number of puts with quiet that fit into about PUTS_SECONDS. */
static int how_many(void *to, const void *from, size_t bytes)
{
  enum { FIRST = 8 };
  double start = 0;
  for (int i = 0; i <= FIRST; i++) {
    if (i == 1) start = now(); /* the first makes contact */
    shmem_putmem(to, from, bytes, 1);
    shmem_quiet();
  }
  double each = (now() - start) / FIRST;
  return each * FIRST < PUTS_SECONDS ? (int)(PUTS_SECONDS / each) : FIRST;
}

/* On PE 0: seconds for all of them. */
static double put_all(void *to, const void *from, size_t bytes, int n)
{
  double start = now();
  for (int i = 0; i < n; i++) {
    shmem_putmem(to, from, bytes, 1);
    shmem_quiet();
  }
  return now() - start;
}

static void tell_puts(size_t bytes, int n, double wall, double mine, double others)
{
  const struct {
    const char *what;
    double seconds;
  } rows[] = {{"puts", wall}, {"puts_cpu", mine + others}, {"puts_cpu_origin", mine}, {"puts_cpu_target", others}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char row[64];
    snprintf(row, sizeof row, "%s/%zu", rows[i].what, bytes);
    tell(row, rows[i].seconds / n);
  }
}

static void puts_of(size_t bytes)
{
  bool first = shmem_my_pe() == 0;
  void *to = shmem_malloc(bytes), *from = calloc(1, bytes);
  if (!to || !from) {
    fprintf(stderr, "waits: PE %d: not enough memory for %zu bytes\n", shmem_my_pe(), bytes);
    shmem_global_exit(1);
  }
  int n = first ? how_many(to, from, bytes) : 0;
  shmem_barrier_all();
  double cpu = cpu_seconds(), wall = first ? put_all(to, from, bytes, n) : 0;
  shmem_barrier_all();
  heap->cpu = cpu_seconds() - cpu;
  shmem_barrier_all();
  if (first) tell_puts(bytes, n, wall, heap->cpu, shmem_double_g(&heap->cpu, 1));
  shmem_free(to);
  free(from);
}

/* Runs the command line. Returns 0, or the exit code for wrong usage. */
static int run(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  bool right = shmem_n_pes() == 2 && argc > 2;
  for (int i = 2; i < argc; i++) right = right && atof(argv[i]) > 0;
  if (right && !strcmp(what, "puts")) {
    for (int i = 2; i < argc; i++) puts_of((size_t)atol(argv[i]));
    return 0;
  }
  if (right && argc == 3 && !strcmp(what, "quiet")) return measure(quiet, atof(argv[2])), 0;
  if (right && argc == 3 && !strcmp(what, "slack")) {
    for (size_t i = 0; i < sizeof slack / sizeof *slack; i++) measure(&slack[i], atof(argv[2]));
    return 0;
  }
  if (shmem_my_pe() == 0) fprintf(stderr, "usage: waits slack SECONDS | quiet SECONDS | puts BYTES..., on 2 PEs\n");
  return 64;
}

int main(int argc, char **argv)
{
  shmem_init();
  heap = shmem_calloc(1, sizeof *heap);
  shmem_barrier_all();
  int wrong = run(argc, argv);
  shmem_free(heap);
  shmem_finalize();
  return wrong;
}
