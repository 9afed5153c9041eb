/*
 * operations.c - tests less common operations of Global Arrays, each of which uses ARMCI in a different way.
 *
 * It prints one line for each operation. The lines must be the same over any ARMCI and for any number of processes.
 */
#include <ga-mpi.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 48, ROW = 200 };

static int me, n;

static void say(const char *what, double value)
{
  if (me == 0) printf("%s %.10g\n", what, value);
}

static int matrix(int type, int rows, int columns, char *name)
{
  int dims[2] = {rows, columns}, a = NGA_Create(type, 2, dims, name, NULL);
  if (!a) GA_Error("no array", 1);
  return a;
}

static int vector(int type, int length, char *name)
{
  int dims[1] = {length}, a = NGA_Create(type, 1, dims, name, NULL);
  if (!a) GA_Error("no array", 2);
  return a;
}

/* By whole rows, by all processes. */
static void fill(int a, int seed)
{
  double row[N];
  int lo[2] = {0, 0}, hi[2] = {0, N - 1}, ld = N;
  for (int r = me; r < N; r += n) {
    for (int c = 0; c < N; c++) row[c] = (r * 7 + c * 5 + seed) % 19 - 9 + (r == c ? 50 : 0);
    lo[0] = hi[0] = r;
    NGA_Put(a, lo, hi, row, &ld);
  }
  GA_Sync();
}

static double print_of(int a)
{
  static double x[N * N];
  double sum = 0;
  int lo[2] = {0, 0}, hi[2] = {N - 1, N - 1}, ld = N;
  NGA_Get(a, lo, hi, x, &ld);
  for (int i = 0; i < N * N; i++) sum += x[i] * (i % 17 + 1);
  GA_Sync();
  return sum;
}

static void element_by_element(void)
{
  int a = matrix(C_DBL, N, N, "a"), b = matrix(C_DBL, N, N, "b"), c = matrix(C_DBL, N, N, "c"), at[2];
  double step, norm, v = 3;
  fill(a, 1);
  fill(b, 2);
  GA_Elem_multiply(a, b, c);
  say("multiplied", print_of(c));
  GA_Elem_maximum(a, b, c);
  say("the greater", print_of(c));
  GA_Abs_value(c);
  GA_Add_constant(c, &v);
  say("magnitude and three", print_of(c));
  GA_Elem_divide(a, c, b);
  say("divided", print_of(b));
  GA_Recip(c);
  say("reciprocal", print_of(c));
  GA_Norm1(a, &norm);
  say("norm by columns", norm);
  GA_Norm_infinity(a, &norm);
  say("norm by rows", norm);
  GA_Shift_diagonal(a, &v);
  GA_Symmetrize(a);
  say("symmetric", print_of(a));
  NGA_Select_elem(a, "min", &v, at);
  say("least", v);
  v = 2;
  GA_Fill(b, &v);
  GA_Abs_value(a);
  GA_Step_max(a, b, &step);
  say("step", step);
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(c);
}

/* Rows with gaps; around the edges. */
static void patches_of_other_kinds(void)
{
  enum { SOME = 12 };
  int a = matrix(C_DBL, N, N, "a"), lo[2] = {2, 3}, hi[2] = {24, 43}, skip[2] = {2, 5}, ld = 9;
  double buffer[12 * 9], around[SOME * SOME], half = 0.5;
  fill(a, 3);
  for (int i = 0; i < 12 * 9; i++) buffer[i] = i;
  if (me == n - 1) NGA_Strided_put(a, lo, hi, skip, buffer, &ld);
  GA_Sync();
  NGA_Strided_acc(a, lo, hi, skip, buffer, &ld, &half);
  GA_Sync();
  NGA_Strided_get(a, lo, hi, skip, buffer, &ld);
  GA_Sync();
  double sum = 0;
  for (int i = 0; i < 12 * 9; i++) sum += buffer[i] / (1 + n * 0.5) * (i % 3);
  say("with gaps", sum);
  fill(a, 4);
  lo[0] = -5, hi[0] = SOME - 6, lo[1] = N - 4, hi[1] = N + SOME - 5, ld = SOME;
  NGA_Periodic_get(a, lo, hi, around, &ld);
  GA_Sync();
  if (me == 0) NGA_Periodic_acc(a, lo, hi, around, &ld, &half);
  GA_Sync();
  say("around the edges", print_of(a));
  GA_Destroy(a);
}

