/*
 * collectives.c - times of collective operations on any number of PEs: broadcast, fcollect, sum and alltoall, from 8
 * bytes.
 *
 * It uses standard headers of OpenSHMEM 1.4 or later only, so that one source builds against any implementation.
 * Where there are teams it uses the world team, else the active set of all PEs.
 *
 *   collectives BYTES...    each operation with each size (of a PE's contribution; for alltoall, to each PE). PE 0
 *                           prints a JSON object a line
 *   collectives copies BYTES...    alltoall as plain copies between two barriers (PEs of one node)
 *
 * The root of a broadcast changes from call to call, so that no PE runs ahead.
 */
#include <shmem.h>
#include <stdbool.h>
#include <string.h>

#include "clocks.h"

/* A PE that has finished its part may leave while others still work. In a short batch that would matter. */
enum { BATCHES = 15, LEAST_BATCH = 20, MOST_BATCH = 100, TURNS = 4 };
static const double BATCH_SECONDS = 2e-3;

static long long *dest, *source; /* elements of the largest size for each PE */
static long *batch;              /* symmetric: the number of operations of a batch */

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
static void prepare(size_t most) {}

static void broadcast(size_t n, int turn)
{
  shmem_longlong_broadcast(SHMEM_TEAM_WORLD, dest, source, n, turn % shmem_n_pes());
}

static void fcollect(size_t n, int turn)
{
  shmem_longlong_fcollect(SHMEM_TEAM_WORLD, dest, source, n);
}

static void sum(size_t n, int turn)
{
  shmem_longlong_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n);
}

static void alltoall(size_t n, int turn)
{
  shmem_longlong_alltoall(SHMEM_TEAM_WORLD, dest, source, n);
}
#else
/* An active-set call may reuse a pSync after all PEs have left the earlier call. The next call with another pSync
 * ensures that. */
static long broadcast_sync[MOST_BATCH][SHMEM_BCAST_SYNC_SIZE], collect_sync[TURNS][SHMEM_COLLECT_SYNC_SIZE],
    reduce_sync[TURNS][SHMEM_REDUCE_SYNC_SIZE], alltoall_sync[TURNS][SHMEM_ALLTOALL_SYNC_SIZE];
static long long *work; /* symmetric, TURNS times `work_each` elements */
static size_t work_each;

static void fill(long *sync, size_t n)
{
  for (size_t i = 0; i < n; i++) sync[i] = SHMEM_SYNC_VALUE;
}

static void prepare(size_t most)
{
  fill(broadcast_sync[0], sizeof broadcast_sync / sizeof(long));
  fill(collect_sync[0], sizeof collect_sync / sizeof(long));
  fill(reduce_sync[0], sizeof reduce_sync / sizeof(long));
  fill(alltoall_sync[0], sizeof alltoall_sync / sizeof(long));
  work_each = most / 2 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? most / 2 + 1 : SHMEM_REDUCE_MIN_WRKDATA_SIZE;
  work = shmem_malloc(TURNS * work_each * sizeof *work);
}

static void broadcast(size_t n, int turn)
{
  shmem_broadcast64(dest, source, n, turn % shmem_n_pes(), 0, 0, shmem_n_pes(), broadcast_sync[turn]);
}

static void fcollect(size_t n, int turn)
{
  shmem_fcollect64(dest, source, n, 0, 0, shmem_n_pes(), collect_sync[turn % TURNS]);
}

static void sum(size_t n, int turn)
{
  shmem_longlong_sum_to_all(dest, source, (int)n, 0, 0, shmem_n_pes(), work + (size_t)(turn % TURNS) * work_each,
                            reduce_sync[turn % TURNS]);
}

static void alltoall(size_t n, int turn)
{
  shmem_alltoall64(dest, source, n, 0, 0, shmem_n_pes(), alltoall_sync[turn % TURNS]);
}
#endif

static void copies(size_t n, int turn)
{
  int me = shmem_my_pe(), pes = shmem_n_pes();
  shmem_barrier_all();
  for (int k = 0; k < pes; k++) {
    int pe = (me + k) % pes;
    long long *there = shmem_ptr(dest, pe);
    if (there) memcpy(there + (size_t)me * n, source + (size_t)pe * n, n * sizeof *dest);
  }
  shmem_barrier_all();
}

typedef void operation(size_t n, int turn);

static const struct {
  const char *name;
  operation *run;
} operations[] = {{"broadcast", broadcast}, {"fcollect", fcollect}, {"sum", sum}, {"alltoall", alltoall}};
static const char COPIES[] = "copies";

static double time_batch(operation *run, size_t n, int times)
{
  shmem_barrier_all(); /* all PEs begin together, after the last batch */
  double start = now();
  for (int turn = 0; turn < times; turn++) run(n, turn);
  return (now() - start) / times;
}

/* All PEs must use the same number: PE 0 decides it. */
static int batch_size(operation *run, size_t n)
{
  time_batch(run, n, 2); /* first touch of the memory */
  double one = time_batch(run, n, 4);
  if (shmem_my_pe() == 0) {
    double times = BATCH_SECONDS / one;
    long count = times > MOST_BATCH ? MOST_BATCH : times < LEAST_BATCH ? LEAST_BATCH : (long)times;
    for (int pe = shmem_n_pes() - 1; pe >= 0; pe--) shmem_long_p(batch, count, pe);
  }
  shmem_barrier_all();
  int count = (int)*batch;
  shmem_barrier_all();
  return count;
}

static void measure(const char *name, operation *run, size_t n)
{
  int times = batch_size(run, n);
  double seconds[BATCHES];
  for (int i = 0; i < BATCHES; i++) seconds[i] = time_batch(run, n, times);
  if (shmem_my_pe() != 0) return;
  char row[100];
  snprintf(row, sizeof row, "%s/%zu", name, n * sizeof *dest);
  tell_samples(row, seconds, BATCHES);
}

int main(int argc, char **argv)
{
  bool only_copies = argc > 1 && strcmp(argv[1], COPIES) == 0;
  size_t most = 1;
  for (int i = 1; i < argc; i++) {
    size_t n = strtoul(argv[i], NULL, 10) / sizeof *dest;
    if (n > most) most = n;
  }
  shmem_init();
  size_t all = most * (size_t)shmem_n_pes();
  dest = shmem_malloc(all * sizeof *dest);
  source = shmem_malloc(all * sizeof *source);
  batch = shmem_malloc(sizeof *batch);
  if (!dest || !source || !batch || argc < 2) {
    fprintf(stderr, "usage: collectives BYTES... (PE %d: or there is not enough symmetric memory)\n", shmem_my_pe());
    shmem_global_exit(64);
  }
  memset(dest, 0, all * sizeof *dest);
  memset(source, 1, all * sizeof *source);
  prepare(most);
  shmem_barrier_all();
  for (int i = 2; only_copies && i < argc; i++) measure(COPIES, copies, strtoul(argv[i], NULL, 10) / sizeof *dest);
  for (size_t k = 0; !only_copies && k < sizeof operations / sizeof *operations; k++)
    for (int i = 1; i < argc; i++)
      measure(operations[k].name, operations[k].run, strtoul(argv[i], NULL, 10) / sizeof *dest);
  shmem_finalize();
  return 0;
}
