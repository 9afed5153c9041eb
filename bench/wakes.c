/*
 * wakes.c - how fast a wait ends, and how much waiting disturbs other PEs of the node.
 *
 * It uses standard headers of OpenSHMEM 1.4 or later only, and Linux's futex for comparison, so that one source
 * builds against any implementation.
 *
 *   wakes long    on 2 PEs: from a p to the end of a wait_until that has lasted long enough to sleep, alternately with
 *                 a bare futex between the same two processes
 *   wakes short   on 2 PEs: a wait_until that ends after 1, 5 and 20 us; the round trip including the other's delay
 *   wakes beside  on 3 PEs, PE 0 on its own core: the time of PE 0's computation while the others sleep and
 *                 wake each other, and while they sleep only
 */
#include <limits.h>
#include <linux/futex.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clocks.h"

enum { LINE = 128, ROUNDS = 60, BATCHES = 25, SHORT_BATCH = 40, PHASES = 25, NAPS = 15 };
/* The NAPS of both PEs in a phase are together longer than WINDOW and shorter than PHASE. */
static const double LONG = 3e-3, PHASE = 12e-3, WINDOW = 4e-3, NAP = 150e-6;

typedef struct shared {
  _Alignas(LINE) long bell;
  _Alignas(LINE) long reply;
  _Alignas(LINE) _Atomic uint32_t futex;
  _Alignas(LINE) double sent; /* the writer's clock when it began to write */
} shared;

static shared *heap;

/* ---- wake after a long sleep ---- */