static void lists_of_elements(void)
{
  enum { LENGTH = 500 };
  int a = vector(C_LONG, LENGTH, "source"), b = vector(C_LONG, LENGTH, "target"), mask = vector(C_LONG, LENGTH, "mask"),
      lo[1] = {0}, hi[1] = {LENGTH - 1}, ld = 1, count = 0;
  long start = 5, by = 3, x[LENGTH], sum = 0;
  GA_Patch_enum(a, 0, LENGTH - 1, &start, &by);
  GA_Zero(mask);
  if (me == 0) {
    for (int i = 0; i < LENGTH; i++) x[i] = i % 7 == 0;
    NGA_Put(mask, lo, hi, x, &ld);
  }
  GA_Sync();
  GA_Pack(a, b, mask, 0, LENGTH - 1, &count);
  say("packed", count);
  GA_Zero(a);
  GA_Unpack(b, a, mask, 0, LENGTH - 1, &count);
  NGA_Get(a, lo, hi, x, &ld);
  for (int i = 0; i < LENGTH; i++) sum += x[i] * (i % 11);
  say("unpacked", (double)sum);
  GA_Sync();
  GA_Zero(b);
  GA_Scan_copy(a, b, mask, 0, LENGTH - 1);
  NGA_Get(b, lo, hi, x, &ld);
  sum = 0;
  for (int i = 0; i < LENGTH; i++) sum += x[i] * (i % 11);
  say("copied on", (double)sum);
  GA_Sync();
  GA_Scan_add(a, b, mask, 0, LENGTH - 1, 0);
  NGA_Get(b, lo, hi, x, &ld);
  sum = 0;
  for (int i = 0; i < LENGTH; i++) sum += x[i] * (i % 11);
  say("added on", (double)sum);
  GA_Sync();
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(mask);
}

/* Blocks in turns, on a grid of processes or not; blocks of given lengths; on some processes alone. */
static void distributions_of_other_kinds(void)
{
  int dims[2] = {N, N}, block[2] = {10, 7}, a = GA_Create_handle(), lengths[2] = {2, 1}, map[3] = {0, 30, 0}, list[1];
  GA_Set_data(a, 2, dims, C_DBL);
  GA_Set_block_cyclic(a, block);
  if (!GA_Allocate(a)) GA_Error("no array", 3);
  fill(a, 5);
  say("blocks in turns", print_of(a) + GA_Ddot(a, a));
  GA_Destroy(a);
  lengths[0] = n < 2 ? 1 : 2; /* no more blocks than processes */
  map[lengths[0]] = 0;
  a = NGA_Create_irreg(C_DBL, 2, dims, "lengths", lengths, map);
  fill(a, 6);
  say("blocks of given lengths", print_of(a) + GA_Ddot(a, a));
  GA_Destroy(a);
  list[0] = n - 1;
  a = GA_Create_handle();
  GA_Set_data(a, 2, dims, C_DBL);
  GA_Set_restricted(a, list, 1);
  if (!GA_Allocate(a)) GA_Error("no array", 4);
  fill(a, 7);
  say("on one process", print_of(a));
  GA_Destroy(a);
}

/* On each node a copy, which all sum up. */
static void mirrored(void)
{
  int dims[2] = {N, N}, a = GA_Create_handle(), b = matrix(C_DBL, N, N, "whole");
  GA_Set_data(a, 2, dims, C_DBL);
  GA_Set_pgroup(a, GA_Pgroup_get_mirror());
  if (!GA_Allocate(a)) GA_Error("no array", 5);
  GA_Zero(a);
  GA_Sync();
  double one = 1, row[N];
  int lo[2] = {0, 0}, hi[2] = {0, N - 1}, ld = N;
  for (int c = 0; c < N; c++) row[c] = c + 1;
  for (int r = me; r < N; r += n) {
    lo[0] = hi[0] = r;
    NGA_Acc(a, lo, hi, row, &ld, &one);
  }
  GA_Sync();
  GA_Merge_mirrored(a);
  GA_Copy(a, b);
  say("mirrored", print_of(b));
  GA_Destroy(a);
  GA_Destroy(b);
}

/* A part of an array may be read more cheaply while no process writes. */
static void read_only(void)
{
  int a = matrix(C_DBL, N, N, "constant");
  fill(a, 8);
  GA_Set_property(a, "read_only");
  say("only read", print_of(a));
  GA_Unset_property(a);
  fill(a, 9);
  say("written again", print_of(a));
  GA_Destroy(a);
}

typedef struct record {
  int number;
  char pad[4];
  double values[3];
} record;

