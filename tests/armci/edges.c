/*
 * edges.c - tests ARMCI calls with unusual arguments.
 *
 * The arguments are empty transfers, any alignment, zero, negative and overlapping strides, and eight levels. There
 * are also NaNs, sums that wrap, lists that name a place twice, handles that were copied or forgotten, and messages of
 * one tag. Each process accesses the memory of the next one, which no other process touches.
 *
 * usage: edges HANDLES: number of handles to forget
 */
#include <fenv.h>
#include <limits.h>
#include <math.h>

#include "armci_tests.h"

enum { BYTES = 1 << 18, MIDDLE = BYTES / 2, LONG_ONE = 200000 };

typedef struct world {
  int me, n, to;
  char **memory;
  char *there, *here; /* BYTES each: the next process's, and plain memory */
  char *model;        /* of what `there` must be */
} world;

static void clear(world *w)
{
  ARMCI_Fence(w->to);
  memset(w->here, 0, BYTES);
  memset(w->model, 0, BYTES);
  ARMCI_Put(w->model, w->there, BYTES, w->to);
  for (int i = 0; i < BYTES; i++) w->here[i] = (char)(i * 7 + i / 251);
}

/* Compares the memory with the model. */
static void check(world *w, const char *what)
{
  char *got = malloc(BYTES);
  int wrong = -1;
  REQUIRE(got);
  ARMCI_Get(w->there, got, BYTES, w->to);
  for (int i = 0; i < BYTES && wrong < 0; i++)
    if (got[i] != w->model[i]) wrong = i;
  EXPECT(wrong < 0, "%s: byte %d of process %d is %d, not %d", what, wrong, w->to, got[wrong], w->model[wrong]);
  free(got);
}

/* --- nothing ------------------------------------------------------------------------------------------------------ */

static void nothing_is_done_to_no_bytes(world *w)
{
  int stride[2] = {8, 64}, to = w->to;
  double one = 1;
  armci_giov_t empty = {NULL, NULL, 8, 0}, of_nothing = {(void *[]){NULL}, (void *[]){NULL}, 0, 1};
  clear(w);
  ARMCI_Put(NULL, NULL, 0, to);
  ARMCI_Get(NULL, NULL, 0, to);
  ARMCI_Acc(ARMCI_ACC_DBL, &one, NULL, NULL, 0, to);
  for (int level = 0; level < 3; level++) {
    int count[3] = {8, 4, 4};
    count[level] = 0;
    ARMCI_PutS(w->here, stride, w->there, stride, count, 2, to);
    ARMCI_GetS(w->there, stride, w->here, stride, count, 2, to);
    ARMCI_AccS(ARMCI_ACC_DBL, &one, w->here, stride, w->there, stride, count, 2, to);
    ARMCI_PutS(NULL, stride, NULL, stride, count, 2, to);
  }
  ARMCI_PutS(w->here, NULL, w->there, NULL, (int[]){0}, 0, to);
  ARMCI_PutV(NULL, 0, to);
  ARMCI_PutV(&empty, 1, to);
  ARMCI_GetV(&empty, 1, to);
  ARMCI_AccV(ARMCI_ACC_DBL, &one, &of_nothing, 1, to);
  ARMCI_NbPutV(&of_nothing, 1, to, NULL);
  ARMCI_Copy(NULL, NULL, 0);
  armci_msg_snd(7, NULL, 0, to);
  int came = 9;
  armci_msg_rcv(7, NULL, 0, &came, (w->me + w->n - 1) % w->n);
  EXPECT(came == 0, "%d bytes came", came);
  armci_msg_dgop(NULL, 0, "+");
  armci_msg_bcast(NULL, 0, 0);
  check(w, "nothing");
}

/* --- alignment ---------------------------------------------------------------------------------------------------- */

static void any_alignment_will_do(world *w)
{
  clear(w);
  for (int n = 1, at = 1; n < 70; at += n + 1, n++) {
    ARMCI_Put(w->here + n % 5, w->there + at, n, w->to);
    memcpy(w->model + at, w->here + n % 5, (size_t)n);
  }
  check(w, "puts to any address");
  for (int from = 0; from < 9; from++)
    for (int to = 0; to < 9; to++) {
      char got[64] = {0};
      ARMCI_Get(w->there + from, got + to, 40, w->to);
      EXPECT(memcmp(got + to, w->model + from, 40) == 0, "from %d to %d", from, to);
    }
}

