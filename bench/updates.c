/*
 * updates.c - times of updates and look-ups of random words of a table that all PEs share, by plain loops and by
 * buffers that the program fills itself.
 *
 *   histogram/atomic_add   a loop of atomic additions to random words
 *   histogram/buffers      indices go to a buffer for each PE; full ones are exchanged, and the owners add
 *   scatter/p              a loop of shmem_p to random words
 *   scatter/put            the same with shmem_putmem of 8 bytes
 *   gather/g               a loop of shmem_g of random words
 *   gather/get_nbi         the same with non-blocking gets and one quiet
 *   gather/buffers         indices go to a buffer for each PE; full ones are exchanged, and the owners answer
 *
 * Every way has random indices on all PEs, its own included, and ends with a barrier. Results are checked. Output on
 * PE 0: one JSON object a line, {"row":...,"median_s":...,"best_s":...}, seconds for one operation of a PE.
 *
 *   updates OPERATIONS ROUNDS
 *
 * Standard OpenSHMEM 1.4 and C11; builds with any implementation.
 */
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "clocks.h"

enum { WORDS = 10000, BUFFER = 1024, MOST_ROUNDS = 1000, MOST_OPERATIONS = 10000000 };

static int me, n_pes;
static size_t n;
static long *table;             /* symmetric: WORDS of each PE */
static long *arrived, *answers; /* symmetric: BUFFER from each PE */
static long *counts, *want;     /* symmetric: words from each PE; a summand */
static long *reduced;           /* symmetric: the result of a reduction */
static long *sending;           /* symmetric: BUFFER to each PE, as sources */
static size_t *filled, *asker;  /* by PE: words in its buffer; by PE and place: the look-up it is for */
static uint32_t *target;        /* of each operation: its PE and word */
static uint32_t *word;
static long *result; /* of each look-up */
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], sync_[SHMEM_REDUCE_SYNC_SIZE];

static void choose_words(void)
{
  uint64_t x = 88172645463325252ull + (uint64_t)me * 7919;
  for (size_t i = 0; i < n; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    target[i] = (uint32_t)(x % (unsigned)n_pes);
    word[i] = (uint32_t)((x >> 20) % WORDS);
  }
}

static long sum_of_all(long mine)
{
  *want = mine;
  shmem_barrier_all();
  shmem_long_sum_to_all(reduced, want, 1, 0, 0, n_pes, work, sync_);
  long sum = *reduced;
  shmem_barrier_all();
  return sum;
}

/* --- the program's own buffers ------------------------------------------------------------------------------------ */

/* Sends the buffers to their PEs. Afterwards `arrived` and `counts` hold those for this PE. */
static void exchange(void)
{
  for (int k = 0; k < n_pes; k++) {
    int pe = (me + k) % n_pes;
    long count = (long)filled[pe];
    if (count) shmem_putmem(arrived + (size_t)me * BUFFER, sending + (size_t)pe * BUFFER, count * sizeof *arrived, pe);
    shmem_long_p(&counts[me], count, pe);
    filled[pe] = 0;
  }
  shmem_barrier_all();
}

static void buffers(bool asks)
{
  for (size_t i = 0; sum_of_all(i < n) > 0;) {
    for (; i < n && filled[target[i]] < BUFFER; i++) {
      size_t at = target[i] * (size_t)BUFFER + filled[target[i]]++;
      sending[at] = word[i];
      if (asks) asker[at] = i;
    }
    exchange();
    for (int pe = 0; pe < n_pes; pe++) {
      long *from = arrived + (size_t)pe * BUFFER;
      for (long k = 0; k < counts[pe]; k++) {
        if (asks)
          from[k] = table[from[k]];
        else
          table[from[k]]++;
      }
      if (asks && counts[pe]) shmem_putmem(answers + (size_t)me * BUFFER, from, (size_t)counts[pe] * sizeof *from, pe);
    }
    if (!asks) continue;
    shmem_barrier_all();
    for (size_t at = 0; at < (size_t)n_pes * BUFFER; at++)
      if (asker[at] < n) result[asker[at]] = answers[at], asker[at] = n;
  }
}

static void histogram_buffers(void)
{
  buffers(false);
}

static void gather_buffers(void)
{
  for (size_t at = 0; at < (size_t)n_pes * BUFFER; at++) asker[at] = n;
  buffers(true);
}

/* --- plain loops -------------------------------------------------------------------------------------------------- */

static void histogram_atomic_add(void)
{
  for (size_t i = 0; i < n; i++) shmem_long_atomic_add(&table[word[i]], 1, (int)target[i]);
}

