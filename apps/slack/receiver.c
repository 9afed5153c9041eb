/*
 * receiver.c - writes a payload from PE 0 to PE 1 in three ways with different work for the receiver, which waits
 * meanwhile. Cases: number of fragments (user buffers).
 *
 *   direct  a non-blocking put for each fragment (A), quiet (B); a barrier, in which the receiver waits (D)
 *   active  pack (F), one put (A), quiet (B), a flag; the receiver, which waits for it (D), unpacks (E) and answers,
 *           which the sender waits for (C)
 *   agent   an active message for each fragment (A), shmemx_am_quiet (B); its handler copies it to its place (G), on
 *           the receiver's agent thread (WATTLE_PROGRESS=agent); a barrier, in which the receiver waits (D)
 *
 * Letters are the phases of the dissertation's table 12.1. With --phases all but G are metered, if the meter's joules
 * are modelled: no sensor resolves them. G is part of other threads' time. No two fragments share a cache line.
 * Before each transfer both PEs clear its buffers from their caches; time and joules exclude that. Data are checked
 * after each sample. Time is the sender's; joules and CPU seconds are each PE's own.
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdatomic.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "sample.h"

enum { LINE = 64, TAKE = 1, SOME = 16, SWEEP_BYTES = 64 << 20 };
enum { PAYLOAD, HOW, REPEAT, LEAST, METERED, N_OPTIONS };
enum { DIRECT, ACTIVE, AGENT };
enum { A, B, C, D, E, F, G, PHASES };

static const char *const ways[] = {"direct", "active", "agent", NULL}, *const no_yes[] = {"no", "yes", NULL};
static const char *const letters[PHASES] = {"A", "B", "C", "D", "E", "F", "G"};
static option options[N_OPTIONS] = {
    [PAYLOAD] = OPTION_NUMBER("payload", 524288, 1, 1 << 28, "bytes"),
    [HOW] = OPTION_WORD("how", DIRECT, ways, "the receiver's work"),
    [REPEAT] = OPTION_NUMBER("repeat", 1, 1, 10000, "number of measurements of each case"),
    [LEAST] = OPTION_NUMBER("least", 0.01, 0, 60, "shortest time of the transfers in a sample, in seconds"),
    [METERED] = OPTION_WORD("phases", 0, no_yes, "whether joules are reported for each phase"),
};

/* Symmetric, except for `user`. */
static struct {
  unsigned char *source, *target; /* fragments, `stride` apart */
  unsigned char *packed, *landed; /* contiguous */
  long *flag, *answer;
} mem;

static size_t size, stride;
static long n_fragments, serial;
static double phase[PHASES];

/* Counts of the agent's handler, which runs for one message at a time. */
static _Atomic long taken, strange;
static double handler_s; /* of the handlers that were timed, one in SOME */

static void take(void *buf, size_t bytes, int from, shmemx_am_token_t token)
{
  long i = atomic_load_explicit(&taken, memory_order_relaxed);
  bool timed = i % SOME == 0;
  double before = timed ? now() : 0;
  if (bytes == size && i < n_fragments)
    memcpy(mem.target + (size_t)i * stride, buf, bytes);
  else
    atomic_store_explicit(&strange, strange + 1, memory_order_relaxed);
  if (timed) handler_s += now() - before;
  atomic_store_explicit(&taken, i + 1, memory_order_release);
}

static void lay_out(long fragments)
{
  n_fragments = fragments;
  size = (size_t)options[PAYLOAD].value / (size_t)fragments;
  stride = (size + 7) / 8 * 8 + LINE;
}

static unsigned char *symmetric(size_t bytes)
{
  unsigned char *p = shmem_align(4096, bytes);
  if (!p) {
    fprintf(stderr, "PE %d: no space for %zu bytes; set a larger SHMEM_SYMMETRIC_SIZE\n", job_me(), bytes);
    job_abort(1);
  }
  memset(p, 0, bytes);
  return p;
}

