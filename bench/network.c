/*
 * network.c - times of messages between two PEs, in the ways that a network description is made of. One is PE 0, the
 * other the last PE.
 *
 *   ping     n bytes there and n bytes back, each PE waiting for the other's flag: half of it
 *   woken    a flag there and a flag back, after the other has waited long enough to sleep: half of it
 *   stream   many non-blocking puts of n bytes and one quiet: one of them
 *   exchange the same from both PEs at once: one of the puts of a PE
 *   meet     a flag from each PE to the other at once, each waiting for the other's
 *   get      a blocking get of n bytes
 *   quiet    a blocking put of n bytes and a quiet
 *   add      an atomic that fetches
 *   update   many atomics that do not fetch, from both PEs at once, and one quiet: one of the atomics of a PE
 *   barrier  of all PEs
 *   compute  a step of a loop that only computes
 *   copy     n bytes from one place in memory to another
 *
 * Output on PE 0: one JSON object a line, {"kind":"sample","what":...,"bytes":...,"seconds":...}, the median of the
 * rounds. Each round has a few operations in a row, so that a disturbance of some of them has no effect.
 *
 *   wattle-bench-network [--rounds N] WHAT[:BYTES]...
 *
 * Standard OpenSHMEM 1.4 and C11; builds with any implementation.
 */
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "clocks.h"

enum { A_ROUND = 20, A_FEW = 3, A_STREAM = 200, WARM = 5, MOST_ROUNDS = 10000, MOST_BYTES = 1 << 20, STEPS = 20000 };

static int me, other, last;
static unsigned char *here, *there;    /* symmetric: source and target */
static uint64_t flag, late, met, word; /* symmetric */

static void ping(size_t n)
{
  static uint64_t turn;
  for (int i = 0; i < A_ROUND; i++) {
    turn++;
    if (me != 0) shmem_uint64_wait_until(&flag, SHMEM_CMP_GE, turn);
    shmem_putmem(there, here, n, other);
    shmem_fence();
    shmem_uint64_p(&flag, turn, other);
    if (me == 0) shmem_uint64_wait_until(&flag, SHMEM_CMP_GE, turn);
  }
}

static void meet(size_t n)
{
  static uint64_t turn;
  for (int i = 0; i < A_ROUND; i++) {
    shmem_uint64_p(&met, ++turn, other);
    shmem_uint64_wait_until(&met, SHMEM_CMP_GE, turn);
  }
}

static double napped; /* seconds of a round that are not counted */

static void nap(void)
{
  double begin = now();
  sleep_for(2e-3);
  napped += now() - begin;
}

static void woken(size_t n)
{
  static uint64_t turn;
  for (int i = 0; i < A_FEW; i++) {
    turn++;
    if (me != 0) shmem_uint64_wait_until(&late, SHMEM_CMP_GE, turn);
    if (me == 0) nap();
    shmem_uint64_p(&late, turn, other);
    if (me == 0) shmem_uint64_wait_until(&late, SHMEM_CMP_GE, turn);
  }
}

/* Enough puts for a steady stream, but few of long ones, so that a round ends soon. */
static int stream_puts(size_t n)
{
  size_t room = ((size_t)8 << 20) / (n ? n : 1);
  return room < A_STREAM ? (int)room : A_STREAM;
}

static void stream(size_t n)
{
  for (int i = 0; i < stream_puts(n); i++) shmem_putmem_nbi(there, here, n, other);
  shmem_quiet();
}

static void get(size_t n)
{
  for (int i = 0; i < A_ROUND; i++) shmem_getmem(there, here, n, other);
}

static void quiet(size_t n)
{
  for (int i = 0; i < A_ROUND; i++) {
    shmem_putmem(there, here, n, other);
    shmem_quiet();
  }
}

static void add(size_t n)
{
  for (int i = 0; i < A_ROUND; i++) (void)shmem_uint64_atomic_fetch_add(&word, 1, other);
}

static void update(size_t n)
{
  for (int i = 0; i < A_STREAM; i++) shmem_uint64_atomic_add(&word, 1, other);
  shmem_quiet();
}

static void barrier(size_t n)
{
  for (int i = 0; i < A_ROUND; i++) shmem_barrier_all();
}

/* A step is the body of a loop, and depends on the step before. */
static void compute(size_t n)
{
  static volatile uint64_t result;
  uint64_t x = result + 1;
  for (int i = 0; i < STEPS; i++) {
    x ^= x << 13;
    if (x & 1) x ^= x >> 7;
    x ^= x << 17;
  }
  result = x;
}

