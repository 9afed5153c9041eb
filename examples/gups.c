/*
 * gups.c - random-access update: updates of single words of a table that is distributed over all PEs (giga-updates a
 * second).
 *
 * The rules are those of the HPC Challenge's RandomAccess. The table holds 2^m words of 64 bits, word i starts as i,
 * and each update is table[r mod 2^m] ^= r with r from a fixed pseudo-random stream. Since x ^ r ^ r = x, repeating
 * all updates safely must restore the first table. Up to 1 % of the words may be wrong, which allows unsynchronized
 * updates:
 *
 *   --method 0   one atomic operation each (xor): no error allowed
 *   --method 1   get, xor, put: two PEs may update a word at once, and one update is lost
 */
#include <shmem.h>
#include <stdint.h>
#include <time.h>

#include "options.h"

enum method { BY_ATOMIC, BY_GET_PUT };

typedef struct table {
  uint64_t *words;  /* symmetric: this PE's share */
  uint64_t size;    /* words on all PEs, a power of two */
  uint64_t share;   /* words on each PE (the last may use fewer) */
  uint64_t updates; /* by all PEs together */
} table;

/* The stream: r[k + 1] is r[k] times x in the field of polynomials over {0, 1} modulo x^64 + x^2 + x + 1. So r[k] is
 * x^k, and a PE computes the start of its part of the stream directly, by squaring and multiplying. */
static uint64_t times_x(uint64_t r)
{
  return (r << 1) ^ (r >> 63 ? 7u : 0u);
}

static uint64_t times(uint64_t a, uint64_t b)
{
  uint64_t product = 0;
  for (; b; b >>= 1, a = times_x(a))
    if (b & 1) product ^= a;
  return product;
}

static uint64_t stream_at(uint64_t k)
{
  uint64_t r = 1;
  for (uint64_t square = 2; k; k >>= 1, square = times(square, square))
    if (k & 1) r = times(r, square);
  return r;
}

static void update(const table *t, uint64_t r, enum method method)
{
  uint64_t i = r & (t->size - 1);
  int pe = (int)(i / t->share);
  uint64_t *word = &t->words[i % t->share];
  if (method == BY_ATOMIC)
    shmem_uint64_atomic_xor(word, r, pe);
  else
    shmem_uint64_p(word, shmem_uint64_g(word, pe) ^ r, pe);
}

/* Does this PE's part of all updates. Returns the time in seconds. */
static double update_all(const table *t, enum method method)
{
  uint64_t me = shmem_my_pe(), n = shmem_n_pes();
  uint64_t first = t->updates * me / n, last = t->updates * (me + 1) / n, r = stream_at(first);
  struct timespec start, end;
  shmem_barrier_all();
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (uint64_t k = first; k < last; k++, r = times_x(r)) update(t, r, method);
  shmem_barrier_all();
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

/* The number of words of this PE's share that differ from their start value. */
static long long errors(const table *t)
{
  uint64_t first = t->share * shmem_my_pe();
  long long wrong = 0;
  for (uint64_t i = 0; i < t->share && first + i < t->size; i++) wrong += t->words[i] != first + i;
  return wrong;
}

static int run(int log_size, double updates_per_word, enum method method)
{
  static long long wrong; /* symmetric: on every PE, the sum of all PEs' errors */
  int me = shmem_my_pe(), n = shmem_n_pes();
  table t = {.size = UINT64_C(1) << log_size};
  t.share = (t.size + n - 1) / n;
  t.updates = (uint64_t)((double)t.size * updates_per_word);
  t.words = shmem_malloc(t.share * sizeof(uint64_t));
  if (!t.words) {
    fprintf(stderr, "gups: PE %d: no space for %.1f MiB; use a smaller --log-table or a larger SHMEM_SYMMETRIC_SIZE\n",
            me, (double)t.share * 8 / (1 << 20));
    shmem_global_exit(1);
  }
  for (uint64_t i = 0; i < t.share; i++) t.words[i] = t.share * me + i;

  double seconds = update_all(&t, method);
  update_all(&t, BY_ATOMIC);

  long long mine = errors(&t);
  for (int pe = 0; pe < n; pe++) shmem_longlong_atomic_add(&wrong, mine, pe);
  shmem_barrier_all();
  bool bad = wrong > (method == BY_ATOMIC ? 0 : (long long)t.size / 100);
  if (me == 0)
    printf("gups: 2^%d words, %llu updates on %d PEs: %.6f s, %.6f GUPS, %lld words wrong (%.4f %%): %s\n", log_size,
           (unsigned long long)t.updates, n, seconds, 1e-9 * (double)t.updates / seconds, wrong,
           100.0 * (double)wrong / (double)t.size, bad ? "WRONG" : "correct");
  shmem_free(t.words);
  return bad;
}

int main(int argc, char **argv)
{
  option options[] = {
      {"log-table", 20, 4, 40, "log2 of the words in the table"},
      {"updates", 4, 0.001, 1000, "updates, as a multiple of the words"},
      {"method", BY_ATOMIC, BY_ATOMIC, BY_GET_PUT, "0: atomic xor, 1: get, xor, put"},
  };
  shmem_init();
  int code = options_parse(argc, argv, "random-access update of a table spread over all PEs; checks its own result",
                           options, 3, shmem_my_pe() == 0);
  int result = code == OPTIONS_WRONG ? 64 : 0;
  if (code == OPTIONS_GO) result = run((int)options[0].value, options[1].value, (enum method)options[2].value);
  shmem_finalize();
  return result;
}
