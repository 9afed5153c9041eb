/*
 * halo.c - Jacobi relaxation of a square field that is divided into blocks, one for each PE. In each step a PE needs
 * its neighbours' edges, the "halo".
 *
 * The exchange is one-sided. A PE puts its edge into the neighbour's halo buffer and then raises the neighbour's
 * flag. The neighbour waits for the flag. Where the PEs have unequal work (--imbalance), most of their time is this
 * wait, and a profile shows it.
 *
 * The field starts as a product of sines, which one Jacobi step multiplies by a known number. So every PE can check
 * its block after any number of steps, and detects a halo that was late or missing.
 */
#include <math.h>
#include <shmem.h>
#include <stdint.h>
#include <time.h>

#include "options.h"

enum { WEST, EAST, NORTH, SOUTH, SIDES };
static const int opposite[SIDES] = {EAST, WEST, SOUTH, NORTH};

/* flag[side] on a PE is the number of halos that its neighbour on that side has delivered. There are two halo
 * buffers, used alternately. A neighbour can be one step ahead but not two, because it needs this PE's halo, too. */
static uint64_t flag[SIDES];

typedef struct block {
  int neighbour[SIDES]; /* PE, or -1 at the border of the field */
  int x0, y0, nx, ny;   /* this PE's part of the field */
  int longest;          /* longest edge of any block; halo buffers have this length on every PE */
  double *now, *next;   /* (ny + 2) rows of (nx + 2): the block and its halo */
  double *edge;         /* one packed edge */
  double *halo;         /* symmetric: [turn][side][longest] */
} block;

static double *cell(double *field, const block *b, int x, int y)
{
  return field + (size_t)(y + 1) * (b->nx + 2) + (x + 1);
}

static double *halo_buffer(const block *b, int turn, int side)
{
  return b->halo + ((size_t)turn * SIDES + side) * b->longest;
}

/* The value of the starting field at a global point. The field's border, 0 and size + 1, is zero. */
static double wave(int size, int x, int y)
{
  return sin(M_PI * x / (size + 1)) * sin(M_PI * y / (size + 1));
}

/* The factor by which `steps` Jacobi steps multiply the starting field. */
static double decay(int size, long steps)
{
  return pow(cos(M_PI / (size + 1)), (double)steps);
}

/* Divides the field into columns x rows blocks, as square as the number of PEs allows, and finds this PE's. */
static void block_place(block *b, int size, int me, int n)
{
  int rows = (int)sqrt(n);
  while (n % rows) rows--;
  int columns = n / rows, cx = me % columns, cy = me / columns;
  b->x0 = (int)((long)size * cx / columns);
  b->y0 = (int)((long)size * cy / rows);
  b->nx = (int)((long)size * (cx + 1) / columns) - b->x0;
  b->ny = (int)((long)size * (cy + 1) / rows) - b->y0;
  b->longest = size / rows + 1; /* rows <= columns, so this is the longer kind of edge */
  b->neighbour[WEST] = cx > 0 ? me - 1 : -1;
  b->neighbour[EAST] = cx < columns - 1 ? me + 1 : -1;
  b->neighbour[NORTH] = cy > 0 ? me - columns : -1;
  b->neighbour[SOUTH] = cy < rows - 1 ? me + columns : -1;
}

static bool block_allocate(block *b)
{
  size_t cells = (size_t)(b->nx + 2) * (b->ny + 2);
  b->now = calloc(cells, sizeof(double));
  b->next = calloc(cells, sizeof(double));
  b->edge = calloc(b->longest, sizeof(double));
  b->halo = shmem_malloc(2 * SIDES * (size_t)b->longest * sizeof(double)); /* the same size on every PE */
  return b->now && b->next && b->edge && b->halo;
}

static void block_free(block *b)
{
  shmem_free(b->halo);
  free(b->edge);
  free(b->next);
  free(b->now);
}

static void block_fill(block *b, int size)
{
  for (int y = 0; y < b->ny; y++)
    for (int x = 0; x < b->nx; x++) *cell(b->now, b, x, y) = wave(size, b->x0 + x + 1, b->y0 + y + 1);
}

/* A point of one edge. `depth` 0 is the block's own outermost line, -1 the halo outside it. */
static double *edge_cell(const block *b, int side, int depth, int i)
{
  switch (side) {
  case WEST: return cell(b->now, b, depth, i);
  case EAST: return cell(b->now, b, b->nx - 1 - depth, i);
  case NORTH: return cell(b->now, b, i, depth);
  default: return cell(b->now, b, i, b->ny - 1 - depth);
  }
}

static int edge_length(const block *b, int side)
{
  return side == WEST || side == EAST ? b->ny : b->nx;
}