/* x + 3 x of elements that lie anywhere on both sides. */
#define ADD_ANYWHERE(TYPE, T)                                                                                          \
  clear(w);                                                                                                            \
  for (int at = 3; at < 20; at += 5) {                                                                                 \
    T x[ELEMENTS], want[ELEMENTS];                                                                                     \
    for (int i = 0; i < ELEMENTS; i++) x[i] = (T)(i % 7 - 3), want[i] = 3 * x[i];                                      \
    memcpy(w->here + 1 + at % 3, x, sizeof x);                                                                         \
    memcpy(w->model + 1001 * at, want, sizeof want);                                                                   \
    ARMCI_Acc(TYPE, (T[]){3, 0}, w->here + 1 + at % 3, w->there + 1001 * at, sizeof x, w->to);                         \
  }                                                                                                                    \
  check(w, #TYPE);

static void elements_at_any_address_are_added(world *w)
{
  enum { ELEMENTS = 60 };
  ADD_ANYWHERE(ARMCI_ACC_INT, int)
  ADD_ANYWHERE(ARMCI_ACC_LNG, long)
  ADD_ANYWHERE(ARMCI_ACC_FLT, float)
  ADD_ANYWHERE(ARMCI_ACC_DBL, double)
  ADD_ANYWHERE(ARMCI_ACC_CPL, float)
  ADD_ANYWHERE(ARMCI_ACC_DCP, double)
}

/* --- strides ------------------------------------------------------------------------------------------------------ */

/* Blocks in the order in which a reader would copy them. */
static void model_patch(world *w, const int *here_stride, const int *there_stride, const int *count, int levels,
                        long here, long there)
{
  if (levels == 0) {
    memcpy(w->model + there, w->here + here, (size_t)count[0]);
    return;
  }
  for (int i = 0; i < count[levels]; i++)
    model_patch(w, here_stride, there_stride, count, levels - 1, here + (long)i * here_stride[levels - 1],
                there + (long)i * there_stride[levels - 1]);
}

static void put_and_get_back(world *w, int *here_stride, int *there_stride, int *count, int levels, const char *what)
{
  clear(w);
  model_patch(w, here_stride, there_stride, count, levels, MIDDLE, MIDDLE);
  ARMCI_PutS(w->here + MIDDLE, here_stride, w->there + MIDDLE, there_stride, count, levels, w->to);
  check(w, what);
  char *source = malloc(BYTES);
  REQUIRE(source);
  memcpy(source, w->here, BYTES);
  memset(w->here, 0, BYTES);
  ARMCI_GetS(w->there + MIDDLE, there_stride, w->here + MIDDLE, here_stride, count, levels, w->to);
  memset(w->model, 0, BYTES);
  model_patch(w, here_stride, there_stride, count, levels, MIDDLE, MIDDLE);
  check(w, what); /* the model puts the received data there again, and nothing changes */
  free(source);
}

static void strides_may_go_backwards(world *w)
{
  static const int sizes[] = {8, 4, 24, 1, 3000};
  for (int i = 0; i < 5; i++)
    for (int signs = 0; signs < 4; signs++) {
      int size = sizes[i], here[2] = {2 * size + 8, 5 * (2 * size + 8)}, there[2] = {size + 16, 4 * (size + 16) + 64};
      int count[3] = {size, 4, 3};
      if (signs & 1) here[0] = -here[0], here[1] = -here[1];
      if (signs & 2) there[0] = -there[0];
      put_and_get_back(w, here, there, count, 2, "backwards");
    }
}

static void source_blocks_may_overlap_or_be_one(world *w)
{
  int size = 40, count[3] = {size, 6, 2}, there[2] = {64, 1024};
  clear(w);
  for (int step = 0; step <= 16; step += 8) {
    int here[2] = {step, 3 * step};
    model_patch(w, here, there, count, 2, 0, step * 200);
    ARMCI_PutS(w->here, here, w->there + step * 200, there, count, 2, w->to);
  }
  check(w, "blocks of the source that overlap");
}

static void eight_levels_will_do(world *w)
{
  int here[8], there[8], count[9] = {8, 2, 2, 2, 2, 2, 2, 2, 3};
  for (int i = 0, a = 16, b = 24; i < 8; i++, a *= 2, b = 2 * b + 8) here[i] = a, there[i] = b;
  put_and_get_back(w, here, there, count, 8, "eight levels");
}

/* All blocks go to one place, and all are added. */
static void targets_that_stand_still_lose_nothing(world *w)
{
  enum { BLOCKS = 500 };
  double one = 1, *x = (double *)(void *)w->here, sum;
  void *from[BLOCKS], *to[BLOCKS];
  clear(w);
  for (int i = 0; i < BLOCKS; i++) x[i] = i, from[i] = &x[i], to[i] = w->there;
  ARMCI_AccS(ARMCI_ACC_DBL, &one, x, (int[]){8}, w->there, (int[]){0}, (int[]){8, BLOCKS}, 1, w->to);
  ARMCI_Get(w->there, &sum, sizeof sum, w->to);
  EXPECT(sum == BLOCKS * (BLOCKS - 1) / 2, "%g", sum);
  ARMCI_AccV(ARMCI_ACC_DBL, &one, &(armci_giov_t){from, to, 8, BLOCKS}, 1, w->to);
  ARMCI_Get(w->there, &sum, sizeof sum, w->to);
  EXPECT(sum == BLOCKS * (BLOCKS - 1), "%g", sum);
}

/* Within one process source and target may be the same memory. */
static void a_put_to_oneself_may_overlap(world *w)
{
  char *mine = w->memory[w->me], want[300];
  ARMCI_Barrier();
  for (int i = 0; i < 300; i++) mine[i] = (char)i;
  memcpy(want, mine, sizeof want);
  memmove(want + 7, want, 200);
  ARMCI_Put(mine, mine + 7, 200, w->me);
  EXPECT(memcmp(mine, want, sizeof want) == 0, "after a put");
  memmove(want, want + 5, 200);
  ARMCI_Get(mine + 5, mine, 200, w->me);
  EXPECT(memcmp(mine, want, sizeof want) == 0, "after a get");
  ARMCI_Barrier();
}

static void packing_goes_both_ways(world *w)
{
  int stride[2] = {-24, 400}, count[3] = {16, 5, 3};
  char packed[16 * 5 * 3], *p = packed;
  clear(w);
  armci_write_strided(w->here + MIDDLE, 2, stride, count, packed);
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 5; i++, p += 16)
      EXPECT(memcmp(p, w->here + MIDDLE + j * 400 - i * 24, 16) == 0, "block %d, %d", i, j);
  memset(w->model, 0, BYTES);
  armci_read_strided(w->model + MIDDLE, 2, stride, count, packed);
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 5; i++)
      EXPECT(memcmp(w->model + MIDDLE + j * 400 - i * 24, w->here + MIDDLE + j * 400 - i * 24, 16) == 0, "%d, %d", i,
             j);
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static void what_is_no_number_stays_so(world *w)
{
  fenv_t trapping; /* this arithmetic is the program's own */
  feholdexcept(&trapping);
  uint64_t bits[4] = {0x7ff0000000000001u, 0xfff8000000000123u, 0x8000000000000000u, 0x7ff0000000000000u}, got[4];
  double one = 1, zero = 0, two = 2, x[4] = {1, NAN, -INFINITY, 5}, y[4];
  ARMCI_Put(bits, w->there, sizeof bits, w->to);
  ARMCI_Get(w->there, got, sizeof got, w->to);
  EXPECT(memcmp(bits, got, sizeof got) == 0, "bits changed on their way");
  ARMCI_PutValueDouble(-0.0, w->there, w->to);
  EXPECT(signbit(ARMCI_GetValueDouble(w->there, w->to)), "the sign of nothing is lost");
  for (int scaled = 0; scaled < 3; scaled++) {
    double start[4] = {NAN, 1, INFINITY, 7};
    ARMCI_Put(start, w->there, sizeof start, w->to);
    ARMCI_Acc(ARMCI_ACC_DBL, scaled == 0 ? &one : scaled == 1 ? &two : &zero, x, w->there, sizeof x, w->to);
    ARMCI_Get(w->there, y, sizeof y, w->to);
    double want = scaled == 0 ? 12 : scaled == 1 ? 17 : 7;
    EXPECT(isnan(y[0]) && isnan(y[1]) && isnan(y[2]) && y[3] == want, "%g %g %g %g", y[0], y[1], y[2], y[3]);
  }
  fesetenv(&trapping);
}

