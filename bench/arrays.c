/*
 * arrays.c - programs on Global Arrays, one of them with a process that waits, and one on BLAS alone: seconds, and
 * CPU seconds of all processes.
 *
 *   dgemm   ga_dgemm of matrices of 512 x 512, and the sum of its product
 *   plain   the same work by BLAS alone, in blocks of that size and private memory: the part that no ARMCI can reduce
 *   jacobi  sweeps of Laplace's equation over 512 x 512 points. Each process fetches its block with its neighbours'
 *           edges and stores its result; then all synchronize. The sum of all points at the end
 *   idle    process 0 updates an array repeatedly, while the others wait for it in GA_Sync
 *
 * The sums are printed, so that a comparison of two ARMCIs can check them.
 */
#include <ga-mpi.h>
#include <ga.h>
#include <macdecls.h>
#include <math.h>
#include <mpi.h>
#include <string.h>

#include "clocks.h"

enum { N = 512, PRODUCTS = 10, SWEEPS = 60, ALONE = 400, STACK = 4 << 20 };

static int me, n;

static int array(char *name)
{
  int dims[2] = {N, N}, a = NGA_Create(C_DBL, 2, dims, name, NULL);
  if (!a) GA_Error("no memory for an array", 1);
  return a;
}

static void tell_both(const char *what, double wall, double cpu, double sum)
{
  char row[64];
  GA_Dgop(&cpu, 1, "+");
  if (me != 0) return;
  tell(what, wall);
  snprintf(row, sizeof row, "%s_cpu", what);
  tell(row, cpu);
  snprintf(row, sizeof row, "%s_sum", what);
  printf("{\"row\": \"%s\", \"median_s\": %.9e}\n", row, sum);
  fflush(stdout);
}

/* Fills this process's block with f(row, column). */
static void fill(int a, double (*f)(int row, int column))
{
  int lo[2], hi[2], ld;
  double *block;
  NGA_Distribution(a, me, lo, hi);
  if (lo[0] < 0 || hi[0] < lo[0]) return;
  NGA_Access(a, lo, hi, &block, &ld);
  for (int i = lo[0]; i <= hi[0]; i++)
    for (int j = lo[1]; j <= hi[1]; j++) block[(long)(i - lo[0]) * ld + j - lo[1]] = f(i, j);
  NGA_Release_update(a, lo, hi);
}

static double sum_of(int a)
{
  int ones = GA_Duplicate(a, "ones");
  double value = 1, sum;
  GA_Fill(ones, &value);
  sum = GA_Ddot(a, ones);
  GA_Destroy(ones);
  return sum;
}

static double ramp(int i, int j)
{
  return 1e-3 * i - 2e-3 * j;
}

static void dgemm(void)
{
  int a = array("a"), b = array("b"), c = array("c");
  fill(a, ramp);
  fill(b, ramp);
  GA_Dgemm('n', 'n', N, N, N, 1, a, b, 0, c);
  GA_Sync();
  double wall = now(), cpu = cpu_seconds();
  for (int i = 0; i < PRODUCTS; i++) GA_Dgemm('n', 'n', N, N, N, 1, a, b, 0, c);
  GA_Sync();
  wall = now() - wall;
  cpu = cpu_seconds() - cpu;
  tell_both("dgemm", wall, cpu, sum_of(c));
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(c);
}

/* The last two arguments are the lengths of the first two, as Fortran passes them. */
void dgemm_(const char *turned_a, const char *turned_b, const int *rows, const int *columns, const int *inner,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb, const double *beta,
            double *c, const int *ldc, size_t one, size_t one_too);

/* Computes this process's share of a product of N x N, in a block as GA_Dgemm makes it with 2 and 4 processes. */
static void plain(void)
{
  int rows = N / 2, columns = 2 * N / n, inner = N;
  double one = 1, zero = 0;
  double *a = malloc(sizeof *a * (size_t)rows * N), *b = malloc(sizeof *b * (size_t)columns * N);
  double *c = malloc(sizeof *c * (size_t)rows * (size_t)columns);
  if (!a || !b || !c) GA_Error("no memory for blocks", 1);
  for (int i = 0; i < rows * N; i++) a[i] = 1e-3 * (i % 97);
  for (int i = 0; i < columns * N; i++) b[i] = 1e-3 * (i % 89);
  double wall = 0, cpu = 0;
  for (int i = -1; i < PRODUCTS; i++) { /* the first one warms up */
    if (i == 0) GA_Sync(), wall = now(), cpu = cpu_seconds();
    dgemm_("n", "n", &rows, &columns, &inner, &one, a, &rows, b, &inner, &zero, c, &rows, 1, 1);
  }
  cpu = cpu_seconds() - cpu;
  GA_Sync();
  wall = now() - wall;
  tell_both("plain", wall, cpu, c[0]);
  free(a);
  free(b);
  free(c);
}

