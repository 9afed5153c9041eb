/*
 * patterns.c - time and joules of five ways of writing the same bytes to another PE.
 *
 * A payload is in N discrete user buffers (fragments). A PE writes it to another in one of five patterns, named by
 * their steps:
 *   P put, Q quiet, M copy between a user buffer and a pinned (symmetric) buffer, A atomic flag; a repeated part is
 *   one user buffer.
 *     PQPQ     user buffers are symmetric; a blocking put and a quiet each
 *     PPQ      user buffers are symmetric; a non-blocking put each, one quiet
 *     MPQMPQ   user buffers are private; copy, blocking put and quiet each
 *     MPMPQ    user buffers are private; copy and non-blocking put each, one quiet
 *     MMPQAMM  user buffers are private; pack all, one put, quiet, atomic flag; the receiver polls
 *              the flag and unpacks into its user buffers
 * The first half of the PEs sends, each to one of the other half: with 2 PEs, PE 0 to PE 1. All pairs run at the
 * same time, and PE 0 prints its own figures.
 *
 * No two user buffers share a cache line, at either end, so merging them takes real copies. With `--gap 0` they are
 * the parts of one contiguous buffer, as a program that sends one payload by several calls has them. Before each
 * iteration all PEs clear the buffers from their caches. Data, including the gaps, are verified before and after each
 * block of timed iterations. The timed part is PE 0's work; its receiver's unpacking is timed separately (unpack_s).
 * With `--count`, further iterations follow each block in which PE 0 reads counters before and after its transfer
 * (counts.h). They are not timed, because reading takes longer than a small transfer.
 *
 * Output on PE 0: one JSON object a line, "setup", "floor" (idle joules), then a "sample" for each configuration and
 * repeat. Units: seconds, bytes, joules. Energy is per iteration, that is, per payload written. An unknown value is
 * null, with a reason.
 *
 * Standard OpenSHMEM 1.4 and C11; builds with any implementation. Built with -DUSE_WATTLE and linked with -lwattle,
 * it also prints PE 0's energy.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pinning a PE to its core, on Linux */
#endif
#include <stdint.h>
#include <unistd.h>

#include <shmem.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#ifdef WATTLE_SIMULATED
#include <wattle_sim.h>
#endif

#include "counts.h"
#include "options.h"
#include "patterns_meter.h"
#include "pin.h"

enum { TELLER = 0, LINE = 64, MAX_ITERATIONS = 1 << 17, EX_USAGE = 2 };

typedef enum { PQPQ, PPQ, MPQMPQ, MPMPQ, MMPQAMM, N_PATTERNS } pattern;
static const char *const pattern_names[N_PATTERNS + 1] = {"PQPQ", "PPQ", "MPQMPQ", "MPMPQ", "MMPQAMM", NULL};

/* The instruction clflush is one of x86. */
#if defined(__x86_64__)
static const char *const clearings[] = {"clflush", "sweep", "none", NULL};
enum { CLEAR_CLFLUSH, CLEAR_SWEEP };
#else
static const char *const clearings[] = {"sweep", "none", NULL};
enum { CLEAR_CLFLUSH = -1, CLEAR_SWEEP };
#endif

enum { PAYLOAD, FRAGMENTS, PATTERNS, REPEAT, MIN_TIME, MIN_ITERATIONS, INTERVAL, GAP, COUNT, CLEAR, NO_PIN, N_OPTIONS };
static option options[N_OPTIONS] = {
    [PAYLOAD] = OPTION_NUMBERS("payload", "512K", 1, 256 << 20, "bytes to move"),
    [FRAGMENTS] = OPTION_NUMBERS("fragments", "1-131072", 1, 1 << 24,
                                 "numbers of user buffers, or FIRST-LAST in powers of two, of which those\n"
                                 "               that do not divide a payload are left out"),
    [PATTERNS] = OPTION_WORDS("patterns", "", pattern_names, "the ways"),
    [REPEAT] = OPTION_WHOLE("repeat", 5, 1, 10000, "measurements of each configuration; patterns alternate"),
    [MIN_TIME] = OPTION_NUMBER("min-time", 0.1, 0, 3600, "shortest time of a measurement, with clearing, in seconds"),
    [MIN_ITERATIONS] = OPTION_WHOLE("min-iterations", 5, 1, MAX_ITERATIONS, "fewest iterations of a measurement"),
    [INTERVAL] = OPTION_NUMBER("interval", 0, 0, 3600,
                               "seconds between two readings of an external meter: a measurement lasts for\n"
                               "               at least ten, and clearing alone is measured after it; 0: no meter"),
    [GAP] = OPTION_WHOLE("gap", LINE, 0, 1 << 20, "bytes between user buffers, at least a cache line; 0: contiguous"),
    [COUNT] = OPTION_WHOLE("count", 0, 0, 1000, "further iterations of each measurement in which counters are read"),
    [CLEAR] = OPTION_WORD("clear", 0, clearings, "how caches are cleared before each iteration"),
    [NO_PIN] = OPTION_FLAG("no-pin", "do not bind each PE to a core"),
};

