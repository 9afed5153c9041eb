/*
 * patches.c - tests random blocks, patches and lists against a model.
 *
 * All processes draw the same program from one seed, and each keeps a copy of all memories as they must be. In a phase
 * each process's memory has one role, so that its end does not depend on the interleaving:
 *
 *   written      one process puts to it, by all forms, and gets from it between: it must find its data, without a fence
 *   accumulated  all processes add to it, as elements of one type, numbers whose sums are exact
 *   read         no process changes it; all get from it
 *
 * Phases end in ARMCI_Barrier, after which each process compares its own memory with the model.
 *
 * usage: patches FIRST_SEED SEEDS
 */
#include "armci_tests.h"

enum { BYTES = 320 * 1024, PHASES = 6, OPS = 12, MOST_LEVELS = 5, LIST = 40, UNIT = 16 };
enum role { WRITTEN, ACCUMULATED, READ, N_ROLES };
enum form { BLOCK, PATCH, VECTOR, N_FORMS };

/* Blocks: where each begins, on both sides. */
typedef struct blocks {
  enum form form;
  int levels, count[MOST_LEVELS + 1], here_stride[MOST_LEVELS], there_stride[MOST_LEVELS];
  int n, here[LIST], there[LIST]; /* of a list; of the others only the first */
} blocks;

typedef struct world {
  int me, n;
  void **memory;
  unsigned char *model; /* n x BYTES */
  unsigned char *buffer, *fetched;
  uint64_t random; /* of the process whose operations are drawn */
} world;

static int pick(world *w, int below)
{
  return (int)(next_random(&w->random) % (uint64_t)below);
}

static unsigned char *model_of(world *w, int proc)
{
  return w->model + (size_t)proc * BYTES;
}

/* --- the program's operations ------------------------------------------------------------------------------------- */

/* Mostly short blocks, some that are too long to be packed. */
static int draw_block(world *w)
{
  static const int most[] = {UNIT, 64, 600, 3000, 20000, 70000};
  int below = most[pick(w, 6)] / UNIT;
  return UNIT * (1 + pick(w, below));
}

/* Strides of `count` that do not overlap; returns the bytes from the first to the end of the last block. */
static int draw_strides(world *w, const blocks *b, int stride[])
{
  int extent = b->count[0];
  for (int i = 0; i < b->levels; i++) {
    stride[i] = extent + UNIT * pick(w, 4);
    extent = stride[i] * (b->count[i + 1] - 1) + extent;
  }
  return extent;
}

static int draw_place(world *w, int extent)
{
  return UNIT * pick(w, (BYTES - extent) / UNIT + 1);
}

static void draw_list(world *w, blocks *b)
{
  b->count[0] = UNIT * (1 + pick(w, pick(w, 8) ? 20 : 600));
  b->n = 1 + pick(w, LIST);
  if (b->n * b->count[0] > BYTES) b->n = BYTES / b->count[0];
  int slot = BYTES / b->n / UNIT * UNIT; /* they do not overlap */
  for (int i = 0; i < b->n; i++) {
    b->here[i] = slot * (b->n - 1 - i) + UNIT * pick(w, (slot - b->count[0]) / UNIT + 1);
    b->there[i] = slot * i + UNIT * pick(w, (slot - b->count[0]) / UNIT + 1);
  }
}

static void draw_blocks(world *w, blocks *b)
{
  int extent = 0, there = 0;
  *b = (blocks){.form = (enum form)pick(w, N_FORMS), .n = 1};
  if (b->form == VECTOR) {
    draw_list(w, b);
    return;
  }
  do {
    b->levels = b->form == PATCH ? pick(w, MOST_LEVELS + 1) : 0;
    b->count[0] = draw_block(w);
    for (int i = 1; i <= b->levels; i++) b->count[i] = 1 + pick(w, 5);
    extent = draw_strides(w, b, b->here_stride);
    there = draw_strides(w, b, b->there_stride);
  } while (extent > BYTES || there > BYTES);
  b->here[0] = draw_place(w, extent);
  b->there[0] = draw_place(w, there);
}

