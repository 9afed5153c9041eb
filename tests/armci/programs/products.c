/*
 * products.c - computes products and sums of matrices of every type by Global Arrays in three ways.
 *
 * The ways are the library's function, processes that fetch the data of their block while they compute, and tasks from
 * a shared counter whose parts are accumulated. All numbers are small integers, so all ways agree to the last bit. The
 * lines must be the same over any ARMCI.
 */
#include <complex.h>
#include <ga-mpi.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 96, BLOCK = 32, BLOCKS = N / BLOCK };

static int me, n;

static void say(const char *what, const char *type, double value)
{
  if (me == 0) printf("%s of %s: %.12g\n", what, type, value);
}

static int matrix(int type, char *name)
{
  int dims[2] = {N, N}, a = NGA_Create(type, 2, dims, name, NULL);
  if (!a) GA_Error("no array", 1);
  return a;
}

static double complex number(int row, int column, int seed)
{
  return (row * 7 + column * 3 + seed) % 11 - 5 + ((row + column * 5 + seed) % 7 - 3) * I;
}

/* One of a type's numbers. */
static void store(int type, void *to, int i, double complex v)
{
  switch (type) {
  case C_INT: ((int *)to)[i] = (int)creal(v); break;
  case C_LONG: ((long *)to)[i] = (long)creal(v); break;
  case C_FLOAT: ((float *)to)[i] = (float)creal(v); break;
  case C_DBL: ((double *)to)[i] = creal(v); break;
  case C_SCPL: ((float complex *)to)[i] = (float complex)v; break;
  default: ((double complex *)to)[i] = v;
  }
}

static double complex load(int type, const void *from, int i)
{
  switch (type) {
  case C_INT: return ((const int *)from)[i];
  case C_LONG: return (double)((const long *)from)[i];
  case C_FLOAT: return ((const float *)from)[i];
  case C_DBL: return ((const double *)from)[i];
  case C_SCPL: return ((const float complex *)from)[i];
  default: return ((const double complex *)from)[i];
  }
}

static void block_at(int i, int j, int lo[2], int hi[2])
{
  lo[0] = i * BLOCK, lo[1] = j * BLOCK;
  hi[0] = lo[0] + BLOCK - 1, hi[1] = lo[1] + BLOCK - 1;
}

static void fill(int a, int type, int seed)
{
  double complex *values = malloc(sizeof *values * BLOCK * BLOCK);
  int lo[2], hi[2], ld = BLOCK;
  for (int b = me; b < BLOCKS * BLOCKS; b += n) {
    block_at(b / BLOCKS, b % BLOCKS, lo, hi);
    for (int i = 0; i < BLOCK * BLOCK; i++) store(type, values, i, number(lo[0] + i / BLOCK, lo[1] + i % BLOCK, seed));
    NGA_Put(a, lo, hi, values, &ld);
  }
  GA_Sync();
  free(values);
}

/* Returns a number that differs for different matrices. */
static double print_of(int a, int type)
{
  double complex *values = malloc(sizeof *values * N * N), sum = 0;
  int lo[2] = {0, 0}, hi[2] = {N - 1, N - 1}, ld = N;
  NGA_Get(a, lo, hi, values, &ld);
  for (int i = 0; i < N * N; i++) sum += load(type, values, i) * (i % 13 + 1 + (i % 5) * I);
  GA_Sync();
  free(values);
  return creal(sum) + 3 * cimag(sum);
}

/* c = a b, of BLOCK x BLOCK, as complex numbers. */
static void multiply(int type, const void *a, const void *b, double complex *c)
{
  for (int i = 0; i < BLOCK; i++)
    for (int k = 0; k < BLOCK; k++) {
      double complex v = load(type, a, i * BLOCK + k);
      for (int j = 0; j < BLOCK; j++) c[i * BLOCK + j] += v * load(type, b, k * BLOCK + j);
    }
}

/* The blocks of the next step come while this one's are multiplied. */
static void by_fetching(int type, int a, int b, int c)
{
  double complex *buffers = calloc(5 * BLOCK * BLOCK, sizeof *buffers), *sum = buffers + 4 * BLOCK * BLOCK;
  ga_nbhdl_t of_a[2], of_b[2];
  int lo[2], hi[2], ld = BLOCK;
  for (int block = me; block < BLOCKS * BLOCKS; block += n) {
    int i = block / BLOCKS, j = block % BLOCKS;
    memset(sum, 0, sizeof *sum * BLOCK * BLOCK);
    for (int k = 0; k <= BLOCKS; k++) {
      if (k < BLOCKS) {
        block_at(i, k, lo, hi);
        NGA_NbGet(a, lo, hi, buffers + k % 2 * BLOCK * BLOCK, &ld, &of_a[k % 2]);
        block_at(k, j, lo, hi);
        NGA_NbGet(b, lo, hi, buffers + (2 + k % 2) * BLOCK * BLOCK, &ld, &of_b[k % 2]);
      }
      if (k == 0) continue;
      int last = (k - 1) % 2;
      NGA_NbWait(&of_a[last]);
      NGA_NbWait(&of_b[last]);
      multiply(type, buffers + last * BLOCK * BLOCK, buffers + (2 + last) * BLOCK * BLOCK, sum);
    }
    for (int e = 0; e < BLOCK * BLOCK; e++) store(type, buffers, e, sum[e]);
    block_at(i, j, lo, hi);
    NGA_Put(c, lo, hi, buffers, &ld);
  }
  GA_Sync();
  free(buffers);
}