/* Arrays of structures, of which one field is put and got. */
static void fields(void)
{
  int type = NGA_Register_type(sizeof(record)), dims[1] = {ROW}, a = NGA_Create(type, 1, dims, "records", NULL);
  int lo[1] = {0}, hi[1] = {ROW - 1}, ld = 1, numbers[ROW], got[ROW];
  record *all = calloc(ROW, sizeof *all);
  double sum = 0;
  if (!a) GA_Error("no array", 6);
  for (int i = 0; i < ROW; i++) numbers[i] = 3 * i, all[i].values[1] = i;
  if (me == 0) NGA_Put(a, lo, hi, all, &ld);
  GA_Sync();
  if (me == n - 1) NGA_Put_field(a, lo, hi, 0, sizeof(int), numbers, &ld);
  GA_Sync();
  NGA_Get_field(a, lo, hi, 0, sizeof(int), got, &ld);
  NGA_Get(a, lo, hi, all, &ld);
  for (int i = 0; i < ROW; i++) sum += (got[i] - numbers[i]) + all[i].values[1] + all[i].number;
  say("fields", sum);
  GA_Sync();
  GA_Destroy(a);
  NGA_Deregister_type(type);
  free(all);
}

static void several_groups(void)
{
  int group = GA_Pgroup_split(GA_Pgroup_get_world(), 2 < n ? 2 : 1), other, mine = GA_Pgroup_nodeid(group), sum = me;
  GA_Pgroup_igop(group, &sum, 1, "max");
  int first = GA_Pgroup_absolute_id(group, 0), word = mine == 0 ? 7 + first : 0;
  GA_Pgroup_brdcst(group, &word, sizeof word, 0);
  if (word != 7 + first) GA_Error("another one's word", word);
  GA_Pgroup_set_default(group);
  int a = matrix(C_DBL, N, N, "of a group");
  double one = 1;
  GA_Fill(a, &one);
  double dot = GA_Ddot(a, a);
  GA_Destroy(a);
  GA_Pgroup_set_default(GA_Pgroup_get_world());
  say("in a half", dot);
  other = GA_Pgroup_split_irreg(GA_Pgroup_get_world(), me % 2);
  int ones = 1;
  GA_Pgroup_igop(other, &ones, 1, "+");
  if (ones != (n + (me % 2 == 0)) / 2) GA_Error("another number of members", ones);
  GA_Pgroup_sync(other);
  GA_Sync();
  GA_Pgroup_destroy(other);
  GA_Pgroup_destroy(group);
}

static void sums_of_all(void)
{
  int i[3] = {me + 1, -(me + 1), me % 2};
  double d[2] = {(me % 2 ? -1 : 1) * (me + 1.5), 2};
  long l = 1L << (me % 40);
  GA_Igop(i, 1, "+");
  GA_Igop(i + 1, 1, "absmax");
  GA_Igop(i + 2, 1, "max");
  GA_Dgop(d, 1, "absmin");
  GA_Dgop(d + 1, 1, "*");
  GA_Lgop(&l, 1, "max");
  if (i[0] != n * (n + 1) / 2 || i[1] != n || i[2] != (n > 1)) GA_Error("a sum of integers", i[0]);
  say("sums", d[0] + (d[1] == (double)(1L << n)) + (l == 1L << ((n - 1) % 40)));
}

static void products_of_patches(void)
{
  int a = matrix(C_DBL, N, N, "a"), b = matrix(C_DBL, N, N, "b"), c = matrix(C_DBL, N, N, "c");
  int alo[2] = {3, 5}, ahi[2] = {22, 34}, blo[2] = {10, 2}, bhi[2] = {39, 30}, clo[2] = {7, 8}, chi[2] = {26, 36};
  double one = 1, zero = 0;
  fill(a, 1);
  fill(b, 3);
  GA_Zero(c);
  NGA_Matmul_patch('n', 'n', &one, &zero, a, alo, ahi, b, blo, bhi, c, clo, chi);
  say("product of patches", print_of(c));
  NGA_Copy_patch('t', a, alo, ahi, c, (int[2]){1, 1}, (int[2]){30, 20});
  say("turned", print_of(c));
  GA_Destroy(a);
  GA_Destroy(b);
  GA_Destroy(c);
}

/* Memory that a process gets from the library is no array's, but may be reached by it. */
static void memory_of_its_own(void)
{
  double *mine = GA_Getmem(C_DBL, N, GA_Pgroup_get_world());
  int a = matrix(C_DBL, N, N, "a"), lo[2] = {4, 0}, hi[2] = {4, N - 1}, ld = N;
  fill(a, 2);
  NGA_Get(a, lo, hi, mine, &ld);
  double sum = 0;
  for (int i = 0; i < N; i++) sum += mine[i] * i;
  say("in memory of its own", sum);
  GA_Sync();
  GA_Freemem(mine);
  GA_Destroy(a);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  GA_Initialize();
  if (!MA_init(C_DBL, 2000000, 2000000)) GA_Error("no memory", 1);
  me = GA_Nodeid();
  n = GA_Nnodes();
  element_by_element();
  patches_of_other_kinds();
  lists_of_elements();
  distributions_of_other_kinds();
  mirrored();
  read_only();
  fields();
  several_groups();
  sums_of_all();
  products_of_patches();
  memory_of_its_own();
  GA_Terminate();
  MPI_Finalize();
  return 0;
}