static void integers_wrap(world *w)
{
  int i = INT_MAX, minus = -1, got, old;
  long l = LONG_MAX, three = 3, got_long, old_long;
  ARMCI_Put(&i, w->there, sizeof i, w->to);
  ARMCI_Acc(ARMCI_ACC_INT, &minus, &(int){-5}, w->there, sizeof i, w->to);
  ARMCI_Get(w->there, &got, sizeof got, w->to);
  EXPECT(got == INT_MIN + 4, "%d", got);
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &old, w->there, INT_MIN, w->to);
  ARMCI_Get(w->there, &got, sizeof got, w->to);
  EXPECT(old == INT_MIN + 4 && got == 4, "%d %d", old, got);
  ARMCI_Put(&l, w->there, sizeof l, w->to);
  ARMCI_Acc(ARMCI_ACC_LNG, &three, &(long){1L << 62}, w->there, sizeof l, w->to);
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old_long, w->there, -1, w->to);
  ARMCI_Get(w->there, &got_long, sizeof got_long, w->to);
  EXPECT(got_long == old_long - 1 && (unsigned long)old_long == LONG_MAX + (3ul << 62), "%ld %ld", old_long, got_long);
  old_long = 77;
  ARMCI_Rmw(ARMCI_SWAP_LONG, &old_long, w->there, 0, w->to);
  EXPECT(old_long == got_long && ARMCI_GetValueLong(w->there, w->to) == 77, "%ld", old_long);
  old = -3;
  ARMCI_Rmw(ARMCI_SWAP, &old, w->there, 0, w->to);
  EXPECT(old == 77 && ARMCI_GetValueInt(w->there, w->to) == -3, "%d", old);
}

