/*
 * pascol.c - displaced rings of one-sided operations (Vishnu et al. 2010, section V.B): each PE repeatedly does one
 * operation on the next PE, then on the next but one, and so on to itself, with a fence after each operation except
 * get. Cases: bytes of an operation.
 *
 *   put, get  contiguous
 *   acc       accumulate of doubles, scale 1: bytes are multiples of 8
 *   strided   put of ROWS rows, each half as long as the distance to the next; fewer rows where there are fewer bytes
 *
 * Every PE has its own place in each PE's memory, so all operations can be checked after a sample. Time is that of
 * one operation; CPU seconds and joules are those of all PEs for one operation of each.
 */
#include <armci.h>

#include "../slack/sample.h"

enum { ROWS = 16 };
enum { OP, FROM, REPEAT, LEAST, N_OPTIONS };
enum { PUT, GET, ACC, STRIDED, ALL };

static const char *const ops[] = {"put", "get", "acc", "strided", "all", NULL};
static option options[N_OPTIONS] = {
    [OP] = OPTION_WORD("op", PUT, ops, "the operation, or all of them one after the other"),
    [FROM] =
        OPTION_NUMBER("from", 0, 0, 4096, "the first displacement: 0, as in the paper, includes a PE's own memory"),
    [REPEAT] = OPTION_NUMBER("repeat", 1, 1, 10000, "number of measurements of each case"),
    [LEAST] = OPTION_NUMBER("least", 0.01, 0, 60, "shortest time of the rings in a sample, in seconds"),
};

static int me, n, op;
static size_t span;   /* bytes of a place, including the gaps between rows */
static char **memory; /* of each PE: n places, by the PE that writes there */
static char *mine;    /* n places: the data that this PE puts to, or gets from, each PE */

/* The layout of a place. */
typedef struct layout {
  int bytes, rows, row, stride;
} layout;

static layout layout_of(size_t bytes)
{
  layout l = {.bytes = (int)bytes, .rows = 1, .row = (int)bytes, .stride = (int)bytes};
  if (op != STRIDED) return l;
  while (l.rows < ROWS && l.row % 2 == 0) l.rows *= 2, l.row /= 2;
  l.stride = 2 * l.row;
  return l;
}

static char *there_of(int pe)
{
  return memory[pe] + (size_t)me * span;
}

static void operate(int pe, layout l)
{
  static double one = 1;
  char *here = mine + (size_t)pe * span, *there = there_of(pe);
  int stride[] = {l.stride}, count[] = {l.row, l.rows};
  switch (op) {
  case PUT: ARMCI_Put(here, there, l.bytes, pe); break;
  case GET: ARMCI_Get(there, here, l.bytes, pe); return;
  case ACC: ARMCI_Acc(ARMCI_ACC_DBL, &one, here, there, l.bytes, pe); break;
  default: ARMCI_PutS(here, stride, there, stride, count, 1, pe);
  }
  ARMCI_Fence(pe);
}

static long displacements(void)
{
  return n - (long)options[FROM].value;
}

static void ring(layout l, long rounds)
{
  for (long r = 0; r < rounds; r++)
    for (int i = (int)options[FROM].value; i < n; i++) operate((me + i) % n, l);
}

/* ---- expected data ---- */

static unsigned char byte_of(int from, int to, long at)
{
  return (unsigned char)(from * 37 + to * 11 + at * 7 + 1);
}

/* Small whole numbers, whose sums are exact. */
static double double_of(int from, int to, long at)
{
  return from + 2 * to + (double)(at % 5) + 1;
}

/* The data repeats after this many bytes: a multiple of 256, and of five doubles. */
enum { PERIOD = 1280 };

/* A period of the expected data after `times` operations. */
static void make_pattern(char *pattern, int from, int to, long times)
{
  for (long k = 0; op != ACC && k < PERIOD; k++) pattern[k] = (char)byte_of(from, to, k);
  for (long k = 0; op == ACC && k < PERIOD; k += (long)sizeof(double)) {
    double value = (double)times * double_of(from, to, k / (long)sizeof value);
    memcpy(pattern + k, &value, sizeof value);
  }
}

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* The bytes of a place to fill and check: the transferred bytes, with the gaps, and a cache line after them. */
static size_t extent(layout l)
{
  return smaller(span, (size_t)l.rows * (size_t)l.stride + 64);
}

static void fill_place(char *place, int from, int to, layout l, bool empty)
{
  char pattern[PERIOD];
  size_t bytes = extent(l);
  if (empty) {
    memset(place, 0, bytes);
    return;
  }
  make_pattern(pattern, from, to, 1);
  for (size_t k = 0; k < bytes; k += PERIOD) memcpy(place + k, pattern, smaller(PERIOD, bytes - k));
}