/* A configuration: one way to move one payload. */
typedef struct {
  pattern p;
  size_t payload, n, size, stride; /* n fragments of `size` bytes, `stride` apart */
} config;

/* Memory of one PE for the largest configuration. Each PE has the symmetric parts at the same address. */
typedef struct {
  unsigned char *pinned_user, *target; /* symmetric user buffers: sources of P patterns, targets of all but MMPQAMM */
  unsigned char *staging, *arrival;    /* symmetric: copies (M), and the target of MMPQAMM's one put */
  unsigned char *user, *unpacked;      /* private user buffers */
  unsigned char *sweep;                /* private, for clearing without a flush instruction */
  size_t sweep_bytes, span;
  int *flag, *go,
      *wrong; /* symmetric: sequence number of the last arrival; whether another iteration follows; wrong bytes by PE */
  double *unpack_s; /* symmetric: the median time of unpacking at PE 0's receiver, put to PE 0 */
} memory;

static int me, n_pes, partner; /* the PE to which it sends, or from which it receives */
static bool sends;
static counts counted; /* on PE 0, with --count */
static bool pinned;    /* this PE is bound to a core */

static bool divides(double payload, double fragments)
{
  return fmod(payload, fragments) == 0;
}

/* Checks that every fragment of a list has the same whole number of bytes, at least one. */
static int check_options(void)
{
  const option *payload = &options[PAYLOAD], *fragments = &options[FRAGMENTS];
  double gap = options[GAP].value;
  if (gap && gap < LINE)
    return options_complain("--gap %g: is less than a cache line of %d bytes; 0 is allowed", gap, LINE);
  for (int i = 0; i < payload->n && !fragments->is_range; i++)
    for (int k = 0; k < fragments->n; k++)
      if (!divides(payload->at[i], fragments->at[k]))
        return options_complain(
            "--payload %.0f cannot be divided into %.0f equal fragments of at least one byte; choose "
            "--fragments that divide it",
            payload->at[i], fragments->at[k]);
  if (n_pes % 2)
    return options_complain("needs an even number of PEs, half of them senders, and has %d; start it with oshrun -n 2",
                            n_pes);
  return OPTIONS_GO;
}

/* ---- memory ---- */

static void die(const char *what, size_t bytes)
{
  fprintf(stderr,
          "patterns: PE %d: no space for %zu bytes of %s; use a smaller --payload or a larger SHMEM_SYMMETRIC_SIZE\n",
          me, bytes, what);
  shmem_global_exit(3);
  exit(3);
}

/* A copy can take several times as long if source and target have similar offsets within a page: the processor takes
 * loads for matches of stores to the other page. So each buffer begins 3 KiB, within the page, after the buffer that
 * it is filled from. */
enum { PAGE = 4096 };
typedef enum {
  AT_PINNED = 0,
  AT_USER = 1024,
  AT_STAGING = 0,
  AT_TARGET = 3072,
  AT_ARRIVAL = 3072,
  AT_UNPACKED = 2048
} page_offset;

static unsigned char *symmetric(size_t bytes, page_offset at)
{
  unsigned char *p = shmem_align(PAGE, bytes + PAGE);
  if (!p) die("symmetric memory", bytes);
  memset(p, 0, bytes + PAGE); /* touched, so that no page fault is timed */
  return p + at;
}