/* Tasks are products of two blocks; several processes add to one block of the result. */
static void by_tasks(int type, int a, int b, int c)
{
  int dims[1] = {1}, zero[1] = {0}, lo[2], hi[2], ld = BLOCK;
  int next = NGA_Create(C_LONG, 1, dims, "next", NULL);
  double complex *buffers = calloc(3 * BLOCK * BLOCK, sizeof *buffers), *sum = buffers + 2 * BLOCK * BLOCK, one;
  store(type, &one, 0, 1);
  GA_Zero(next);
  GA_Zero(c);
  for (long task; (task = NGA_Read_inc(next, zero, 1)) < BLOCKS * BLOCKS * BLOCKS;) {
    int i = (int)task / BLOCKS / BLOCKS, j = (int)task / BLOCKS % BLOCKS, k = (int)task % BLOCKS;
    memset(sum, 0, sizeof *sum * BLOCK * BLOCK);
    block_at(i, k, lo, hi);
    NGA_Get(a, lo, hi, buffers, &ld);
    block_at(k, j, lo, hi);
    NGA_Get(b, lo, hi, buffers + BLOCK * BLOCK, &ld);
    multiply(type, buffers, buffers + BLOCK * BLOCK, sum);
    for (int e = 0; e < BLOCK * BLOCK; e++) store(type, buffers, e, sum[e]);
    block_at(i, j, lo, hi);
    NGA_Acc(c, lo, hi, buffers, &ld, &one);
  }
  GA_Sync();
  GA_Destroy(next);
  free(buffers);
}

static void by_library(int type, int a, int b, int c)
{
  GA_Zero(c);
  if (type == C_DBL) GA_Dgemm('n', 'n', N, N, N, 1, a, b, 0, c);
  if (type == C_FLOAT) GA_Sgemm('n', 'n', N, N, N, 1, a, b, 0, c);
  if (type == C_DCPL) GA_Zgemm('n', 'n', N, N, N, (DoubleComplex){1, 0}, a, b, (DoubleComplex){0, 0}, c);
  if (type == C_SCPL) GA_Cgemm('n', 'n', N, N, N, (SingleComplex){1, 0}, a, b, (SingleComplex){0, 0}, c);
}

static void sums(int type, const char *name, int a, int b, int c)
{
  double complex two, minus;
  int lo[2] = {3, 5}, hi[2] = {60, 80}, clo[2] = {10, 2}, chi[2] = {67, 77};
  store(type, &two, 0, 2);
  store(type, &minus, 0, -1);
  GA_Add(&two, a, &minus, b, c);
  say("sum", name, print_of(c, type));
  NGA_Add_patch(&minus, a, lo, hi, &two, b, lo, hi, c, clo, chi);
  say("sum of patches", name, print_of(c, type));
  GA_Scale(c, &two);
  GA_Sync();
  say("twice", name, print_of(c, type));
}

int main(int argc, char **argv)
{
  static const struct {
    int type;
    const char *name;
  } types[] = {{C_INT, "ints"},    {C_LONG, "longs"},          {C_FLOAT, "floats"},
               {C_DBL, "doubles"}, {C_SCPL, "complex floats"}, {C_DCPL, "complex doubles"}};
  MPI_Init(&argc, &argv);
  GA_Initialize();
  if (!MA_init(C_DBL, 2000000, 2000000)) GA_Error("no memory", 1);
  me = GA_Nodeid();
  n = GA_Nnodes();
  for (int t = 0; t < 6; t++) {
    int type = types[t].type, a = matrix(type, "a"), b = matrix(type, "b"), c = matrix(type, "c");
    fill(a, type, 1);
    fill(b, type, 4);
    by_fetching(type, a, b, c);
    say("product by fetching", types[t].name, print_of(c, type));
    by_tasks(type, a, b, c);
    say("product by tasks", types[t].name, print_of(c, type));
    if (t >= 2) {
      by_library(type, a, b, c);
      say("product by the library", types[t].name, print_of(c, type));
    }
    sums(type, types[t].name, a, b, c);
    GA_Destroy(a);
    GA_Destroy(b);
    GA_Destroy(c);
  }
  GA_Terminate();
  MPI_Finalize();
  return 0;
}
