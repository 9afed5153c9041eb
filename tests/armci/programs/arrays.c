/*
 * arrays.c - uses the one-sided communication of Global Arrays as its programs do, with results that do not depend on
 * timing.
 *
 * It prints one line for each part. The lines must be the same over any ARMCI.
 */
#include <ga-mpi.h>
#include <ga.h>
#include <macdecls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 130, COLUMNS = 90, N = 96 };

static int me, n;

static int array(int type, int rows, int columns, char *name)
{
  int dims[2] = {rows, columns}, a = NGA_Create(type, 2, dims, name, NULL);
  if (!a) GA_Error("no array", 1);
  return a;
}

static void say(const char *what, double value)
{
  if (me == 0) printf("%s %.12g\n", what, value);
}

/* Rounds of puts to own patches, gets from others', accumulates by all to the same. */
static void patches(void)
{
  int a = array(C_DBL, ROWS, COLUMNS, "patches"), lo[2], hi[2], ld = COLUMNS;
  double *buffer = malloc(sizeof(double) * ROWS * COLUMNS), half = 0.5, sum = 0;
  GA_Zero(a);
  for (int row = me; row < ROWS; row += n) {
    for (int c = 0; c < COLUMNS; c++) buffer[c] = row * 1000 + c;
    lo[0] = hi[0] = row;
    lo[1] = 0;
    hi[1] = COLUMNS - 1;
    NGA_Put(a, lo, hi, buffer, &ld);
  }
  GA_Sync();
  for (int i = 0; i < ROWS * COLUMNS; i++) buffer[i] = i % 17;
  lo[0] = 3, hi[0] = ROWS - 5, lo[1] = 7, hi[1] = COLUMNS - 2;
  ld = hi[1] - lo[1] + 1;
  for (int round = 0; round < 12; round++)
    if (round % n == me) NGA_Acc(a, lo, hi, buffer, &ld, &half);
  GA_Sync();
  lo[0] = (me * 7) % 40, hi[0] = lo[0] + 60, lo[1] = 0, hi[1] = COLUMNS - 1, ld = COLUMNS;
  NGA_Get(a, lo, hi, buffer, &ld);
  for (int i = 0; i < 61 * COLUMNS; i++) sum += buffer[i] * (i % 3) / (me + 1.0);
  double all = GA_Ddot(a, a);
  say("patches", all);
  if (me == 0) say("patch of 0", sum);
  double *again = malloc(sizeof(double) * ROWS * COLUMNS);
  ga_nbhdl_t handle;
  NGA_NbGet(a, lo, hi, again, &ld, &handle);
  NGA_NbWait(&handle);
  double wrong = 0;
  for (int i = 0; i < 61 * COLUMNS; i++) wrong += again[i] != buffer[i];
  GA_Dgop(&wrong, 1, "+");
  say("wrong without blocking", wrong);
  free(again);
  GA_Destroy(a);
  free(buffer);
}

static void elements(void)
{
  enum { MANY = 200 };
  int a = array(C_DBL, ROWS, COLUMNS, "elements"), *at[MANY], places[MANY][2];
  double values[MANY], got[MANY], one = 1, sum = 0;
  GA_Zero(a);
  for (int i = 0; i < MANY; i++) {
    places[i][0] = (i * 37 + me) % ROWS;
    places[i][1] = (i * 11) % COLUMNS;
    at[i] = places[i];
    values[i] = i + 1;
  }
  NGA_Scatter_acc(a, values, at, MANY, &one);
  GA_Sync();
  NGA_Gather(a, got, at, MANY);
  for (int i = 0; i < MANY; i++) sum += got[i];
  say("elements", GA_Ddot(a, a));
  if (me == 0) say("gathered by 0", sum);
  GA_Sync();
  if (me == 0) {
    for (int i = 0; i < MANY; i++) values[i] = -i;
    NGA_Scatter(a, values, at, MANY);
  }
  GA_Sync();
  say("scattered", GA_Ddot(a, a));
  GA_Destroy(a);
}

static void counters_and_locks(void)
{
  int dims[1] = {4}, a = NGA_Create(C_LONG, 1, dims, "counters", NULL), at[1] = {1}, lo[1] = {2}, ld[1] = {1};
  long sum = 0, value;
  GA_Zero(a);
  for (int i = 0; i < 40; i++) sum += NGA_Read_inc(a, at, 3);
  GA_Lgop(&sum, 1, "+");
  say("counter", (double)sum);
  GA_Create_mutexes(2);
  for (int i = 0; i < 25; i++) {
    GA_Lock(1);
    NGA_Get(a, lo, lo, &value, ld);
    value += 2;
    NGA_Put(a, lo, lo, &value, ld);
    GA_Init_fence();
    GA_Fence();
    GA_Unlock(1);
  }
  GA_Sync();
  NGA_Get(a, lo, lo, &value, ld);
  say("under a lock", (double)value / n);
  GA_Destroy_mutexes();
  GA_Destroy(a);
}

static void fill(int a, double by)
{
  int lo[2], hi[2], ld;
  double *p;
  NGA_Distribution(a, me, lo, hi);
  if (hi[0] >= lo[0] && lo[0] >= 0) {
    NGA_Access(a, lo, hi, &p, &ld);
    for (int r = lo[0]; r <= hi[0]; r++)
      for (int c = lo[1]; c <= hi[1]; c++) p[(r - lo[0]) * ld + c - lo[1]] = ((r * 31 + c * 17) % 23 - 11) * by;
    NGA_Release_update(a, lo, hi);
  }
  GA_Sync();
}

