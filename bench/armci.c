/*
 * armci.c - single operations of ARMCI by process 0 on process 1, which waits in a barrier.
 *
 * It uses standard headers only, so that one source builds against any ARMCI. Arguments: the rows to measure; all by
 * default. Batches of all rows alternate, so that rows can be compared within a process.
 *
 *   put_fence  8 bytes and a fence        puts, gets       a patch of 64 rows of 512 bytes
 *   rmw        fetch-and-add of a long    acc1, acc2       64 KiB of doubles, scale 1 and scale 2
 *   puts_fence the patch and a fence      acc1_fence       accumulate and fence
 *   daxpy1, daxpy2  the computation of acc1 and acc2 by a plain loop over the same memory, if it can be accessed
 *                   directly
 */
#include <armci.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "clocks.h"

enum { BATCHES = 25, ROWS = 64, ROW_BYTES = 512, ROW_STRIDE = 1024, DOUBLES = 8192 };
static const double batch_s = 2e-3;

static int me;
static char *there; /* process 1's memory, SPAN bytes */
static char *here;  /* process 0's own memory, SPAN bytes */
static long counted;
static double one = 1, two = 2;
static int here_stride[] = {ROW_STRIDE}, there_stride[] = {ROW_STRIDE}, count[] = {ROW_BYTES, ROWS};

static void put_fence(void)
{
  ARMCI_Put(here, there, 8, 1);
  ARMCI_Fence(1);
}

static void rmw(void)
{
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &counted, there, 1, 1);
}

static void puts_patch(void)
{
  ARMCI_PutS(here, here_stride, there, there_stride, count, 1, 1);
}

static void puts_fence(void)
{
  puts_patch();
  ARMCI_Fence(1);
}

static void gets_patch(void)
{
  ARMCI_GetS(there, there_stride, here, here_stride, count, 1, 1);
}

static void acc1(void)
{
  ARMCI_Acc(ARMCI_ACC_DBL, &one, here, there, DOUBLES * (int)sizeof(double), 1);
}

static void acc1_fence(void)
{
  acc1();
  ARMCI_Fence(1);
}

static void acc2(void)
{
  ARMCI_Acc(ARMCI_ACC_DBL, &two, here, there, DOUBLES * (int)sizeof(double), 1);
}

/* Not inlined, so that the compiler knows nothing of the scale, as in an ordinary program. */
static __attribute__((noinline)) void daxpy(double a, const double *x, double *y, int n)
{
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}

static void daxpy1(void)
{
  daxpy(one, (const double *)(void *)here, (double *)(void *)there, DOUBLES);
}

static void daxpy2(void)
{
  daxpy(two, (const double *)(void *)here, (double *)(void *)there, DOUBLES);
}

typedef struct row {
  const char *name;
  void (*run)(void);
  bool by_request; /* only if an argument names it */
  bool wanted;
  long n; /* operations in a batch */
  double sample[BATCHES];
} row;

static row rows[] = {
    {.name = "put_fence", .run = put_fence},
    {.name = "rmw", .run = rmw},
    {.name = "puts", .run = puts_patch},
    {.name = "puts_fence", .run = puts_fence},
    {.name = "gets", .run = gets_patch},
    {.name = "acc1", .run = acc1},
    {.name = "acc2", .run = acc2},
    {.name = "acc1_fence", .run = acc1_fence},
    {.name = "daxpy1", .run = daxpy1, .by_request = true},
    {.name = "daxpy2", .run = daxpy2, .by_request = true},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static double time_of(const row *r, long n)
{
  double start = now();
  for (long i = 0; i < n; i++) r->run();
  return (now() - start) / (double)n;
}

/* Sets the size of a batch from its time. The first operations make contact and warm up. */
static void size_batch(row *r)
{
  enum { FIRST = 4 };
  time_of(r, FIRST);
  double each = time_of(r, FIRST);
  r->n = each * FIRST < batch_s ? (long)(batch_s / each) : FIRST;
}

static void measure(void)
{
  for (row *r = rows; r < rows + N_ROWS; r++)
    if (r->wanted) size_batch(r);
  for (int b = 0; b < BATCHES; b++)
    for (row *r = rows; r < rows + N_ROWS; r++)
      if (r->wanted) r->sample[b] = time_of(r, r->n);
  for (row *r = rows; r < rows + N_ROWS; r++)
    if (r->wanted) tell_samples(r->name, r->sample, BATCHES);
}

/* Returns false for an unknown row. */
static bool choose(int argc, char **argv)
{
  for (row *r = rows; r < rows + N_ROWS; r++) r->wanted = argc < 2 && !r->by_request;
  for (int i = 1; i < argc; i++) {
    row *r = rows;
    while (r < rows + N_ROWS && strcmp(r->name, argv[i]) != 0) r++;
    if (r == rows + N_ROWS) return false;
    r->wanted = true;
  }
  return true;
}

int main(int argc, char **argv)
{
  enum { SPAN = DOUBLES * sizeof(double) };
  void *memory[2];
  int n;
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (n != 2 || !choose(argc, argv)) {
    fprintf(stderr, "armci: needs 2 processes, and names of existing rows\n");
    MPI_Abort(MPI_COMM_WORLD, 64);
  }
  ARMCI_Malloc(memory, SPAN);
  here = ARMCI_Malloc_local(SPAN);
  there = memory[1];
  memset(here, 0, SPAN);
  memset(memory[me], 0, SPAN);
  ARMCI_Barrier();
  if (me == 0) measure();
  ARMCI_Barrier();
  ARMCI_Free_local(here);
  ARMCI_Free(memory[me]);
  ARMCI_Finalize();
  MPI_Finalize();
  return 0;
}