static unsigned char *private(size_t bytes, page_offset at)
{
  unsigned char *p = aligned_alloc(PAGE, (bytes + 2 * PAGE - 1) / PAGE * PAGE);
  if (!p) die("private memory", bytes);
  memset(p, 0, bytes + PAGE);
  return p + at;
}

/* Returns the allocator's address. Both kinds of buffers begin less than a page after it. */
static void *allocated(void *p)
{
  return (void *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1));
}

static config make_config(pattern p, size_t payload, size_t n)
{
  size_t size = payload / n, gap = (size_t)options[GAP].value;
  size_t stride = gap ? (size + 7) / 8 * 8 + gap : size;
  return (config){.p = p, .payload = payload, .n = n, .size = size, .stride = stride};
}

static size_t cache_bytes(void)
{
  long l3 = -1;
#if defined(_SC_LEVEL3_CACHE_SIZE) && !defined(WATTLE_SIMULATED)
  l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return l3 > 0 ? (size_t)l3 : (size_t)64 << 20;
}

static bool has_pattern(pattern least, pattern most)
{
  const option *o = &options[PATTERNS];
  for (int i = 0; i < o->n; i++)
    if (o->at[i] >= least && o->at[i] <= most) return true;
  return false;
}

/* Buffers that no chosen pattern uses are as small as possible. */
static memory make_memory(void)
{
  memory m = {0};
  bool copies = has_pattern(MPQMPQ, MMPQAMM), unpacks = has_pattern(MMPQAMM, MMPQAMM);
  const option *payloads = &options[PAYLOAD], *fragments = &options[FRAGMENTS];
  size_t payload = 0;
  for (int i = 0; i < payloads->n; i++)
    for (int k = 0; k < fragments->n; k++) {
      if (!divides(payloads->at[i], fragments->at[k])) continue;
      config c = make_config(PQPQ, (size_t)payloads->at[i], (size_t)fragments->at[k]);
      m.span = c.n * c.stride > m.span ? c.n * c.stride : m.span;
      payload = c.payload > payload ? c.payload : payload;
    }
  m.pinned_user = symmetric(m.span, AT_PINNED);
  m.target = symmetric(m.span, AT_TARGET);
  m.staging = symmetric(copies ? payload : 0, AT_STAGING);
  m.arrival = symmetric(unpacks ? payload : 0, AT_ARRIVAL);
  m.flag = (int *)symmetric(LINE, 0);
  m.go = (int *)symmetric(LINE, 0);
  m.wrong = (int *)symmetric((size_t)n_pes * sizeof(int), 0);
  m.unpack_s = (double *)symmetric(LINE, 0);
  m.user = private(copies ? m.span : 0, AT_USER);
  m.unpacked = private(unpacks ? m.span : 0, AT_UNPACKED);
  if (options[CLEAR].value == CLEAR_SWEEP) {
    m.sweep_bytes = 2 * cache_bytes();
#ifndef WATTLE_SIMULATED
    m.sweep = private(m.sweep_bytes, 0);
#endif
  }
  return m;
}

static void free_memory(memory *m)
{
  void *shared[] = {m->pinned_user, m->target, m->staging, m->arrival, m->flag, m->go, m->wrong, m->unpack_s};
  for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) shmem_free(allocated(shared[i]));
  free(allocated(m->user));
  free(allocated(m->unpacked));
  free(allocated(m->sweep));
}

/* The user buffers of this configuration at the sender and at the receiver. */
static unsigned char *source_of(const memory *m, const config *c)
{
  return c->p == PQPQ || c->p == PPQ ? m->pinned_user : m->user;
}

static unsigned char *result_of(const memory *m, const config *c)
{
  return c->p == MMPQAMM ? m->unpacked : m->target;
}

/* ---- clearing caches ---- */

#if defined(__x86_64__)
static void flush_bytes(const unsigned char *p, size_t bytes)
{
  const unsigned char *end = p + bytes;
  for (p = (const unsigned char *)((uintptr_t)p & ~(uintptr_t)(LINE - 1)); p < end; p += LINE) _mm_clflush(p);
}