static void algebra(void)
{
  int a = array(C_DBL, N, N, "a"), b = array(C_DBL, N, N, "b"), c = array(C_DBL, N, N, "c");
  double two = 2, three = 3;
  fill(a, 1);
  fill(b, 0.5);
  GA_Zero(c);
  GA_Dgemm('n', 't', N, N, N, 1.0, a, b, 0.0, c);
  say("product", GA_Ddot(c, c));
  GA_Add(&two, a, &three, b, c);
  say("sum", GA_Ddot(c, c));
  GA_Transpose(a, c);
  say("transposed", GA_Ddot(c, b));
  GA_Symmetrize(c);
  GA_Scale(c, &two);
  int at[2];
  double most;
  NGA_Select_elem(c, "max", &most, at);
  say("greatest", most);
  int lo[2] = {5, 6}, hi[2] = {60, 50}, clo[2] = {20, 30}, chi[2] = {75, 74};
  NGA_Copy_patch('n', a, lo, hi, c, clo, chi);
  say("copied", GA_Ddot(c, c));
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(c);
}

static void ghosts(void)
{
  int dims[2] = {40, 30}, width[2] = {2, 1}, lo[2], hi[2], ld[2], extent[2];
  int a = NGA_Create_ghosts(C_DBL, 2, dims, width, "ghosts", NULL);
  double *p, sum = 0;
  fill(a, 2);
  GA_Update_ghosts(a);
  NGA_Distribution(a, me, lo, hi);
  NGA_Access_ghosts(a, extent, &p, ld);
  /* Each border must be what its owner has: all of it, weighted by where it is. */
  for (int r = 0; r < extent[0]; r++)
    for (int c = 0; c < extent[1]; c++) {
      int row = (lo[0] + r - width[0] + dims[0]) % dims[0], column = (lo[1] + c - width[1] + dims[1]) % dims[1];
      if (p[r * ld[0] + c] != ((row * 31 + column * 17) % 23 - 11) * 2.0) sum++;
    }
  GA_Dgop(&sum, 1, "+");
  say("wrong ghosts", sum);
  GA_Destroy(a);
}

static void groups(void)
{
  int *list = malloc(sizeof(int) * (size_t)n), k = 0, dims[2] = {50, 20};
  for (int i = me % 2; i < n; i += 2) list[k++] = i;
  int group = GA_Pgroup_create(list, k), a = GA_Create_handle();
  GA_Set_data(a, 2, dims, C_DBL);
  GA_Set_pgroup(a, group);
  GA_Allocate(a);
  double value = 1.5, sum = me + 1;
  GA_Fill(a, &value);
  GA_Pgroup_sync(group);
  GA_Pgroup_dgop(group, &sum, 1, "+");
  double dot = GA_Ddot(a, a);
  GA_Pgroup_sync(group);
  say("in a group", dot);
  say("over a group", sum);
  int members;
  MPI_Comm_size(GA_MPI_Comm_pgroup(group), &members);
  say("members", members);
  GA_Destroy(a);
  GA_Sync();
  GA_Pgroup_destroy(group);
  free(list);
}

/* Heat in a plate, until it changes little. */
static void jacobi(void)
{
  enum { SIDE = 48 };
  int a = array(C_DBL, SIDE, SIDE, "old"), b, lo[2], hi[2], ld, steps = 0;
  double zero = 0, hot = 100, *in = malloc(sizeof(double) * SIDE * SIDE), *out = malloc(sizeof(double) * SIDE * SIDE),
         change;
  GA_Fill(a, &zero);
  if (me == 0) {
    for (int i = 0; i < SIDE; i++) in[i] = hot;
    lo[0] = hi[0] = 0, lo[1] = 0, hi[1] = SIDE - 1, ld = SIDE;
    NGA_Put(a, lo, hi, in, &ld);
  }
  b = GA_Duplicate(a, "new");
  GA_Copy(a, b);
  int first = 1 + (SIDE - 2) * me / n, last = (SIDE - 2) * (me + 1) / n;
  do {
    change = 0;
    if (last >= first) {
      lo[0] = first - 1, hi[0] = last + 1, lo[1] = 0, hi[1] = SIDE - 1, ld = SIDE;
      NGA_Get(a, lo, hi, in, &ld);
      for (int r = 1; r <= last - first + 1; r++)
        for (int c = 1; c < SIDE - 1; c++) {
          double *v = &in[r * SIDE + c], w = (v[-1] + v[1] + v[-SIDE] + v[SIDE]) / 4;
          out[(r - 1) * (SIDE - 2) + c - 1] = w;
          if (fabs(w - *v) > change) change = fabs(w - *v);
        }
      lo[0] = first, hi[0] = last, lo[1] = 1, hi[1] = SIDE - 2, ld = SIDE - 2;
      NGA_Put(b, lo, hi, out, &ld);
    }
    GA_Sync();
    GA_Dgop(&change, 1, "max");
    int other = a;
    a = b;
    b = other;
    steps++;
  } while (change > 0.05);
  say("steps", steps);
  say("heat", GA_Ddot(a, a));
  GA_Destroy(a);
  GA_Destroy(b);
  free(in);
  free(out);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  GA_Initialize();
  if (!MA_init(C_DBL, 2000000, 2000000)) GA_Error("no memory", 1);
  me = GA_Nodeid();
  n = GA_Nnodes();
  patches();
  elements();
  counters_and_locks();
  algebra();
  ghosts();
  groups();
  jacobi();
  GA_Terminate();
  MPI_Finalize();
  return 0;
}