static void fill(layout l)
{
  bool gets = op == GET;
  for (int pe = 0; pe < n; pe++) {
    fill_place(mine + (size_t)pe * span, me, pe, l, gets);
    fill_place(memory[me] + (size_t)pe * span, pe, me, l, !gets);
  }
}

static bool is_pattern(const char *place, const char *pattern, size_t at, size_t bytes)
{
  for (size_t chunk; bytes; at += chunk, bytes -= chunk) {
    chunk = smaller(bytes, PERIOD - at % PERIOD);
    if (memcmp(place + at, pattern + at % PERIOD, chunk) != 0) return false;
  }
  return true;
}

static bool is_zero(const char *place, size_t bytes)
{
  return bytes == 0 || (place[0] == 0 && memcmp(place, place + 1, bytes - 1) == 0);
}

/* Whether a place is correct after `times` operations. */
static bool place_is_right(const char *place, int from, int to, layout l, long times)
{
  char pattern[PERIOD];
  size_t row = (size_t)l.row, stride = (size_t)l.stride, moved = (size_t)l.rows * stride;
  if (times == 0) return is_zero(place, extent(l));
  make_pattern(pattern, from, to, times);
  for (size_t at = 0; at < moved; at += stride)
    if (!is_pattern(place, pattern, at, row) || !is_zero(place + at + row, stride - row)) return false;
  return is_zero(place + moved, extent(l) - moved);
}

static bool all_is_right(layout l, long times)
{
  for (int pe = 0; pe < n; pe++) {
    int away = op == GET ? (pe - me + n) % n : (me - pe + n) % n;
    long done = away >= (int)options[FROM].value ? times : 0;
    const char *place = (op == GET ? mine : memory[me]) + (size_t)pe * span;
    bool right = op == GET ? place_is_right(place, me, pe, l, done) : place_is_right(place, pe, me, l, done);
    if (!right) return false;
  }
  return true;
}

/* ---- samples ---- */

static long rounds_for(layout l)
{
  enum { FIRST = 2 };
  ring(l, 1); /* makes contact */
  double before = now();
  ring(l, FIRST);
  return sample_rounds((now() - before) / FIRST, options[LEAST].value);
}

static void measure(sample_case c, int repeat)
{
  measured m;
  layout l = layout_of((size_t)c.x);
  job_barrier();
  fill(l);
  job_barrier();
  long rounds = rounds_for(l);
  job_barrier();
  fill(l);
  measure_begin();
  ring(l, rounds);
  measure_end(&m);
  measure_divide(&m, (double)(rounds * displacements()));
  bool right = sample_all(all_is_right(l, rounds));
  if (me != 0) return;
  sample_print(ops[op], "all", c, repeat, &m, right);
  printf(",\"rounds\":%ld", rounds);
  end_line();
}

static void make_memory(const sample_case *cases, int n_cases)
{
  ARMCI_Init();
  op = STRIDED; /* the largest of all operations */
  for (int i = 0; i < n_cases; i++) {
    layout l = layout_of((size_t)cases[i].x);
    if ((size_t)l.rows * (size_t)l.stride > span) span = (size_t)l.rows * (size_t)l.stride;
  }
  span = (span + 63) / 64 * 64;
  memory = job_calloc((size_t)n, sizeof *memory);
  mine = malloc((size_t)n * span);
  if (!mine || ARMCI_Malloc((void **)memory, (armci_size_t)((size_t)n * span)) != 0) {
    fprintf(stderr, "PE %d: no memory for %d places of %zu bytes\n", me, n, span);
    job_abort(1);
  }
}

static const char *wrong(const sample_case *cases, int n_cases)
{
  int wanted = (int)options[OP].value;
  me = job_me(), n = job_n_pes();
  for (int i = 0; i < n_cases; i++) {
    if (cases[i].x != floor(cases[i].x)) return "the number of bytes must be whole";
    if ((wanted == ACC || wanted == ALL) && fmod(cases[i].x, sizeof(double)) != 0)
      return "bytes of acc must be multiples of 8";
  }
  return displacements() < 1 ? "--from must be less than the number of PEs" : NULL;
}

static void run(const sample_case *cases, int n_cases)
{
  int wanted = (int)options[OP].value, first = wanted == ALL ? PUT : wanted, last = wanted == ALL ? STRIDED : wanted;
  for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++)
    for (op = first; op <= last; op++)
      for (int i = 0; i < n_cases; i++) measure(cases[i], repeat);
  job_barrier();
  ARMCI_Free(memory[me]);
  free(mine);
  free(memory);
  ARMCI_Finalize();
}

int main(int argc, char **argv)
{
  return sample_main(argc, argv,
                     &(sample_program){.name = "pascol",
                                       .words = "BYTES...",
                                       .purpose = "displaced rings of one-sided operations; cases: bytes of one",
                                       .options = options,
                                       .n_options = N_OPTIONS,
                                       .most_x = 1 << 24,
                                       .wrong = wrong,
                                       .begin = make_memory,
                                       .run = run});
}