static void flush_fragments(const unsigned char *p, const config *c)
{
  if (c->stride == c->size) {
    flush_bytes(p, c->payload);
    return;
  }
  for (size_t i = 0; i < c->n; i++) flush_bytes(p + i * c->stride, c->size);
}

/* A flush clears every cache of the machine, so each PE flushes only its own memory. */
static void flush(const memory *m, const config *c)
{
  if (sends) {
    flush_fragments(source_of(m, c), c);
    if (c->p >= MPQMPQ) flush_bytes(m->staging, c->payload);
  } else {
    flush_fragments(result_of(m, c), c);
    if (c->p == MMPQAMM) flush_bytes(m->arrival, c->payload);
  }
  _mm_mfence();
}
#else
static void flush(const memory *m, const config *c) {}
#endif

#ifdef WATTLE_SIMULATED
static void sweep_caches(const memory *m) /* simulated caches hold what was moved last */
{
  wattle_sim_move(m->sweep_bytes);
}
#else
static void sweep_caches(const memory *m)
{
  for (size_t i = 0; i < m->sweep_bytes; i += LINE) ((volatile unsigned char *)m->sweep)[i]++;
}
#endif

static void clear_caches(const memory *m, const config *c)
{
  if (options[CLEAR].value == CLEAR_CLFLUSH)
    flush(m, c);
  else if (options[CLEAR].value == CLEAR_SWEEP)
    sweep_caches(m);
}

/* ---- the patterns ---- */

static void run_pqpq(const memory *m, const config *c)
{
  for (size_t i = 0; i < c->n; i++) {
    shmem_putmem(m->target + i * c->stride, m->pinned_user + i * c->stride, c->size, partner);
    shmem_quiet();
  }
}

static void run_ppq(const memory *m, const config *c)
{
  for (size_t i = 0; i < c->n; i++)
    shmem_putmem_nbi(m->target + i * c->stride, m->pinned_user + i * c->stride, c->size, partner);
  shmem_quiet();
}

static void run_mpqmpq(const memory *m, const config *c)
{
  for (size_t i = 0; i < c->n; i++) {
    memcpy(m->staging + i * c->size, m->user + i * c->stride, c->size);
    shmem_putmem(m->target + i * c->stride, m->staging + i * c->size, c->size, partner);
    shmem_quiet();
  }
}

static void run_mpmpq(const memory *m, const config *c)
{
  for (size_t i = 0; i < c->n; i++) {
    memcpy(m->staging + i * c->size, m->user + i * c->stride, c->size);
    shmem_putmem_nbi(m->target + i * c->stride, m->staging + i * c->size, c->size, partner);
  }
  shmem_quiet();
}

static void run_mmpqamm(const memory *m, const config *c, int sequence)
{
  for (size_t i = 0; i < c->n; i++) memcpy(m->staging + i * c->size, m->user + i * c->stride, c->size);
  shmem_putmem(m->arrival, m->staging, c->payload, partner);
  shmem_quiet();
  (void)shmem_int_atomic_swap(m->flag, sequence, partner);
}

static void send_payload(const memory *m, const config *c, int sequence)
{
  switch (c->p) {
  case PQPQ: run_pqpq(m, c); break;
  case PPQ: run_ppq(m, c); break;
  case MPQMPQ: run_mpqmpq(m, c); break;
  case MPMPQ: run_mpmpq(m, c); break;
  default: run_mmpqamm(m, c, sequence);
  }
}

/* The receiver's part of MMPQAMM. Returns the time of unpacking in seconds. */
static double receive_payload(const memory *m, const config *c, int sequence)
{
  shmem_int_wait_until(m->flag, SHMEM_CMP_EQ, sequence);
  double start = now();
  for (size_t i = 0; i < c->n; i++) memcpy(m->unpacked + i * c->stride, m->arrival + i * c->size, c->size);
  return now() - start;
}

/* ---- verification ---- */

enum { GUARD = 0xa5 };