static void complex_numbers_are_multiplied(world *w)
{
  double i_times[2] = {0, 1}, x[4] = {3, 4, -1, 2}, y[4], zero[4] = {0};
  float i_float[2] = {0, 1}, xf[2] = {3, 4}, yf[2];
  ARMCI_Put(zero, w->there, sizeof zero, w->to);
  ARMCI_Acc(ARMCI_ACC_DCP, i_times, x, w->there, sizeof x, w->to);
  ARMCI_Get(w->there, y, sizeof y, w->to);
  EXPECT(y[0] == -4 && y[1] == 3 && y[2] == -2 && y[3] == -1, "%g %g %g %g", y[0], y[1], y[2], y[3]);
  ARMCI_Put(zero, w->there, sizeof zero, w->to);
  ARMCI_Acc(ARMCI_ACC_CPL, i_float, xf, w->there, sizeof xf, w->to);
  ARMCI_Get(w->there, yf, sizeof yf, w->to);
  EXPECT(yf[0] == -4 && yf[1] == 3, "%g %g", (double)yf[0], (double)yf[1]);
}

/* --- handles ------------------------------------------------------------------------------------------------------ */

static armci_hdl_t begin_get(world *w, char *to, int *stride, int *packed, int *count)
{
  armci_hdl_t hdl;
  ARMCI_INIT_HANDLE(&hdl);
  ARMCI_NbGetS(w->there, stride, to, packed, count, 1, w->to, &hdl);
  return hdl;
}