/* Calls `act` for each block. */
static void each(const blocks *b, void (*act)(void *arg, int here, int there, int n), void *arg)
{
  int at[MOST_LEVELS] = {0};
  if (b->form == VECTOR) {
    for (int i = 0; i < b->n; i++) act(arg, b->here[i], b->there[i], b->count[0]);
    return;
  }
  for (;;) {
    int here = b->here[0], there = b->there[0], level = 0;
    for (int i = 0; i < b->levels; i++) {
      here += at[i] * b->here_stride[i];
      there += at[i] * b->there_stride[i];
    }
    act(arg, here, there, b->count[0]);
    while (level < b->levels && ++at[level] == b->count[level + 1]) at[level++] = 0;
    if (level == b->levels) return;
  }
}

typedef struct sides {
  unsigned char *here, *there;
  int type;
  int scale;
  bool same;
} sides;

static void copy_there(void *arg, int here, int there, int n)
{
  sides *s = arg;
  memcpy(s->there + there, s->here + here, (size_t)n);
}

static void compare(void *arg, int here, int there, int n)
{
  sides *s = arg;
  s->same &= memcmp(s->there + there, s->here + here, (size_t)n) == 0;
}

/* (scale + i scale) x for complex numbers, scale x for others. */
static void add_there(void *arg, int here, int there, int n)
{
  sides *s = arg;
#define ADD(T)                                                                                                         \
  {                                                                                                                    \
    T *y = (T *)(void *)(s->there + there);                                                                            \
    const T *x = (const T *)(void *)(s->here + here);                                                                  \
    for (int i = 0; i < n / (int)sizeof(T); i++) y[i] += (T)s->scale * x[i];                                           \
    break;                                                                                                             \
  }
#define ADD_COMPLEX(T)                                                                                                 \
  {                                                                                                                    \
    T *y = (T *)(void *)(s->there + there), a = (T)s->scale;                                                           \
    const T *x = (const T *)(void *)(s->here + here);                                                                  \
    for (int i = 0; i < n / (int)sizeof(T); i += 2) {                                                                  \
      y[i] += a * x[i] - a * x[i + 1];                                                                                 \
      y[i + 1] += a * x[i + 1] + a * x[i];                                                                             \
    }                                                                                                                  \
    break;                                                                                                             \
  }
  switch (s->type) {
  case ARMCI_ACC_INT: ADD(int)
  case ARMCI_ACC_LNG: ADD(long)
  case ARMCI_ACC_FLT: ADD(float)
  case ARMCI_ACC_DBL: ADD(double)
  case ARMCI_ACC_CPL: ADD_COMPLEX(float)
  default: ADD_COMPLEX(double)
  }
}