/* Bytes 8 j to 8 j + 7 of fragment i in a round. They differ from those of other fragments, places and rounds. */
static uint64_t eight_of(unsigned round, size_t i, size_t j)
{
  uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u + (uint64_t)(j + 1) * 0xc2b2ae3d27d4eb4fu + round;
  x = (x ^ x >> 31) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

static void fill(const memory *m, const config *c, unsigned round)
{
  unsigned char *out = source_of(m, c);
  for (size_t i = 0; i < c->n; i++) {
    memset(out + i * c->stride, (unsigned char)~GUARD, c->stride); /* a gap that is copied by mistake shows */
    for (size_t j = 0; j < c->size / 8; j++) {
      uint64_t eight = eight_of(round, i, j);
      memcpy(out + i * c->stride + 8 * j, &eight, sizeof eight);
    }
    if (c->size % 8) {
      uint64_t eight = eight_of(round, i, c->size / 8);
      memcpy(out + i * c->stride + c->size / 8 * 8, &eight, c->size % 8);
    }
  }
}

/* The number of parts of fragments, and of bytes between fragments, with wrong values. */
static int count_wrong(const unsigned char *in, const config *c, unsigned round)
{
  size_t wrong = 0;
  for (size_t i = 0; i < c->n; i++) {
    const unsigned char *fragment = in + i * c->stride;
    for (size_t j = 0; j < c->size / 8; j++) {
      uint64_t eight = eight_of(round, i, j), found;
      memcpy(&found, fragment + 8 * j, sizeof found);
      wrong += found != eight;
    }
    if (c->size % 8) {
      uint64_t eight = eight_of(round, i, c->size / 8);
      wrong += memcmp(fragment + c->size / 8 * 8, &eight, c->size % 8) != 0;
    }
    for (size_t k = c->size; k < c->stride; k++) wrong += fragment[k] != GUARD;
  }
  return wrong > 1000000000 ? 1000000000 : (int)wrong;
}

/* Writes new data at the sender, and guard bytes at the receiver. */
static void prepare(const memory *m, const config *c, unsigned round)
{
  if (sends)
    fill(m, c, round);
  else
    memset(result_of(m, c), GUARD, c->n * c->stride);
  shmem_barrier_all();
}

/* On PE 0: whether every byte arrived and no gap was changed. */
static bool verify(const memory *m, const config *c, unsigned round)
{
  int wrong = 0;
  if (!sends) shmem_int_p(&m->wrong[me], count_wrong(result_of(m, c), c, round), TELLER);
  shmem_barrier_all();
  for (int pe = 0; pe < n_pes; pe++) wrong += m->wrong[pe] != 0;
  return wrong == 0;
}

static int next_sequence(void)
{
  static int sequence; /* equal on all PEs: each transfer takes the next number */
  return ++sequence;
}

/* One transfer that is not timed. The library then completes its setup at first use. */
static void transfer_once(const memory *m, const config *c)
{
  int sequence = next_sequence();
  if (sends)
    send_payload(m, c, sequence);
  else if (c->p == MMPQAMM)
    receive_payload(m, c, sequence);
  shmem_barrier_all();
}

/* PE 0 stores whether another iteration follows; the barrier after it completes the stores. */
static void tell_to_go_on(const memory *m, bool on)
{
  if (me != TELLER) return;
  for (int pe = 0; pe < n_pes; pe++) shmem_int_p(m->go, on, pe);
}

/* All PEs must agree, and only PE 0 knows the answer. */
static bool needs_clears(const memory *m, const meter *e)
{
  tell_to_go_on(m, meter_interval_s(e) > 0 || options[INTERVAL].value > 0);
  shmem_barrier_all();
  return *m->go;
}

/* ---- timing ---- */

/* Seconds of each iteration at this PE: the sender's transfer, or the receiver's unpacking. */
typedef struct {
  double s[MAX_ITERATIONS];
  int n;
  double wall_s;   /* of the block, including clearing and barriers */
  block_time when; /* of the block, by this PE's time of day */
} timings;

static void one_iteration(const memory *m, const config *c, meter *e, timings *t)
{
  int sequence = next_sequence();
  if (sends) {
    meter_iteration_begin(e);
    double start = now();
    send_payload(m, c, sequence);
    t->s[t->n] = now() - start;
    meter_iteration_end(e, c->p == PQPQ || c->p == PPQ ? 0 : (double)c->payload);
  } else {
    t->s[t->n] = c->p == MMPQAMM ? receive_payload(m, c, sequence) : 0;
  }
}

/* Iterates until `least_s` have passed and `least_n` iterations are done. With transfer = false it only clears
 * caches and calls the barriers, so that their joules can be subtracted. */
static void block(const memory *m, const config *c, meter *e, bool transfer, double least_s, int least_n, timings *t)
{
  t->n = 0;
  t->when.begin = time_of_day();
  double start = now();
  do {
    clear_caches(m, c);
    shmem_barrier_all();
    if (transfer) one_iteration(m, c, e, t);
    t->n++;
    t->wall_s = now() - start;
    tell_to_go_on(m, t->n < MAX_ITERATIONS && (t->n < least_n || t->wall_s < least_s));
    shmem_barrier_all();
  } while (*m->go);
  t->when.end = time_of_day();
}

/* Transfers that are counted and not timed. */
static void count_block(const memory *m, const config *c)
{
  counts_clear(&counted);
  for (int i = 0; i < (int)options[COUNT].value; i++) {
    int sequence = next_sequence();
    clear_caches(m, c);
    shmem_barrier_all();
    if (me == TELLER) counts_begin(&counted);
    if (sends)
      send_payload(m, c, sequence);
    else if (c->p == MMPQAMM)
      receive_payload(m, c, sequence);
    if (me == TELLER) counts_end(&counted);
    shmem_barrier_all();
  }
}

static double timed_s(const timings *t)
{
  double sum = 0;
  for (int i = 0; i < t->n; i++) sum += t->s[i];
  return sum;
}

/* Quantile q of n sorted values, interpolated between neighbours. */
static double quantile(const double *sorted, int n, double q)
{
  double at = q * (n - 1);
  int low = (int)at;
  return low + 1 < n ? sorted[low] + (at - low) * (sorted[low + 1] - sorted[low]) : sorted[n - 1];
}

/* ---- output ---- */

/* A sample in numbers. `clears`: the block of clearing alone; `clears_share`: the part of it that `t` includes. */
typedef struct result {
  const timings *t, *clears;
  double clears_share;
  double unpack_s;
  bool verified;
} result;

static void print_sample(const config *c, int repeat, int turn, const result *r, const meter *e)
{
  const timings *t = r->t;
  double median = quantile(t->s, t->n, 0.5);
  printf("{\"kind\":\"sample\",\"pattern\":\"%s\",\"payload\":%zu,\"fragments\":%zu,\"fragment_bytes\":%zu,",
         pattern_names[c->p], c->payload, c->n, c->size);
  printf("\"repeat\":%d,\"turn\":%d,\"iterations\":%d", repeat, turn, t->n);
  print_number("block_s", t->wall_s);
  printf(",\"latency_s\":{\"median\":%.9g,\"p25\":%.9g,\"p75\":%.9g,\"mean\":%.9g,\"min\":%.9g}", median,
         quantile(t->s, t->n, 0.25), quantile(t->s, t->n, 0.75), timed_s(t) / t->n, t->s[0]);
  print_number("unpack_s", r->unpack_s);
  print_number("bandwidth_Bps", (double)c->payload / median);
  print_number("message_rate_per_s", (double)c->n / median);
  print_text("clear", clearings[(int)options[CLEAR].value]);
  print_flag("verified", r->verified);
  print_spans(t->when, 1.0 / t->n, r->clears->when, -r->clears_share / t->n);
  meter_print(e, t->n);
  if (options[COUNT].value) counts_print(&counted, (int)options[COUNT].value);
  end_line();
}

static void print_setup(const meter *e)
{
  const option *payload = &options[PAYLOAD], *fragments = &options[FRAGMENTS];
  int configurations = 0;
  for (int i = 0; i < payload->n; i++)
    for (int k = 0; k < fragments->n; k++)
      configurations += divides(payload->at[i], fragments->at[k]) ? options[PATTERNS].n : 0;
  printf("{\"kind\":\"setup\",\"n_pes\":%d,\"repeat\":%.0f,\"configurations\":%d", n_pes, options[REPEAT].value,
         configurations);
  print_number("min_time_s", options[MIN_TIME].value);
  print_number("min_iterations", options[MIN_ITERATIONS].value);
  print_number("gap", options[GAP].value);
  print_text("clear", clearings[(int)options[CLEAR].value]);
  print_flag("pinned", pinned);
  print_meter(e->handle);
  end_line();
}

/* ---- the sweep ---- */

/* Prints one line of output. `round` makes its data differ from earlier data. Returns whether they arrived
 * correctly. */
static bool measure(const memory *m, const config *c, meter *e, timings *t, int repeat, int turn, unsigned round)
{
  prepare(m, c, round);
  transfer_once(m, c);
  bool first = verify(m, c, round);
  prepare(m, c, round + 1);
  static timings clears;
  result r = {.t = t, .clears = &clears};
  double interval_s = options[INTERVAL].value;
  double least_s = fmax(options[MIN_TIME].value, JOULES_INTERVALS * fmax(interval_s, meter_interval_s(e)));
  meter_block_begin(e);
  block(m, c, e, true, least_s, (int)options[MIN_ITERATIONS].value, t);
  meter_block_end(e);
  count_block(m, c);
  r.verified = verify(m, c, round + 1) && first;
  if (needs_clears(m, e)) {
    meter_clears_begin(e);
    block(m, c, e, false, JOULES_INTERVALS * interval_s, t->n, &clears);
    r.clears_share = fmax(0, t->wall_s - timed_s(t)) / clears.wall_s;
    meter_clears_end(e, r.clears_share);
  }
  sort_samples(t->s, t->n);
  if (!sends && partner == TELLER)
    shmem_double_p(m->unpack_s, c->p == MMPQAMM ? quantile(t->s, t->n, 0.5) : (double)NAN, TELLER);
  shmem_barrier_all();
  r.unpack_s = *m->unpack_s;
  if (me == TELLER) print_sample(c, repeat, turn, &r, e);
  return r.verified;
}

/* Patterns alternate within each repeat, and each repeat begins with another one, so that noise affects all equally. */
static bool sweep(const memory *m, meter *e)
{
  static timings t;
  const option *payload = &options[PAYLOAD], *fragments = &options[FRAGMENTS], *patterns = &options[PATTERNS];
  unsigned round = 1;
  bool verified = true;
  for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++)
    for (int f = 0; f < fragments->n; f++)
      for (int k = 0; k < payload->n; k++)
        for (int turn = 0; turn < patterns->n && divides(payload->at[k], fragments->at[f]); turn++) {
          pattern p = (pattern)patterns->at[(turn + repeat + f) % patterns->n];
          config c = make_config(p, (size_t)payload->at[k], (size_t)fragments->at[f]);
          verified = measure(m, &c, e, &t, repeat, turn, round) && verified;
          round += 2;
        }
  return verified;
}