static void make_memory(const sample_case *cases, int n)
{
  size_t span = 0, payload = (size_t)options[PAYLOAD].value;
  for (int i = 0; i < n; i++) {
    lay_out((long)cases[i].x);
    if ((size_t)n_fragments * stride > span) span = (size_t)n_fragments * stride;
  }
  mem.source = symmetric(span);
  mem.target = symmetric(span + 3072) + 3072; /* at different offsets in their pages: see bench/patterns.c */
  mem.packed = symmetric(payload);
  mem.landed = symmetric(payload + 3072) + 3072;
  mem.flag = (long *)(void *)symmetric(LINE);
  mem.answer = (long *)(void *)symmetric(LINE);
}

/* ---- caches ---- */

#if defined(__x86_64__)
static void flush_bytes(const unsigned char *p, size_t bytes)
{
  for (size_t i = 0; i < bytes; i += LINE) _mm_clflush(p + i);
  _mm_mfence();
}

static void clear_caches(void)
{
  size_t span = (size_t)n_fragments * stride, payload = (size_t)options[PAYLOAD].value;
  bool sends = job_me() == 0;
  flush_bytes(sends ? mem.source : mem.target, span);
  flush_bytes(sends ? mem.packed : mem.landed, payload);
}
#else
static void clear_caches(void)
{
  static unsigned char *other;
  if (!other && !(other = malloc(SWEEP_BYTES))) job_abort(1);
  memset(other, (int)serial, SWEEP_BYTES);
}
#endif

/* ---- the three ways ---- */

/* A phase that runs: its letter and its beginning. */
static struct {
  int which;
  double since;
} running;

static void begin(int which)
{
  if (options[METERED].value != 0) measure_part_begin(letters[which]);
  running.which = which;
  running.since = now();
}

static void end(void)
{
  phase[running.which] += now() - running.since;
  if (options[METERED].value != 0) measure_part_end(letters[running.which]);
}

static void then(int which)
{
  end();
  begin(which);
}

static void send_packed(void)
{
  begin(F);
  for (long i = 0; i < n_fragments; i++) memcpy(mem.packed + (size_t)i * size, mem.source + (size_t)i * stride, size);
  then(A);
  shmem_putmem_nbi(mem.landed, mem.packed, size * (size_t)n_fragments, 1);
  then(B);
  shmem_quiet();
  shmem_long_atomic_set(mem.flag, serial, 1);
  then(C);
  shmem_long_wait_until(mem.answer, SHMEM_CMP_EQ, serial);
  end();
}

static void send(int how)
{
  if (how == ACTIVE) {
    send_packed();
    return;
  }
  begin(A);
  for (long i = 0; i < n_fragments; i++) {
    unsigned char *from = mem.source + (size_t)i * stride;
    if (how == DIRECT)
      shmem_putmem_nbi(mem.target + (size_t)i * stride, from, size, 1);
    else
      shmemx_am_request(1, TAKE, from, size);
  }
  then(B);
  if (how == DIRECT)
    shmem_quiet();
  else
    shmemx_am_quiet();
  end();
}

static void receive(int how)
{
  begin(D);
  if (how != ACTIVE) {
    job_barrier();
    end();
    return;
  }
  shmem_long_wait_until(mem.flag, SHMEM_CMP_EQ, serial);
  then(E);
  for (long i = 0; i < n_fragments; i++) memcpy(mem.target + (size_t)i * stride, mem.landed + (size_t)i * size, size);
  end();
  shmem_long_atomic_set(mem.answer, serial, 0);
}

/* Runs one transfer. Returns its time at the sender. */
static double transfer(int how)
{
  double took = 0;
  serial++;
  atomic_store(&taken, 0);
  clear_caches();
  job_barrier();
  measure_resume();
  if (job_me() == 0) {
    double before = now();
    send(how);
    took = now() - before;
    if (how != ACTIVE) job_barrier();
  } else {
    receive(how);
  }
  measure_pause();
  job_barrier();
  return took;
}

/* ---- samples ---- */

static unsigned char byte_of(long fragment, size_t at)
{
  return (unsigned char)(fragment * 31 + (long)at * 7 + serial);
}