static void a_copy_of_a_handle_is_the_handle(world *w)
{
  enum { SIZE = 3000, ROWS = 40 };
  int stride[1] = {SIZE + 100}, packed[1] = {SIZE}, count[2] = {SIZE, ROWS};
  char *got = malloc(SIZE * ROWS);
  REQUIRE(got);
  clear(w);
  ARMCI_Put(w->here, w->there, BYTES, w->to);
  for (int round = 0; round < 20; round++) {
    memset(got, 0, SIZE * ROWS);
    armci_hdl_t hdl = begin_get(w, got, stride, packed, count), again = hdl;
    if (round % 2)
      ARMCI_Wait(&again);
    else
      while (ARMCI_Test(&again)) continue;
    for (int row = 0; row < ROWS; row++)
      EXPECT(memcmp(got + row * SIZE, w->here + row * (SIZE + 100), SIZE) == 0, "row %d", row);
    ARMCI_Wait(&hdl); /* is over */
  }
  free(got);
}

/* Thousands, a multiple of PLACES. */
static void forgotten_handles_cost_nothing(world *w, int many)
{
  enum { PLACES = 1000 };
  armci_hdl_t hdl;
  int got[PLACES];
  for (int i = 0; i < many; i++) {
    ARMCI_INIT_HANDLE(&hdl);
    ARMCI_NbPutValueInt(i, w->there + 4 * (i % PLACES), w->to, &hdl);
    if (i % PLACES == PLACES - 1) ARMCI_Fence(w->to);
  }
  ARMCI_Get(w->there, got, sizeof got, w->to);
  for (int i = 0; i < PLACES; i++) EXPECT(got[i] == many - PLACES + i, "%d is %d", i, got[i]);
  ARMCI_WaitAll();
}

