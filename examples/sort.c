/*
 * sort.c - integer sort: every PE begins with random keys and ends with the keys of its own range, in order. All PEs
 * send to all PEs, in amounts that depend on the keys.
 *
 * A running sum over the PEs (shmem_long_sum_exscan, new in OpenSHMEM 1.6) gives each PE the start of its keys in
 * every other PE's memory, so all can write at once.
 */
#include <shmem.h>
#include <stdint.h>
#include <time.h>

#include "options.h"

enum { KEY_BITS = 22 };

typedef struct bins {
  long *count; /* symmetric, one for each PE: the number of this PE's keys for it */
  long *begin; /* the place where they begin there */
  long *total; /* the number of keys from all PEs */
} bins;

static void *allocate(size_t bytes, const char *what)
{
  void *p = shmem_malloc(bytes);
  if (p) return p;
  fprintf(stderr, "sort: PE %d: no space for %s (%.1f MiB); use fewer --keys or a larger SHMEM_SYMMETRIC_SIZE\n",
          shmem_my_pe(), what, (double)bytes / (1 << 20));
  shmem_global_exit(1);
  return NULL;
}

/* xorshift64* */
static uint32_t next_key(uint64_t *state)
{
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (uint32_t)(*state * UINT64_C(2685821657736338717) >> (64 - KEY_BITS));
}

/* The PE whose range contains the key. */
static int owner_of(uint32_t key)
{
  return (int)((uint64_t)key * (uint64_t)shmem_n_pes() >> KEY_BITS);
}

static bins count_keys(const uint32_t *keys, long n_keys)
{
  size_t n = (size_t)shmem_n_pes();
  bins b = {allocate(n * sizeof(long), "counts"), allocate(n * sizeof(long), "counts"),
            allocate(n * sizeof(long), "counts")};
  memset(b.count, 0, n * sizeof(long));
  for (long i = 0; i < n_keys; i++) b.count[owner_of(keys[i])]++;
  shmem_long_sum_exscan(SHMEM_TEAM_WORLD, b.begin, b.count, n);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, b.total, b.count, n);
  return b;
}

/* Orders the keys by owner, then puts each owner's keys to their place there. */
static void send_keys(const uint32_t *keys, long n_keys, const bins *b, uint32_t *received)
{
  int n = shmem_n_pes(), me = shmem_my_pe();
  uint32_t *ordered = malloc((size_t)n_keys * sizeof *ordered);
  long *at = malloc(((size_t)n + 1) * sizeof *at);
  at[0] = 0;
  for (int pe = 0; pe < n; pe++) at[pe + 1] = at[pe] + b->count[pe];
  for (long i = 0; i < n_keys; i++) ordered[at[owner_of(keys[i])]++] = keys[i];
  for (int k = 1; k <= n; k++) { /* each PE begins with its right neighbour */
    int pe = (me + k) % n;
    shmem_uint32_put_nbi(received + b->begin[pe], ordered + at[pe] - b->count[pe], (size_t)b->count[pe], pe);
  }
  shmem_barrier_all(); /* all puts are complete and visible */
  free(ordered);
  free(at);
}

/* Counts how often each key of the range occurs, and writes the keys in order. */
static void sort_here(uint32_t *keys, long n_keys)
{
  int n = shmem_n_pes(), me = shmem_my_pe();
  uint64_t all = UINT64_C(1) << KEY_BITS, first = (all * (uint64_t)me + (uint64_t)n - 1) / (uint64_t)n;
  uint64_t end = (all * ((uint64_t)me + 1) + (uint64_t)n - 1) / (uint64_t)n;
  uint32_t *times = calloc(end - first, sizeof *times);
  for (long i = 0; i < n_keys; i++) times[keys[i] - first]++;
  for (uint64_t key = first, i = 0; key < end; key++)
    for (uint32_t k = 0; k < times[key - first]; k++) keys[i++] = (uint32_t)key;
  free(times);
}

/* Whether no key was lost or added, all keys are in order, and all are in this PE's range. */
static bool is_right(const uint32_t *before, long n_before, const uint32_t *after, long n_after)
{
  static uint64_t sums[2], all[2]; /* of all keys' squares: before, after */
  bool right = true;
  sums[0] = sums[1] = 0;
  for (long i = 0; i < n_before; i++) sums[0] += (uint64_t)before[i] * before[i];
  for (long i = 0; i < n_after; i++) {
    sums[1] += (uint64_t)after[i] * after[i];
    right = right && owner_of(after[i]) == shmem_my_pe() && (i == 0 || after[i - 1] <= after[i]);
  }
  shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all, sums, 2);
  return right && all[0] == all[1];
}

static int run(long n_keys)
{
  static int wrong_here, wrong;
  int me = shmem_my_pe(), n = shmem_n_pes();
  uint64_t state = UINT64_C(88172645463325252) + (uint64_t)me * UINT64_C(0x9e3779b97f4a7c15);
  uint32_t *keys = malloc((size_t)n_keys * sizeof *keys);
  for (long i = 0; i < n_keys; i++) keys[i] = next_key(&state);
  struct timespec start, end;
  shmem_barrier_all();
  clock_gettime(CLOCK_MONOTONIC, &start);
  bins b = count_keys(keys, n_keys);
  long most = 0; /* symmetric memory is allocated with the same size on all PEs */
  for (int pe = 0; pe < n; pe++) most = b.total[pe] > most ? b.total[pe] : most;
  uint32_t *received = allocate((size_t)most * sizeof *received, "the keys of this PE's range");
  send_keys(keys, n_keys, &b, received);
  sort_here(received, b.total[me]);
  shmem_barrier_all();
  clock_gettime(CLOCK_MONOTONIC, &end);
  double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);

  wrong_here = !is_right(keys, n_keys, received, b.total[me]);
  shmem_int_max_reduce(SHMEM_TEAM_WORLD, &wrong, &wrong_here, 1);
  if (me == 0)
    printf("sort: %ld keys on each of %d PEs: %.3f s, %.2f million keys a second: %s\n", n_keys, n, seconds,
           1e-6 * (double)n_keys * n / seconds, wrong ? "WRONG" : "correct");
  free(keys);
  shmem_free(received);
  shmem_free(b.total);
  shmem_free(b.begin);
  shmem_free(b.count);
  return wrong;
}

int main(int argc, char **argv)
{
  option options[] = {{"keys", 1 << 20, 1, 1 << 28, "keys on each PE"}};
  shmem_init();
  int code =
      options_parse(argc, argv, "integer sort over all PEs; checks its own result", options, 1, shmem_my_pe() == 0);
  int result = code == OPTIONS_WRONG ? 64 : 0;
  if (code == OPTIONS_GO) result = run((long)options[0].value);
  shmem_finalize();
  return result;
}