static void futex_wait(_Atomic uint32_t *word, uint32_t old)
{
  while (atomic_load(word) == old) syscall(SYS_futex, word, FUTEX_WAIT, old, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, uint32_t value)
{
  atomic_store(word, value);
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* PE 0 wakes PE 1: by a p, or by the bare futex in `other`, PE 1's memory. PE 0 computes before, so that its core is
 * awake. */
static void wake_now(long round, shared *other)
{
  compute_for(LONG);
  heap->sent = now();
  if (other)
    futex_wake(&other->futex, (uint32_t)round);
  else
    shmem_long_p(&heap->bell, round, 1);
}

/* On PE 1: seconds from before the write to after the wait. */
static double wake_once(long round, shared *other)
{
  double woken = 0;
  if (shmem_my_pe() == 0) {
    wake_now(round, other);
  } else {
    if (other)
      futex_wait(&heap->futex, (uint32_t)round - 1);
    else
      shmem_long_wait_until(&heap->bell, SHMEM_CMP_GE, round);
    woken = now();
  }
  shmem_barrier_all();
  double took = woken - shmem_double_g(&heap->sent, 0);
  shmem_barrier_all();
  return took;
}

static void wake_long(void)
{
  double ours[ROUNDS], bare[ROUNDS];
  shared *other = shmem_ptr(heap, 1 - shmem_my_pe());
  for (int i = 0; i < ROUNDS; i++) {
    ours[i] = wake_once(i + 1, NULL);
    if (other) bare[i] = wake_once(i + 1, other);
  }
  if (shmem_my_pe() != 1) return;
  tell_samples("wake", ours, ROUNDS);
  if (other) tell_samples("futex", bare, ROUNDS);
}

/* ---- waits shorter than a wake ---- */

/* PE 0 asks, and PE 1 answers after a delay. Returns seconds a round. */
static double short_batch(double delay)
{
  static long round;
  double start = now();
  for (int i = 0; i < SHORT_BATCH; i++) {
    round++;
    if (shmem_my_pe() == 0) {
      shmem_long_p(&heap->bell, round, 1);
      shmem_long_wait_until(&heap->reply, SHMEM_CMP_GE, round);
    } else {
      shmem_long_wait_until(&heap->bell, SHMEM_CMP_GE, round);
      compute_for(delay);
      shmem_long_p(&heap->reply, round, 0);
    }
  }
  return (now() - start) / SHORT_BATCH;
}

static void wake_short(void)
{
  static const int delays_us[] = {1, 5, 20};
  for (size_t d = 0; d < sizeof delays_us / sizeof *delays_us; d++) {
    double seconds[BATCHES];
    char row[32];
    snprintf(row, sizeof row, "short/%d us", delays_us[d]);
    short_batch(1e-6 * delays_us[d]); /* warm */
    for (int i = 0; i < BATCHES; i++) {
      shmem_barrier_all();
      seconds[i] = short_batch(1e-6 * delays_us[d]);
    }
    if (shmem_my_pe() == 0) tell_samples(row, seconds, BATCHES);
  }
}

/* ---- computing while others sleep and wake ---- */

/* A fixed amount of work in registers. */
static void work(void)
{
  uint64_t x = 88172645463325252u;
  for (int i = 0; i < 4000; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  __asm__ volatile("" : : "r"(x));
}

static void sleep_until(double when)
{
  double left = when - now();
  if (left > 0) sleep_for(left);
}

/* Seconds of a piece of work, in a phase that begins at `start`. */
static double compute_phase(double start)
{
  long pieces = 0;
  while (now() < start) work();
  double began = now(), end = began;
  for (; end - began < WINDOW; end = now(), pieces++) work();
  return (end - began) / (double)pieces;
}

/* PEs 1 and 2 wake each other for at least WINDOW. */
static void sleep_and_wake(double start)
{
  static long round;
  bool first = shmem_my_pe() == 1;
  sleep_until(start);
  for (int i = 0; i < NAPS; i++) {
    round++;
    if (first) {
      sleep_for(NAP);
      shmem_long_p(&heap->bell, round, 2);
      shmem_long_wait_until(&heap->reply, SHMEM_CMP_GE, round);
    } else {
      shmem_long_wait_until(&heap->bell, SHMEM_CMP_GE, round);
      sleep_for(NAP);
      shmem_long_p(&heap->reply, round, 1);
    }
  }
}

/* The others sleep only for a phase, then sleep and wake for a phase, alternately. */
static void beside(void)
{
  double still[PHASES], busy[PHASES];
  if (shmem_my_pe() == 0)
    for (int pe = shmem_n_pes() - 1; pe >= 0; pe--) shmem_double_p(&heap->sent, now() + PHASE, pe);
  shmem_barrier_all();
  double start = heap->sent;
  for (int i = 0; i < PHASES; i++, start += 2 * PHASE) {
    if (shmem_my_pe() == 0) {
      still[i] = compute_phase(start);
      busy[i] = compute_phase(start + PHASE);
    } else {
      sleep_and_wake(start + PHASE);
    }
  }
  shmem_barrier_all();
  if (shmem_my_pe() != 0) return;
  tell_samples("beside/still", still, PHASES);
  tell_samples("beside/waking", busy, PHASES);
}

/* Runs the command line. Returns 0, or the exit code for wrong usage. */
static int run(int argc, char **argv)
{
  const char *what = argc == 2 ? argv[1] : "";
  int pes = shmem_n_pes();
  if (pes == 2 && !strcmp(what, "long")) return wake_long(), 0;
  if (pes == 2 && !strcmp(what, "short")) return wake_short(), 0;
  if (pes == 3 && !strcmp(what, "beside")) return beside(), 0;
  if (shmem_my_pe() == 0) fprintf(stderr, "usage: wakes long | short, on 2 PEs; wakes beside, on 3\n");
  return 64;
}

int main(int argc, char **argv)
{
  shmem_init();
  heap = shmem_align(LINE, sizeof *heap);
  if (!heap) shmem_global_exit(1);
  memset(heap, 0, sizeof *heap);
  shmem_barrier_all();
  int wrong = run(argc, argv);
  shmem_barrier_all();
  shmem_free(heap);
  shmem_finalize();
  return wrong;
}