static void copy(size_t n)
{
  for (int i = 0; i < A_ROUND; i++) {
    here[i] = (unsigned char)i;
    memcpy(there, here, n);
  }
}

/* `both`: the other PE takes part. `parts`: the round's time is divided by this (for a stream: by stream_puts). */
static const struct kind {
  const char *name;
  void (*run)(size_t n);
  bool both;
  int parts;
} kinds[] = {
    {"ping", ping, true, 2 * A_ROUND},   {"woken", woken, true, 2 * A_FEW},    {"meet", meet, true, A_ROUND},
    {"stream", stream, false, A_STREAM}, {"exchange", stream, true, A_STREAM}, {"get", get, false, A_ROUND},
    {"quiet", quiet, false, A_ROUND},    {"add", add, false, A_ROUND},         {"update", update, true, A_STREAM},
    {"barrier", barrier, true, A_ROUND}, {"compute", compute, false, STEPS},   {"copy", copy, false, A_ROUND}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void measure(const struct kind *k, size_t n, int rounds)
{
  static double seconds[MOST_ROUNDS];
  bool takes_part = me == 0 || (k->both && (me == last || k->run == barrier));
  if (takes_part) k->run(n); /* warm up: excludes setup at first use */
  for (int i = 0; i < rounds; i++) {
    shmem_barrier_all();
    napped = 0;
    double start = now();
    if (takes_part) k->run(n);
    seconds[i] = (now() - start - napped) / (k->run == stream ? stream_puts(n) : k->parts);
    if (me == 0) shmem_quiet();
  }
  shmem_barrier_all();
  if (me != 0) return;
  sort_samples(seconds, rounds);
  printf("{\"kind\":\"sample\",\"what\":\"%s\",\"bytes\":%zu,\"seconds\":%.9g,\"quarter_s\":%.9g,\"three_quarters_s\":%"
         ".9g}\n",
         k->name, n, seconds[rounds / 2], seconds[rounds / 4], seconds[rounds * 3 / 4]);
  fflush(stdout);
}

/* Parses "ping:8" into its kind and bytes; NULL for an unknown kind. */
static const struct kind *parse(const char *word_, size_t *n)
{
  const char *colon = strchr(word_, ':');
  size_t length = colon ? (size_t)(colon - word_) : strlen(word_);
  *n = colon ? strtoul(colon + 1, NULL, 10) : 0;
  for (int i = 0; i < N_KINDS; i++)
    if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, word_, length) == 0 && *n <= MOST_BYTES)
      return &kinds[i];
  return NULL;
}

static int complain(const char *what)
{
  if (me == 0)
    fprintf(stderr,
            "network: '%s': expected ping|stream|exchange|get|quiet|copy:BYTES (up to %d), woken, meet, add, update, "
            "barrier or compute, after --rounds N (1 to %d)\n",
            what, MOST_BYTES, MOST_ROUNDS);
  shmem_finalize();
  return 64;
}

int main(int argc, char **argv)
{
  int rounds = 100, first = 1;
  size_t n;
  shmem_init();
  me = shmem_my_pe();
  last = shmem_n_pes() - 1;
  other = me == 0 ? last : 0;
  if (argc > 2 && strcmp(argv[1], "--rounds") == 0) rounds = atoi(argv[2]), first = 3;
  if (rounds < 1 || rounds > MOST_ROUNDS) return complain(argv[2]);
  for (int i = first; i < argc; i++)
    if (!parse(argv[i], &n)) return complain(argv[i]);
  here = shmem_calloc(MOST_BYTES, 1);
  there = shmem_calloc(MOST_BYTES, 1);
  if (!here || !there) {
    fprintf(stderr, "network: no space for twice %d bytes; set a larger SHMEM_SYMMETRIC_SIZE\n", MOST_BYTES);
    shmem_global_exit(3);
  }
  if (me == 0 || me == last) /* the first messages of a job always take longer */
    for (int i = 0; i < WARM * rounds; i++) ping(sizeof flag);
  for (int i = first; i < argc; i++) {
    const struct kind *k = parse(argv[i], &n);
    measure(k, n, rounds);
  }
  shmem_free(there);
  shmem_free(here);
  shmem_finalize();
  return 0;
}