static void fill(void)
{
  memset(mem.source, 0, (size_t)n_fragments * stride);
  memset(mem.target, 0, (size_t)n_fragments * stride);
  for (long i = 0; i < n_fragments; i++)
    for (size_t k = 0; k < size; k++) mem.source[(size_t)i * stride + k] = byte_of(i, k);
}

/* At the receiver: whether every fragment arrived and the gaps are unchanged. */
static bool has_come(long as_of)
{
  long keep = serial;
  bool right = strange == 0;
  serial = as_of;
  for (long i = 0; i < n_fragments && right; i++)
    for (size_t k = 0; k < stride; k++)
      right = right && mem.target[(size_t)i * stride + k] == (k < size ? byte_of(i, k) : 0);
  serial = keep;
  return right;
}

static long rounds_for(int how)
{
  transfer(how);
  return sample_rounds(transfer(how), options[LEAST].value);
}

/* Prints ,"phases":{"A":{...},...} with the joules of the phases that this PE has and that are metered. */
static void print_parts(const measured *parts)
{
  const char *before = "";
  printf(",\"phases\":{");
  for (int p = 0; p < G; p++) {
    if (!parts[p].n_domains) continue;
    printf("%s\"%s\":{\"energy\":", before, letters[p]);
    print_figures(parts[p].joules, parts[p].n_domains, 1);
    putchar('}');
    before = ",";
  }
  putchar('}');
}

static void measure(sample_case c, int repeat, int how)
{
  measured mine, each[2] = {{0}}, parts[PHASES] = {{0}}, both[2][PHASES] = {{{0}}};
  double took = 0, phases[2][PHASES] = {{0}};
  lay_out((long)c.x);
  fill();
  long as_of = serial, rounds = rounds_for(how);
  memset(phase, 0, sizeof phase);
  handler_s = 0;
  measure_prepare();
  for (long r = 0; r < rounds; r++) took += transfer(how);
  for (int p = 0; p < G; p++) {
    if (options[METERED].value != 0) measure_part(letters[p], &parts[p]);
    measure_divide(&parts[p], (double)rounds);
  }
  measure_own(&mine);
  measure_divide(&mine, (double)rounds);
  phase[G] = handler_s * (n_fragments < SOME ? (double)n_fragments : SOME); /* the first of each SOME were timed */
  for (int p = 0; p < PHASES; p++) phase[p] /= (double)rounds;
  mine.seconds = took / (double)rounds;
  bool right = sample_all(job_me() != 1 || has_come(as_of));
  job_gather(&mine, sizeof mine, each);
  job_gather(phase, sizeof phase, phases);
  job_gather(parts, sizeof parts, both);
  if (job_me() != 0) return;
  each[1].seconds = each[0].seconds;
  for (int pe = 0; pe < 2; pe++) {
    sample_print(ways[how], pe ? "receiver" : "sender", c, repeat, &each[pe], right);
    print_list("phase_s", phases[pe], PHASES);
    print_parts(both[pe]);
    end_line();
  }
}

static const char *wrong(const sample_case *cases, int n)
{
  static char text[128];
  snprintf(text, sizeof text, "needs 2 PEs, not %d", job_n_pes());
  if (job_n_pes() != 2) return text;
  for (int i = 0; i < n; i++) {
    if (cases[i].x == floor(cases[i].x) && fmod(options[PAYLOAD].value, cases[i].x) == 0) continue;
    snprintf(text, sizeof text, "%.0f bytes cannot be divided into %g fragments of the same size",
             options[PAYLOAD].value, cases[i].x);
    return text;
  }
  return NULL;
}

static void run(const sample_case *cases, int n)
{
  shmemx_am_attach(TAKE, take);
  job_barrier();
  for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++)
    for (int i = 0; i < n; i++) measure(cases[i], repeat, (int)options[HOW].value);
}

int main(int argc, char **argv)
{
  return sample_main(argc, argv,
                     &(sample_program){.name = "receiver",
                                       .words = "FRAGMENTS...",
                                       .purpose = "the receiver's cost of a put; cases: number of fragments",
                                       .options = options,
                                       .n_options = N_OPTIONS,
                                       .most_x = 1 << 24,
                                       .wrong = wrong,
                                       .begin = make_memory,
                                       .run = run});
}