static double edge(int i, int j)
{
  return i == 0 || j == 0 || i == N - 1 || j == N - 1 ? sin(0.01 * i) + cos(0.02 * j) : 0;
}

typedef struct block {
  int lo[2], hi[2];       /* the points inside the edges that this process computes */
  int from[2], to[2], ld; /* with their neighbours */
  double *before, *after;
} block;

static int larger(int a, int b)
{
  return a > b ? a : b;
}

static int smaller(int a, int b)
{
  return a < b ? a : b;
}

static block block_of(int a)
{
  block b = {.ld = 0};
  int lo[2], hi[2];
  NGA_Distribution(a, me, lo, hi);
  for (int k = 0; k < 2; k++) {
    b.lo[k] = larger(lo[k], 1), b.hi[k] = smaller(hi[k], N - 2);
    b.from[k] = b.lo[k] - 1, b.to[k] = b.hi[k] + 1;
  }
  size_t rows = (size_t)larger(b.to[0] - b.from[0] + 1, 0);
  b.ld = larger(b.to[1] - b.from[1] + 1, 1);
  b.before = malloc(rows * (size_t)b.ld * sizeof(double) + 1);
  b.after = malloc(rows * (size_t)b.ld * sizeof(double) + 1);
  if (!b.before || !b.after) GA_Error("no memory for a block", 1);
  return b;
}

static void sweep(const block *b, int from, int to)
{
  int width = b->hi[1] - b->lo[1] + 1, height = b->hi[0] - b->lo[0] + 1;
  if (height > 0 && width > 0) {
    NGA_Get(from, (int *)b->from, (int *)b->to, b->before, (int *)&b->ld);
    for (int i = 0; i < height; i++)
      for (int j = 0; j < width; j++) {
        const double *at = b->before + (long)(i + 1) * b->ld + j + 1;
        b->after[(long)i * width + j] = 0.25 * (at[-1] + at[1] + at[-b->ld] + at[b->ld]);
      }
    NGA_Put(to, (int *)b->lo, (int *)b->hi, b->after, &width);
  }
  GA_Sync();
}

static void jacobi(void)
{
  int a[2] = {array("before"), array("after")};
  for (int k = 0; k < 2; k++) fill(a[k], edge);
  block b = block_of(a[0]);
  GA_Sync();
  sweep(&b, a[0], a[1]);
  sweep(&b, a[1], a[0]);
  double wall = now(), cpu = cpu_seconds();
  for (int i = 0; i < SWEEPS; i++) sweep(&b, a[i % 2], a[1 - i % 2]);
  wall = now() - wall;
  cpu = cpu_seconds() - cpu;
  tell_both("jacobi", wall, cpu, sum_of(a[SWEEPS % 2]));
  free(b.before);
  free(b.after);
  for (int k = 0; k < 2; k++) GA_Destroy(a[k]);
}

static void idle(void)
{
  int a = array("alone"), lo[2] = {0, 0}, hi[2] = {N - 1, N - 1}, ld = N;
  double *mine = calloc((size_t)N * N, sizeof *mine), half = 0.5;
  if (!mine) GA_Error("no memory for an array of its own", 1);
  for (int i = 0; i < N * N; i++) mine[i] = 1e-3 * (i % 97);
  GA_Zero(a);
  double wall = now(), cpu = cpu_seconds();
  for (int i = 0; me == 0 && i < ALONE; i++) NGA_Acc(a, lo, hi, mine, &ld, &half);
  GA_Sync();
  wall = now() - wall;
  cpu = cpu_seconds() - cpu;
  tell_both("idle", wall, cpu, sum_of(a));
  free(mine);
  GA_Destroy(a);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  GA_Initialize();
  MA_init(C_DBL, STACK, STACK);
  me = GA_Nodeid();
  n = GA_Nnodes();
  dgemm();
  plain();
  jacobi();
  idle();
  GA_Terminate();
  MPI_Finalize();
  return 0;
}