/* Each word is given the same value by all that write it. */
static void scatter_p(void)
{
  for (size_t i = 0; i < n; i++) shmem_long_p(&table[word[i]], (long)word[i] + 1, (int)target[i]);
}

static void scatter_put(void)
{
  for (size_t i = 0; i < n; i++) {
    long value = (long)word[i] + 1;
    shmem_putmem(&table[word[i]], &value, sizeof value, (int)target[i]);
  }
}

static void gather_g(void)
{
  for (size_t i = 0; i < n; i++) result[i] = shmem_long_g(&table[word[i]], (int)target[i]);
}

static void gather_get_nbi(void)
{
  for (size_t i = 0; i < n; i++) shmem_getmem_nbi(&result[i], &table[word[i]], sizeof *result, (int)target[i]);
  shmem_quiet();
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */

enum does { ADDS, STORES, LOADS };
static const struct way {
  const char *name;
  void (*run)(void);
  enum does does;
} ways[] = {{"histogram/atomic_add", histogram_atomic_add, ADDS},
            {"histogram/buffers", histogram_buffers, ADDS},
            {"scatter/p", scatter_p, STORES},
            {"scatter/put", scatter_put, STORES},
            {"gather/g", gather_g, LOADS},
            {"gather/get_nbi", gather_get_nbi, LOADS},
            {"gather/buffers", gather_buffers, LOADS}};

static void prepare(enum does does)
{
  for (long i = 0; i < WORDS; i++) table[i] = does == LOADS ? 3 * i + me : 0;
  memset(result, 0, n * sizeof *result);
  shmem_barrier_all();
}

static bool is_right(enum does does)
{
  long sum = 0;
  bool right = true;
  if (does == ADDS) {
    for (size_t i = 0; i < WORDS; i++) sum += table[i];
    return sum_of_all(sum) == (long)n * n_pes;
  }
  if (does == STORES)
    for (long i = 0; i < WORDS; i++) right &= table[i] == 0 || table[i] == i + 1;
  else
    for (size_t i = 0; i < n; i++) right &= result[i] == 3 * (long)word[i] + (long)target[i];
  return right;
}

static void measure(const struct way *w, int rounds)
{
  static double seconds[MOST_ROUNDS];
  for (int round = -1; round < rounds; round++) { /* the first one warms up */
    prepare(w->does);
    double begin = now();
    w->run();
    shmem_barrier_all();
    if (round >= 0) seconds[round] = (now() - begin) / (double)n;
    if (!is_right(w->does)) {
      fprintf(stderr, "updates: %s: PE %d has a wrong result\n", w->name, me);
      shmem_global_exit(1);
    }
    shmem_barrier_all();
  }
  if (me == 0) tell_samples(w->name, seconds, rounds);
}

static void *symmetric(size_t count)
{
  void *p = shmem_calloc(count, sizeof(long));
  if (p) return p;
  fprintf(stderr, "updates: no space for %zu words; set a larger SHMEM_SYMMETRIC_SIZE\n", count);
  shmem_global_exit(3);
  return NULL;
}

static void *own(size_t count, size_t size)
{
  void *p = calloc(count, size);
  if (p) return p;
  fprintf(stderr, "updates: no memory\n");
  shmem_global_exit(3);
  return NULL;
}

int main(int argc, char **argv)
{
  long operations = argc == 3 ? atol(argv[1]) : 0, rounds = argc == 3 ? atol(argv[2]) : 0;
  shmem_init();
  me = shmem_my_pe();
  n_pes = shmem_n_pes();
  if (operations < 1 || operations > MOST_OPERATIONS || rounds < 1 || rounds > MOST_ROUNDS) {
    if (me == 0)
      fprintf(stderr, "usage: updates OPERATIONS ROUNDS, with 1 to %d operations and 1 to %d rounds\n", MOST_OPERATIONS,
              MOST_ROUNDS);
    shmem_finalize();
    return 64;
  }
  n = (size_t)operations;
  for (size_t i = 0; i < sizeof sync_ / sizeof *sync_; i++) sync_[i] = SHMEM_SYNC_VALUE;
  table = symmetric(WORDS);
  arrived = symmetric((size_t)n_pes * BUFFER);
  answers = symmetric((size_t)n_pes * BUFFER);
  sending = symmetric((size_t)n_pes * BUFFER);
  counts = symmetric((size_t)n_pes);
  want = symmetric(1);
  reduced = symmetric(1);
  filled = own((size_t)n_pes, sizeof *filled);
  asker = own((size_t)n_pes * BUFFER, sizeof *asker);
  target = own(n, sizeof *target);
  word = own(n, sizeof *word);
  result = own(n, sizeof *result);
  choose_words();
  shmem_barrier_all();
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) measure(&ways[i], (int)rounds);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