/* Puts this PE's edges into the neighbours' halos, then copies the received halos. */
static void exchange(block *b, uint64_t step)
{
  int turn = step & 1;
  for (int side = 0; side < SIDES; side++) {
    int to = b->neighbour[side], n = edge_length(b, side);
    if (to < 0) continue;
    for (int i = 0; i < n; i++) b->edge[i] = *edge_cell(b, side, 0, i);
    shmem_double_put(halo_buffer(b, turn, opposite[side]), b->edge, n, to);
    shmem_fence(); /* the flag must not overtake the data */
    shmem_uint64_p(&flag[opposite[side]], step + 1, to);
  }
  for (int side = 0; side < SIDES; side++) {
    if (b->neighbour[side] < 0) continue;
    shmem_uint64_wait_until(&flag[side], SHMEM_CMP_GE, step + 1);
    const double *halo = halo_buffer(b, turn, side);
    for (int i = 0; i < edge_length(b, side); i++) *edge_cell(b, side, -1, i) = halo[i];
  }
}

/* One Jacobi step for one row: each point becomes the mean of its four neighbours. */
static void relax_row(block *b, int y)
{
  const double *above = cell(b->now, b, 0, y - 1), *row = cell(b->now, b, 0, y), *below = cell(b->now, b, 0, y + 1);
  double *out = cell(b->next, b, 0, y);
  for (int x = 0; x < b->nx; x++) out[x] = 0.25 * (row[x - 1] + row[x + 1] + above[x] + below[x]);
}

/* Relaxes the whole block, with `work` times the necessary work, by repeating rows. */
static void relax(block *b, double work)
{
  long rows = (long)(b->ny * work);
  for (long i = 0; i < rows; i++) relax_row(b, (int)(i % b->ny));
  double *swap = b->now;
  b->now = b->next;
  b->next = swap;
}

/* The largest error of this PE's block, relative to the present size of the field. */
static double block_error(block *b, int size, long steps)
{
  double scale = decay(size, steps), worst = 0;
  for (int y = 0; y < b->ny; y++)
    for (int x = 0; x < b->nx; x++) {
      double error = fabs(*cell(b->now, b, x, y) / scale - wave(size, b->x0 + x + 1, b->y0 + y + 1));
      if (!(error <= worst)) worst = error; /* a NaN counts as the worst */
    }
  return worst;
}

/* The largest value of all PEs, on PE 0. `all` is symmetric with one value for each PE. */
static double largest_on_pe0(double *all, double mine)
{
  shmem_barrier_all();
  shmem_double_p(&all[shmem_my_pe()], mine, 0);
  shmem_barrier_all();
  double most = all[0];
  for (int pe = 1; pe < shmem_n_pes(); pe++)
    if (!(all[pe] <= most)) most = all[pe];
  return most;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run(int size, long steps, double imbalance)
{
  static int wrong; /* symmetric: PE 0 stores the result on all PEs */
  int me = shmem_my_pe(), n = shmem_n_pes();
  if (decay(size, steps) < 1e-200) {
    if (me == 0)
      fprintf(stderr, "halo: after %ld steps too little of %d x %d points is left to check; use fewer\n", steps, size,
              size);
    return 64;
  }
  if (n > size) {
    if (me == 0) fprintf(stderr, "halo: %d x %d points are too few for %d PEs; use a larger --size\n", size, size, n);
    return 64;
  }
  block b = {0};
  block_place(&b, size, me, n);
  double *all = shmem_malloc((size_t)n * sizeof(double));
  if (!all || !block_allocate(&b)) {
    fprintf(stderr, "halo: PE %d: not enough memory for a block of %d x %d; use a smaller --size\n", me, b.nx, b.ny);
    shmem_global_exit(1);
  }
  block_fill(&b, size);
  shmem_barrier_all();

  double start = now();
  for (long step = 0; step < steps; step++) {
    exchange(&b, step);
    relax(&b, me == n - 1 ? imbalance : 1);
  }
  double seconds = largest_on_pe0(all, now() - start);
  double error = largest_on_pe0(all, block_error(&b, size, steps));

  if (me == 0) {
    bool bad = !(error < 1e-11);
    printf("halo: %d x %d, %ld steps on %d PEs: %.3f s, %.1f M points/s, largest error %.1e: %s\n", size, size, steps,
           n, seconds, 1e-6 * size * size * (double)steps / seconds, error, bad ? "WRONG" : "correct");
    for (int pe = 0; pe < n; pe++) shmem_int_p(&wrong, bad, pe);
  }
  shmem_barrier_all();
  block_free(&b);
  shmem_free(all);
  return wrong;
}

int main(int argc, char **argv)
{
  option options[] = {
      {"size", 512, 2, 32768, "points along one side of the field"},
      {"steps", 500, 1, 1e7, "Jacobi steps"},
      {"imbalance", 1, 1, 100, "work of the last PE, as a multiple of the others'"},
  };
  shmem_init();
  int code = options_parse(argc, argv, "Jacobi relaxation with a halo exchange; checks its own result", options, 3,
                           shmem_my_pe() == 0);
  int result = code == OPTIONS_WRONG ? 64 : 0;
  if (code == OPTIONS_GO) result = run((int)options[0].value, (long)options[1].value, options[2].value);
  shmem_finalize();
  return result;
}
