/*
 * order.c - tests location consistency: a blocking call finds all earlier calls of its process done, without a fence.
 *
 * The calls have all forms and lengths: put, accumulate, read-modify-write, single value, flag and get, as a block, a
 * patch or a list. Some are short and share messages, others are so long that they travel alone. One process works on
 * its own part of each memory and keeps a model of it.
 *
 * usage: order FIRST_SEED SEEDS
 */
#include "armci_tests.h"

enum { N = 24000, ROWS = 60, OPS = 60 }; /* longs: a process's part of each memory */

typedef struct world {
  int me, n;
  long **memory; /* n parts of N longs of each process */
  long *model, *here, *got;
  uint64_t random;
} world;

static int pick(world *w, int below)
{
  return (int)(next_random(&w->random) % (uint64_t)below);
}

/* `rows` blocks of `n` longs, one every `step`, from `first` on. */
typedef struct piece {
  int first, n, rows, step;
  bool is_list;
} piece;

/* From one word to more than what travels in one message. */
static piece draw(world *w)
{
  static const int most[] = {1, 4, 130, 700, 5000, N};
  piece p = {.n = 1 + pick(w, most[pick(w, 6)]), .is_list = pick(w, 2)};
  int fit = N / p.n;
  p.rows = pick(w, 3) ? 1 : 1 + pick(w, fit < ROWS ? fit : ROWS);
  p.step = p.n + (p.rows > 1 ? pick(w, N / p.rows - p.n + 1) : 0);
  p.first = pick(w, N - (p.rows - 1) * p.step - p.n + 1);
  return p;
}

static armci_giov_t list_of(const piece *p, long *from, int from_step, long *to, int to_step, void *pointers[2][ROWS])
{
  for (int i = 0; i < p->rows; i++) {
    pointers[0][i] = from + (long)i * from_step;
    pointers[1][i] = to + (long)i * to_step;
  }
  return (armci_giov_t){pointers[0], pointers[1], p->n * (int)sizeof(long), p->rows};
}

static void put(world *w, const piece *p, long *there, int proc)
{
  int strides[2][1] = {{p->n * 8}, {p->step * 8}}, count[2] = {p->n * 8, p->rows};
  void *pointers[2][ROWS];
  armci_giov_t list = list_of(p, w->here, p->n, there, p->step, pointers);
  if (p->is_list)
    ARMCI_PutV(&list, 1, proc);
  else if (p->rows == 1)
    ARMCI_Put(w->here, there, count[0], proc);
  else
    ARMCI_PutS(w->here, strides[0], there, strides[1], count, 1, proc);
}

static void add(world *w, const piece *p, long *there, int proc, long scale)
{
  int strides[2][1] = {{p->n * 8}, {p->step * 8}}, count[2] = {p->n * 8, p->rows};
  void *pointers[2][ROWS];
  armci_giov_t list = list_of(p, w->here, p->n, there, p->step, pointers);
  if (p->is_list)
    ARMCI_AccV(ARMCI_ACC_LNG, &scale, &list, 1, proc);
  else if (p->rows == 1)
    ARMCI_Acc(ARMCI_ACC_LNG, &scale, w->here, there, count[0], proc);
  else
    ARMCI_AccS(ARMCI_ACC_LNG, &scale, w->here, strides[0], there, strides[1], count, 1, proc);
}

static void get(world *w, const piece *p, long *there, int proc)
{
  int strides[2][1] = {{p->n * 8}, {p->step * 8}}, count[2] = {p->n * 8, p->rows};
  void *pointers[2][ROWS];
  armci_giov_t list = list_of(p, there, p->step, w->got, p->n, pointers);
  if (p->is_list)
    ARMCI_GetV(&list, 1, proc);
  else if (p->rows == 1)
    ARMCI_Get(there, w->got, count[0], proc);
  else
    ARMCI_GetS(there, strides[1], w->got, strides[0], count, 1, proc);
}

static void operate(world *w, int proc, long *there, long *model)
{
  piece p = draw(w);
  long scale = 1 + pick(w, 3), old = 5, *m = model + p.first;
  int kind = pick(w, 8), wrong = 0;
  for (int i = 0; i < p.n * p.rows; i++) w->here[i] = pick(w, 1000);
  there += p.first;
  switch (kind) {
  case 0:
  case 1:
    put(w, &p, there, proc);
    for (int r = 0; r < p.rows; r++) memcpy(m + r * p.step, w->here + r * p.n, sizeof(long) * (size_t)p.n);
    break;
  case 2:
  case 3:
    add(w, &p, there, proc, scale);
    for (int r = 0; r < p.rows; r++)
      for (int i = 0; i < p.n; i++) m[r * p.step + i] += scale * w->here[r * p.n + i];
    break;
  case 4:
    ARMCI_Rmw(pick(w, 2) ? ARMCI_FETCH_AND_ADD_LONG : ARMCI_SWAP_LONG, &old, there, 0, proc);
    EXPECT(old == *m, "a read-modify-write found %ld, not %ld", old, *m);
    *m = ARMCI_GetValueLong(there, proc);
    EXPECT(*m == old || *m == 5, "and left %ld", *m);
    break;
  case 5:
    ARMCI_PutValueLong(scale, there, proc);
    *m = scale;
    EXPECT(ARMCI_GetValueLong(there, proc) == scale, "not the value that was put");
    break;
  default:
    get(w, &p, there, proc);
    for (int r = 0; r < p.rows; r++) wrong += memcmp(m + r * p.step, w->got + r * p.n, sizeof(long) * (size_t)p.n) != 0;
    EXPECT(!wrong, "%d of %d blocks of %d longs of process %d were not up to date", wrong, p.rows, p.n, proc);
  }
}

int main(int argc, char **argv)
{
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  world w = {0};
  ARMCI_Init();
  w.me = armci_msg_me();
  w.n = armci_msg_nproc();
  size_t all = (size_t)w.n * N;
  REQUIRE(w.memory = calloc((size_t)w.n, sizeof *w.memory));
  REQUIRE(w.model = calloc(all, sizeof *w.model));
  REQUIRE(w.here = calloc(N, sizeof *w.here));
  REQUIRE(w.got = calloc(N, sizeof *w.got));
  EXPECT(ARMCI_Malloc((void **)w.memory, (armci_size_t)(all * sizeof(long))) == 0, "no memory");
  memset(w.memory[w.me], 0, all * sizeof(long));
  ARMCI_Barrier();
  for (uint64_t seed = first; seed < first + seeds; seed++) {
    w.random = seed * 1000 + (uint64_t)w.me;
    for (int i = 0; i < OPS; i++) {
      int proc = pick(&w, w.n);
      operate(&w, proc, w.memory[proc] + (size_t)w.me * N, w.model + (size_t)proc * N);
    }
  }
  ARMCI_Barrier();
  ARMCI_Free(w.memory[w.me]);
  ARMCI_Finalize();
  free(w.memory);
  free(w.model);
  free(w.here);
  free(w.got);
  return failures != 0;
}