int main(int argc, char **argv)
{
  int words;
  shmem_init();
  me = shmem_my_pe();
  n_pes = shmem_n_pes();
  sends = me < n_pes / 2;
  partner = sends ? me + n_pes / 2 : me - n_pes / 2;
  int code = options_parse(argc, argv, "", "time and joules of five ways of writing the same bytes to another PE",
                           options, N_OPTIONS, me == TELLER, &words);
  if (code == OPTIONS_GO) code = check_options();
  if (code != OPTIONS_GO) {
    shmem_finalize();
    return code == OPTIONS_WRONG ? EX_USAGE : 0;
  }
  pinned = !options[NO_PIN].value && pin(me, n_pes);
  memory m = make_memory();
  meter e = meter_open(me == TELLER);
  const char *sysfs = getenv("WATTLE_SYSFS"); /* a setting of Wattle, for tests */
  if (me == TELLER && options[COUNT].value) counts_open(&counted, sysfs ? sysfs : "/sys");
  if (me == TELLER) {
    print_setup(&e);
    print_floor(e.handle);
  }
  shmem_barrier_all();
  bool verified = sweep(&m, &e);
  if (me == TELLER && !verified)
    fprintf(stderr, "patterns: some bytes did not arrive, or arrived at a wrong place; see the samples with "
                    "\"verified\":false\n");
  if (me == TELLER && options[COUNT].value) counts_close(&counted);
  wattle_energy_close(e.handle);
  free_memory(&m);
  shmem_finalize();
  return me == TELLER && !verified ? 1 : 0;
}