/* Small numbers of the type. */
static void fill(world *w, unsigned char *to, int type)
{
#define FILL(T)                                                                                                        \
  {                                                                                                                    \
    for (int i = 0; i < BYTES / (int)sizeof(T); i++) ((T *)(void *)to)[i] = (T)(pick(w, 15) - 7);                      \
    break;                                                                                                             \
  }
  switch (type) {
  case ARMCI_ACC_INT: FILL(int)
  case ARMCI_ACC_LNG: FILL(long)
  case ARMCI_ACC_FLT:
  case ARMCI_ACC_CPL: FILL(float)
  default: FILL(double)
  }
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static armci_giov_t list_of(const blocks *b, unsigned char *from, unsigned char *to, const int *from_at,
                            const int *to_at, void *pointers[2][LIST])
{
  for (int i = 0; i < b->n; i++) {
    pointers[0][i] = from + from_at[i];
    pointers[1][i] = to + to_at[i];
  }
  return (armci_giov_t){pointers[0], pointers[1], b->count[0], b->n};
}

static void put(world *w, blocks *b, int proc, bool waits, armci_hdl_t *hdl)
{
  unsigned char *here = w->buffer, *there = w->memory[proc];
  void *p[2][LIST];
  armci_giov_t v;
  switch (b->form) {
  case BLOCK:
    if (waits)
      ARMCI_Put(here + b->here[0], there + b->there[0], b->count[0], proc);
    else
      ARMCI_NbPut(here + b->here[0], there + b->there[0], b->count[0], proc, hdl);
    break;
  case PATCH:
    if (waits)
      ARMCI_PutS(here + b->here[0], b->here_stride, there + b->there[0], b->there_stride, b->count, b->levels, proc);
    else
      ARMCI_NbPutS(here + b->here[0], b->here_stride, there + b->there[0], b->there_stride, b->count, b->levels, proc,
                   hdl);
    break;
  default:
    v = list_of(b, here, there, b->here, b->there, p);
    if (waits)
      ARMCI_PutV(&v, 1, proc);
    else
      ARMCI_NbPutV(&v, 1, proc, hdl);
  }
}

static void get(world *w, blocks *b, int proc, bool waits, armci_hdl_t *hdl)
{
  unsigned char *here = w->fetched, *there = w->memory[proc];
  void *p[2][LIST];
  armci_giov_t v;
  switch (b->form) {
  case BLOCK:
    if (waits)
      ARMCI_Get(there + b->there[0], here + b->here[0], b->count[0], proc);
    else
      ARMCI_NbGet(there + b->there[0], here + b->here[0], b->count[0], proc, hdl);
    break;
  case PATCH:
    if (waits)
      ARMCI_GetS(there + b->there[0], b->there_stride, here + b->here[0], b->here_stride, b->count, b->levels, proc);
    else
      ARMCI_NbGetS(there + b->there[0], b->there_stride, here + b->here[0], b->here_stride, b->count, b->levels, proc,
                   hdl);
    break;
  default:
    v = list_of(b, there, here, b->there, b->here, p);
    if (waits)
      ARMCI_GetV(&v, 1, proc);
    else
      ARMCI_NbGetV(&v, 1, proc, hdl);
  }
}

static void accumulate(world *w, blocks *b, int type, int scale, int proc, bool waits, armci_hdl_t *hdl)
{
  unsigned char *here = w->buffer, *there = w->memory[proc];
  int i = scale;
  long l = scale;
  float f[2] = {(float)scale, (float)scale};
  double d[2] = {scale, scale};
  void *scales[] = {&i, &l, f, d, f, d}, *a = scales[type], *p[2][LIST];
  armci_giov_t v;
  switch (b->form) {
  case BLOCK:
    if (waits)
      ARMCI_Acc(type, a, here + b->here[0], there + b->there[0], b->count[0], proc);
    else
      ARMCI_NbAcc(type, a, here + b->here[0], there + b->there[0], b->count[0], proc, hdl);
    break;
  case PATCH:
    if (waits)
      ARMCI_AccS(type, a, here + b->here[0], b->here_stride, there + b->there[0], b->there_stride, b->count, b->levels,
                 proc);
    else
      ARMCI_NbAccS(type, a, here + b->here[0], b->here_stride, there + b->there[0], b->there_stride, b->count,
                   b->levels, proc, hdl);
    break;
  default:
    v = list_of(b, here, there, b->here, b->there, p);
    if (waits)
      ARMCI_AccV(type, a, &v, 1, proc);
    else
      ARMCI_NbAccV(type, a, &v, 1, proc, hdl);
  }
}

/* --- phases ------------------------------------------------------------------------------------------------------- */

typedef struct phase {
  uint64_t seed;
  enum role role[64];
  int writer[64], type[64];
} phase;

static void check_get(world *w, const blocks *b, int proc, const char *what)
{
  sides s = {.here = w->fetched, .there = model_of(w, proc), .same = true};
  each(b, compare, &s);
  EXPECT(s.same, "%s of process %d, form %d, %d levels, blocks of %d", what, proc, b->form, b->levels, b->count[0]);
}

/* One operation of process `who`; this one does it if that is its own. */
static void operate(world *w, const phase *f, int who)
{
  int proc = pick(w, w->n), type = f->type[proc], scale = pick(w, 4) - 1;
  bool waits = pick(w, 3) != 0, mine = who == w->me, again = pick(w, 2) != 0, fences = pick(w, 4) == 0;
  armci_hdl_t hdl = {0}, *handle = pick(w, 5) ? &hdl : NULL;
  blocks b;
  sides s = {.here = w->buffer, .there = model_of(w, proc), .type = type, .scale = scale};
  draw_blocks(w, &b);
  if (f->role[proc] == WRITTEN && f->writer[proc] != who) return;
  if (f->role[proc] != READ) fill(w, w->buffer, type);
  switch (f->role[proc]) {
  case WRITTEN:
    each(&b, copy_there, &s);
    if (!mine) return;
    put(w, &b, proc, waits, handle);
    break;
  case ACCUMULATED:
    each(&b, add_there, &s);
    if (!mine) return;
    accumulate(w, &b, type, scale, proc, waits, handle);
    break;
  default:
    if (!mine) return;
    get(w, &b, proc, waits, handle);
  }
  if (!waits) {
    while (again && handle && ARMCI_Test(handle)) continue;
    if (handle)
      ARMCI_Wait(handle);
    else
      ARMCI_WaitAll();
  }
  if (f->role[proc] == READ) check_get(w, &b, proc, "a get");
  if (f->role[proc] != WRITTEN) return;
  if (!waits || fences) ARMCI_Fence(proc); /* a non-blocking call promises no order */
  if (!again) return;
  get(w, &b, proc, true, NULL);
  check_get(w, &b, proc, "what was put");
}

static void run_phase(world *w, uint64_t seed)
{
  phase f = {.seed = seed};
  w->random = seed;
  for (int p = 0; p < w->n; p++) {
    f.role[p] = (enum role)pick(w, N_ROLES);
    f.writer[p] = pick(w, w->n);
    f.type[p] = pick(w, 6);
    if (f.role[p] == ACCUMULATED) { /* its owner makes it numbers */
      fill(w, model_of(w, p), f.type[p]);
      if (p == w->me) memcpy(w->memory[p], model_of(w, p), BYTES);
    }
  }
  ARMCI_Barrier();
  for (int who = 0; who < w->n; who++) {
    w->random = seed + 1000003u * (uint64_t)(who + 1);
    for (int i = 0; i < OPS; i++) operate(w, &f, who);
  }
  ARMCI_Barrier();
  EXPECT(memcmp(w->memory[w->me], model_of(w, w->me), BYTES) == 0, "after a phase of role %d by %d, type %d, seed %llu",
         f.role[w->me], f.writer[w->me], f.type[w->me], (unsigned long long)seed);
  ARMCI_Barrier();
}

int main(int argc, char **argv)
{
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  world w = {0};
  ARMCI_Init();
  w.me = armci_msg_me();
  w.n = armci_msg_nproc();
  REQUIRE(w.memory = calloc((size_t)w.n, sizeof *w.memory));
  REQUIRE(w.model = calloc((size_t)w.n, BYTES));
  REQUIRE(w.buffer = aligned_alloc(64, BYTES));
  REQUIRE(w.fetched = aligned_alloc(64, BYTES));
  EXPECT(ARMCI_Malloc(w.memory, BYTES) == 0, "no memory");
  memset(w.memory[w.me], 0, BYTES);
  for (uint64_t seed = first; seed < first + seeds; seed++)
    for (int i = 0; i < PHASES; i++) run_phase(&w, seed * 1000 + (uint64_t)i);
  ARMCI_Free(w.memory[w.me]);
  ARMCI_Finalize();
  free(w.memory);
  free(w.model);
  free(w.buffer);
  free(w.fetched);
  return failures != 0;
}
