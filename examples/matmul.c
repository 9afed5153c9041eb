/*
 * matmul.c - C = A * B of square matrices whose rows are distributed over the PEs. A PE multiplies its rows of A
 * with the rows of B of one PE after the other, and gets the next rows meanwhile: communication overlaps
 * computation.
 *
 * The check (Freivalds') costs little compared with the product: for a vector x, C * x must be A * (B * x). The
 * elements are small whole numbers, so both sides are exact.
 */
#include <shmem.h>
#include <time.h>

#include "options.h"

typedef struct matrices {
  int n, rows, first,
      mine; /* n x n; rows of each PE, the first row of this PE, and its number of rows (the last may have fewer) */
  double *a, *b, *c; /* b is symmetric: other PEs get it */
  double *next[2];   /* rows of b, alternately: those in use, and those that arrive */
} matrices;

static void fill(matrices *m)
{
  for (int i = 0; i < m->mine; i++)
    for (int j = 0; j < m->n; j++) {
      int row = m->first + i;
      m->a[(size_t)i * (size_t)m->n + (size_t)j] = (row * 7 + j * 3) % 11 - 5;
      m->b[(size_t)i * (size_t)m->n + (size_t)j] = (row * 5 + j * 2) % 13 - 6;
      m->c[(size_t)i * (size_t)m->n + (size_t)j] = 0;
    }
}

static int rows_of(const matrices *m, int pe)
{
  int left = m->n - pe * m->rows;
  return left < 0 ? 0 : left < m->rows ? left : m->rows;
}

/* c += a's columns of PE `pe` times its rows of b. */
static void multiply(matrices *m, const double *b, int pe)
{
  size_t n = (size_t)m->n, rows = (size_t)rows_of(m, pe), first = (size_t)pe * (size_t)m->rows;
  for (size_t i = 0; i < (size_t)m->mine; i++)
    for (size_t k = 0; k < rows; k++) {
      double factor = m->a[i * n + first + k];
      for (size_t j = 0; j < n; j++) m->c[i * n + j] += factor * b[k * n + j];
    }
}

static void product(matrices *m)
{
  int me = shmem_my_pe(), pes = shmem_n_pes();
  const double *now = m->b;
  for (int step = 0; step < pes; step++) {
    int pe = (me + step) % pes, coming = (me + step + 1) % pes;
    double *room = m->next[step % 2];
    if (step + 1 < pes) shmem_double_get_nbi(room, m->b, (size_t)rows_of(m, coming) * (size_t)m->n, coming);
    multiply(m, now, pe);
    shmem_quiet(); /* the next rows have arrived */
    now = room;
  }
}

/* y = rows of `of` times x; y on all PEs. */
static void times_vector(const matrices *m, const double *of, const double *x, double *part, double *y)
{
  for (int i = 0; i < m->rows; i++) {
    part[i] = 0;
    for (int j = 0; i < m->mine && j < m->n; j++) part[i] += of[(size_t)i * (size_t)m->n + (size_t)j] * x[j];
  }
  shmem_double_fcollect(SHMEM_TEAM_WORLD, y, part, (size_t)m->rows);
  shmem_barrier_all();
}

static bool is_right(const matrices *m)
{
  size_t all = (size_t)m->rows * (size_t)shmem_n_pes();
  double *x = malloc(all * sizeof *x), *part = shmem_malloc((size_t)m->rows * sizeof *part);
  double *bx = shmem_malloc(all * sizeof *bx), *abx = shmem_malloc(all * sizeof *abx);
  double *cx = shmem_malloc(all * sizeof *cx);
  for (size_t j = 0; j < all; j++) x[j] = (double)(j * j % 5) - 2;
  times_vector(m, m->b, x, part, bx);
  times_vector(m, m->a, bx, part, abx);
  times_vector(m, m->c, x, part, cx);
  bool right = memcmp(abx, cx, (size_t)m->n * sizeof *cx) == 0;
  shmem_free(cx);
  shmem_free(abx);
  shmem_free(bx);
  shmem_free(part);
  free(x);
  return right;
}

static int run(int n)
{
  int me = shmem_my_pe(), pes = shmem_n_pes();
  matrices m = {.n = n, .rows = (n + pes - 1) / pes};
  size_t bytes = (size_t)m.rows * (size_t)n * sizeof(double);
  m.first = me * m.rows;
  m.mine = rows_of(&m, me);
  m.b = shmem_malloc(bytes);
  m.a = malloc(bytes);
  m.c = malloc(bytes);
  m.next[0] = malloc(bytes);
  m.next[1] = malloc(bytes);
  if (!m.a || !m.b || !m.c || !m.next[0] || !m.next[1]) {
    fprintf(stderr, "matmul: PE %d: not enough memory; use a smaller --size or a larger SHMEM_SYMMETRIC_SIZE\n", me);
    shmem_global_exit(1);
  }
  fill(&m);
  struct timespec start, end;
  shmem_barrier_all();
  clock_gettime(CLOCK_MONOTONIC, &start);
  product(&m);
  shmem_barrier_all();
  clock_gettime(CLOCK_MONOTONIC, &end);
  double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
  bool bad = !is_right(&m);
  if (me == 0)
    printf("matmul: %d x %d on %d PEs: %.3f s, %.2f Gflop/s: %s\n", n, n, pes, seconds,
           2e-9 * n * (double)n * n / seconds, bad ? "WRONG" : "correct");
  free(m.next[1]);
  free(m.next[0]);
  free(m.c);
  free(m.a);
  shmem_free(m.b);
  return bad;
}

int main(int argc, char **argv)
{
  option options[] = {{"size", 512, 1, 32768, "rows and columns"}};
  shmem_init();
  int code = options_parse(argc, argv, "product of two square matrices; checks its own result", options, 1,
                           shmem_my_pe() == 0);
  int result = code == OPTIONS_WRONG ? 64 : 0;
  if (code == OPTIONS_GO) result = run((int)options[0].value);
  shmem_finalize();
  return result;
}