static void a_handle_may_take_several(world *w)
{
  armci_hdl_t hdl;
  char got[100];
  clear(w);
  ARMCI_INIT_HANDLE(&hdl);
  ARMCI_SET_AGGREGATE_HANDLE(&hdl);
  for (int i = 0; i < 100; i++) ARMCI_NbPut(w->here + i, w->there + i, 1, w->to, &hdl);
  ARMCI_UNSET_AGGREGATE_HANDLE(&hdl);
  ARMCI_Wait(&hdl);
  ARMCI_Fence(w->to);
  for (int i = 0; i < 100; i++) ARMCI_NbGet(w->there + i, got + i, 1, w->to, &hdl);
  ARMCI_Wait(&hdl);
  EXPECT(memcmp(got, w->here, sizeof got) == 0, "not what was put");
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* A long one takes another way between nodes than the short ones after it. */
static void messages_of_one_tag_come_in_order(world *w)
{
  enum { MESSAGES = 12 };
  char *text = malloc(LONG_ONE);
  int from = (w->me + w->n - 1) % w->n, came;
  REQUIRE(text);
  for (int i = 0; i < MESSAGES; i++) {
    memset(text, i, LONG_ONE);
    armci_msg_snd(3, text, i % 3 ? i : LONG_ONE - i, w->to);
  }
  for (int i = 0; i < MESSAGES; i++) {
    text[0] = -1;
    armci_msg_rcv(3, text, LONG_ONE, &came, from);
    EXPECT(came == (i % 3 ? i : LONG_ONE - i) && text[0] == i, "message %d: %d bytes of %d", i, came, text[0]);
  }
  free(text);
}

/* Groups that come and go with the same members, and what they send is long first, then short. */
static void groups_of_the_same_members_are_not_mixed_up(world *w)
{
  int *members = calloc((size_t)w->n, sizeof *members);
  char *text = malloc(LONG_ONE);
  REQUIRE(members);
  REQUIRE(text);
  for (int i = 0; i < w->n; i++) members[i] = w->n - 1 - i;
  for (int round = 0; round < 6; round++) {
    ARMCI_Group g;
    int bytes = round % 2 ? 3 : LONG_ONE;
    ARMCI_Group_create(w->n, members, &g);
    memset(text, w->me == 0 ? round : -1, LONG_ONE);
    armci_msg_group_bcast_scope(SCOPE_ALL, text, bytes, 0, &g);
    EXPECT(text[0] == round && text[bytes - 1] == round, "round %d: %d", round, text[0]);
    ARMCI_Group_free(&g);
  }
  free(members);
  free(text);
}

/* --- scopes ------------------------------------------------------------------------------------------------------- */

static void scopes_are_parts_of_a_group(world *w)
{
  enum armci_domain_e smp = ARMCI_DOMAIN_SMP;
  int *members = calloc((size_t)w->n, sizeof *members), on_node = 0, mine = armci_domain_my_id(smp), last = -1;
  ARMCI_Group g;
  REQUIRE(members);
  for (int i = 0; i < w->n; i++) {
    members[i] = w->n - 1 - i;
    if (!armci_domain_same_id(smp, i)) continue;
    EXPECT(ARMCI_Same_node(i) && armci_domain_glob_proc_id(smp, mine, on_node) == i, "%d of domain %d", i, mine);
    EXPECT(on_node == 0 || last == i - 1, "processes %d and %d of domain %d", last, i, mine); /* no gaps between them */
    on_node++;
    last = i;
  }
  ARMCI_Group_create(w->n, members, &g);
  int ones = 1, masters = 1, word = w->me == last ? 50 + mine : -1, first = -1;
  armci_msg_group_gop_scope(SCOPE_NODE, &ones, 1, "+", ARMCI_INT, &g);
  EXPECT(ones == on_node, "%d of %d on this node", ones, on_node);
  armci_msg_group_gop_scope(SCOPE_MASTERS, &masters, 1, "+", ARMCI_INT,
                            &g); /* the group's first of a node is the last one */
  EXPECT(masters == (w->me == last ? armci_domain_count(smp) : 1), "%d", masters);
  armci_msg_bcast_scope(SCOPE_NODE, &word, sizeof word, last);
  EXPECT(word == 50 + mine, "process %d of this node sent %d", last, word);
  word = w->me == last ? 70 + mine : -1;
  armci_msg_group_bcast_scope(SCOPE_NODE, &word, sizeof word, mine == armci_domain_id(smp, 0) ? last : 0, &g);
  EXPECT(word == 70 + mine, "%d", word);
  word = w->me == w->n - 1 ? 5 : -1; /* of the group the first */
  armci_grp_clus_brdcst(&word, sizeof word, 0, (w->n + 1) / 2, &g);
  EXPECT(word == (w->me >= w->n / 2 ? 5 : -1), "%d", word);
  for (int i = w->n - 1; i >= 0; i--)
    if (armci_domain_id(smp, i) == mine) first = i;
  EXPECT(armci_domain_glob_proc_id(smp, mine, 0) == first, "%d", first);
  ARMCI_Group_free(&g);
  free(members);
}

int main(int argc, char **argv)
{
  int handles = argc > 1 ? atoi(argv[1]) : 70000;
  world w = {0};
  ARMCI_Init();
  w.me = armci_msg_me();
  w.n = armci_msg_nproc();
  w.to = (w.me + 1) % w.n;
  REQUIRE(w.memory = calloc((size_t)w.n, sizeof *w.memory));
  REQUIRE(w.here = malloc(BYTES));
  REQUIRE(w.model = malloc(BYTES));
  EXPECT(ARMCI_Malloc((void **)w.memory, BYTES) == 0, "no memory");
  w.there = w.memory[w.to];
  nothing_is_done_to_no_bytes(&w);
  any_alignment_will_do(&w);
  elements_at_any_address_are_added(&w);
  strides_may_go_backwards(&w);
  source_blocks_may_overlap_or_be_one(&w);
  eight_levels_will_do(&w);
  targets_that_stand_still_lose_nothing(&w);
  what_is_no_number_stays_so(&w);
  integers_wrap(&w);
  complex_numbers_are_multiplied(&w);
  packing_goes_both_ways(&w);
  a_copy_of_a_handle_is_the_handle(&w);
  forgotten_handles_cost_nothing(&w, handles);
  a_handle_may_take_several(&w);
  a_put_to_oneself_may_overlap(&w);
  messages_of_one_tag_come_in_order(&w);
  groups_of_the_same_members_are_not_mixed_up(&w);
  scopes_are_parts_of_a_group(&w);
  ARMCI_Free(w.memory[w.me]);
  ARMCI_Finalize();
  free(w.memory);
  free(w.here);
  free(w.model);
  return failures != 0;
}
