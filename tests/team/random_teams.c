/*
 * random_teams.c - tests random programs of teams, contexts and collectives against a sequential model.
 *
 * All PEs draw the same program from one seed and keep a copy of all PEs' memory as it must be. A program makes teams
 * of teams (strides of both signs, rows and columns), ends some, and does collectives of any kind, length and type on
 * them. Between two barriers every PE acts on others, on contexts of teams and on the default one. It uses puts,
 * strided and blocked ones, atomics and signals, each in a part of the target's memory that is its own for that time.
 *
 * A PE takes part in its teams' collectives without a barrier before or after. Other PEs access its memory only while
 * it takes part.
 *
 * usage: random_teams FIRST_SEED SEEDS
 */
#include <shmem.h>

#include "pes.h"

enum { MAX_PES = 32, WORDS = 2048, TEAMS = 8, STEPS = 40, LONGEST = 300, ACTIONS = 12, PART = 48 };

typedef struct team {
  shmem_team_t handle;
  shmem_ctx_t ctx; /* of this PE; where it is in the team */
  int n, pe[MAX_PES], me;
  bool there;
} team;

typedef struct world {
  int me, n;
  uint64_t *mine;                    /* symmetric, WORDS */
  uint64_t *signals;                 /* symmetric, one from each PE */
  uint64_t *model;                   /* n x WORDS */
  uint64_t counts[MAX_PES][MAX_PES]; /* of signals: [to][from] */
  team teams[TEAMS];
  uint64_t random;
} world;

static uint64_t pick(world *w, uint64_t below)
{
  return next_random(&w->random) % below;
}

static uint64_t *model_of(world *w, int pe)
{
  return w->model + (size_t)pe * WORDS;
}

/* --- teams -------------------------------------------------------------------------------------------------------- */

static int number_in(const team *t, int pe)
{
  for (int i = 0; i < t->n; i++)
    if (t->pe[i] == pe) return i;
  return -1;
}

static team *pick_team(world *w)
{
  team *t;
  do t = &w->teams[pick(w, TEAMS)];
  while (!t->there);
  return t;
}

static void check_team(world *w, const team *t)
{
  int other = (int)pick(w, (uint64_t)w->n);
  if (t->me < 0) {
    EXPECT(t->handle == SHMEM_TEAM_INVALID, "a team that this PE is not in");
    return;
  }
  EXPECT(shmem_team_my_pe(t->handle) == t->me && shmem_team_n_pes(t->handle) == t->n, "PE %d of %d",
         shmem_team_my_pe(t->handle), shmem_team_n_pes(t->handle));
  EXPECT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, other, t->handle) == number_in(t, other), "PE %d", other);
  for (int i = 0; i < t->n; i++)
    EXPECT(shmem_team_translate_pe(t->handle, i, SHMEM_TEAM_WORLD) == t->pe[i], "number %d", i);
}

static void move_in(world *w, team *t)
{
  t->there = true;
  t->me = number_in(t, w->me);
  check_team(w, t);
  if (t->me >= 0) EXPECT(shmem_team_create_ctx(t->handle, 0, &t->ctx) == 0, "a context");
}

static void split_strided(world *w, const team *parent, team *t)
{
  int size = 1 + (int)pick(w, (uint64_t)parent->n), most = size > 1 ? (parent->n - 1) / (size - 1) : 1;
  int stride = 1 + (int)pick(w, (uint64_t)most), room = parent->n - 1 - stride * (size - 1);
  int start = (int)pick(w, (uint64_t)room + 1);
  if (pick(w, 2)) start += stride * (size - 1), stride = -stride;
  *t = (team){.n = size};
  for (int i = 0; i < size; i++) t->pe[i] = parent->pe[start + i * stride];
  if (parent->me >= 0)
    EXPECT(shmem_team_split_strided(parent->handle, start, stride, size, NULL, 0, &t->handle) == 0, "%d %d %d", start,
           stride, size);
  else
    t->handle = SHMEM_TEAM_INVALID;
  move_in(w, t);
}

/* Each PE gets a row and a column; those of the model that this PE is in take the two places, or, where it is not in
 * the parent, those of the parent's first PE. All PEs know all rows and columns, so each keeps those that hold the PE
 * that is chosen. */
static void split_2d(world *w, const team *parent, team *row, team *column)
{
  int width = 1 + (int)pick(w, (uint64_t)parent->n + 1), used = width < parent->n ? width : parent->n;
  int at = parent->me >= 0 ? parent->me : 0;
  shmem_team_t x = SHMEM_TEAM_INVALID, y = SHMEM_TEAM_INVALID;
  *row = *column = (team){.there = false};
  for (int i = 0; i < parent->n; i++) {
    if (i / used == at / used) row->pe[row->n++] = parent->pe[i];
    if (i % used == at % used) column->pe[column->n++] = parent->pe[i];
  }
  if (parent->me < 0) return;
  EXPECT(shmem_team_split_2d(parent->handle, width, NULL, 0, &x, NULL, 0, &y) == 0, "rows of %d", width);
  EXPECT(shmem_team_my_pe(x) == number_in(row, w->me) && shmem_team_n_pes(x) == row->n, "its row");
  EXPECT(shmem_team_my_pe(y) == number_in(column, w->me) && shmem_team_n_pes(y) == column->n, "its column");
  for (int i = 0; i < row->n; i++)
    EXPECT(shmem_team_translate_pe(x, i, SHMEM_TEAM_WORLD) == row->pe[i], "number %d of its row", i);
  for (int i = 0; i < column->n; i++)
    EXPECT(shmem_team_translate_pe(y, i, SHMEM_TEAM_WORLD) == column->pe[i], "number %d of its column", i);
  shmem_team_destroy(y);
  shmem_team_destroy(x);
}

static void end_team(world *w, team *t)
{
  if (t == &w->teams[0]) return;
  if (t->me >= 0) {
    if (pick(w, 2)) shmem_ctx_destroy(t->ctx); /* or with the team */
    shmem_team_destroy(t->handle);
  } else {
    (void)pick(w, 2);
  }
  t->there = false;
}

static void change_teams(world *w)
{
  team *t = &w->teams[1 + pick(w, TEAMS - 1)], row, column;
  if (t->there) {
    end_team(w, t);
    return;
  }
  const team *parent = pick_team(w);
  split_2d(w, parent, &row, &column);
  split_strided(w, parent, t);
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

/* Two ranges of `n` words apart from each other, or the same. */
static void pick_ranges(world *w, size_t n, size_t *to, size_t *from, bool may_be_same)
{
  *to = pick(w, WORDS / 2 - n + 1);
  *from = WORDS / 2 + pick(w, WORDS / 2 - n + 1);
  if (pick(w, 2)) {
    size_t other = *to;
    *to = *from;
    *from = other;
  }
  if (may_be_same && pick(w, 4) == 0) *from = *to;
}

static size_t pick_length(world *w)
{
  return pick(w, 3) ? pick(w, 8) : pick(w, LONGEST);
}

/* Sums, maxima and xor of words, in the order of the team; of doubles, whole numbers that add up exactly. */
static void reduction(world *w, const team *t)
{
  size_t n = pick_length(w), to, from;
  uint64_t kind = pick(w, 5), result[LONGEST] = {0}, before[MAX_PES][LONGEST];
  pick_ranges(w, n, &to, &from, true);
  for (int i = 0; i < t->n; i++) memcpy(before[i], model_of(w, t->pe[i]) + from, n * 8);
  for (int i = 0; i < t->n; i++) {
    for (size_t k = 0; k < n; k++) {
      uint64_t x = before[i][k], sum = result[k];
      if (i == 0) sum = kind == 4 ? 0 : x;
      if (i > 0 && kind == 0) sum += x;
      if (i > 0 && kind == 1) sum = x > sum ? x : sum;
      if (i > 0 && kind == 2) sum ^= x;
      if (i > 0 && kind == 3) sum += x;
      if (i > 0 && kind == 4) sum += before[i - 1][k];
      result[k] = sum;
      if (kind >= 3) model_of(w, t->pe[i])[to + k] = sum;
    }
  }
  for (int i = 0; i < t->n && kind < 3; i++) memcpy(model_of(w, t->pe[i]) + to, result, n * 8);
  if (t->me < 0) return;
  uint64_t *dest = w->mine + to, *source = w->mine + from;
  switch (kind) {
  case 0: shmem_uint64_sum_reduce(t->handle, dest, source, n); break;
  case 1: shmem_ulong_max_reduce(t->handle, (unsigned long *)dest, (unsigned long *)source, n); break;
  case 2: shmem_uint64_xor_reduce(t->handle, dest, source, n); break;
  case 3: shmem_uint64_sum_inscan(t->handle, dest, source, n); break;
  default: shmem_uint64_sum_exscan(t->handle, dest, source, n); break;
  }
}

static void broadcast(world *w, const team *t)
{
  size_t n = pick_length(w), to, from;
  int root = (int)pick(w, (uint64_t)t->n);
  pick_ranges(w, n, &to, &from, true);
  uint64_t words[LONGEST];
  memcpy(words, model_of(w, t->pe[root]) + from, n * 8);
  for (int i = 0; i < t->n; i++) memcpy(model_of(w, t->pe[i]) + to, words, n * 8);
  if (t->me >= 0) shmem_uint64_broadcast(t->handle, w->mine + to, w->mine + from, n, root);
}

/* fcollect, or collect of as many as each PE's number says. */
static void collect(world *w, const team *t)
{
  size_t each = pick(w, WORDS / 2 / (size_t)t->n / 2 + 1), all = 0, to, from;
  bool unequal = pick(w, 2);
  pick_ranges(w, WORDS / 2, &to, &from, false);
  for (int i = 0; i < t->n; i++) {
    size_t n = unequal ? each / 2 + (size_t)i % (each / 2 + 1) : each;
    for (int k = 0; k < t->n; k++) memcpy(model_of(w, t->pe[k]) + to + all, model_of(w, t->pe[i]) + from, n * 8);
    all += n;
  }
  if (t->me < 0) return;
  if (unequal)
    shmem_uint64_collect(t->handle, w->mine + to, w->mine + from, each / 2 + (size_t)t->me % (each / 2 + 1));
  else
    shmem_uint64_fcollect(t->handle, w->mine + to, w->mine + from, each);
}

static void alltoall(world *w, const team *t)
{
  size_t n = pick(w, WORDS / 2 / (size_t)t->n / 4 + 1), dst = 1, sst = 1, to, from;
  if (pick(w, 2)) dst = 1 + pick(w, 3), sst = 1 + pick(w, 3);
  pick_ranges(w, WORDS / 2, &to, &from, false);
  for (int i = 0; i < t->n; i++)
    for (int k = 0; k < t->n; k++)
      for (size_t e = 0; e < n; e++)
        model_of(w, t->pe[k])[to + ((size_t)i * n + e) * dst] = model_of(w, t->pe[i])[from + ((size_t)k * n + e) * sst];
  if (t->me < 0) return;
  if (dst == 1 && sst == 1)
    shmem_uint64_alltoall(t->handle, w->mine + to, w->mine + from, n);
  else
    shmem_uint64_alltoalls(t->handle, w->mine + to, w->mine + from, (ptrdiff_t)dst, (ptrdiff_t)sst, n);
}

static void one_collective(world *w)
{
  const team *t = pick_team(w);
  switch (pick(w, 6)) {
  case 0: broadcast(w, t); break;
  case 1: collect(w, t); break;
  case 2: alltoall(w, t); break;
  case 3:
    if (t->me >= 0) shmem_team_sync(t->handle);
    break;
  default: reduction(w, t); break;
  }
}

/* --- one-sided ---------------------------------------------------------------------------------------------------- */

/* One action of PE `actor` on its part of another PE's memory, on a context of a team that both are in. */
static void act(world *w, int actor)
{
  const team *t = pick_team(w);
  int to = t->pe[pick(w, (uint64_t)t->n)], number = number_in(t, to);
  uint64_t kind = pick(w, 6), from[PART];
  size_t part = (size_t)actor * PART, n = 1 + pick(w, 8), dst = 1 + pick(w, 3), sst = 1 + pick(w, 3);
  size_t at = pick(w, PART - (n * dst * 2 < PART ? n * dst * 2 : PART - 1)), block = 1 + pick(w, 2);
  bool mine = actor == w->me && number_in(t, actor) >= 0;
  uint64_t *there = w->mine + part + at, *model = model_of(w, to) + part + at;
  for (size_t i = 0; i < PART; i++) from[i] = next_random(&w->random);
  if (number_in(t, actor) < 0) return; /* it has no context of that team */
  if (block > dst) block = dst;
  if (block > sst) block = sst;
  switch (kind) {
  case 0:
    if (mine) shmem_ctx_uint64_put(t->ctx, there, from, n, number);
    memcpy(model, from, n * 8);
    break;
  case 1:
    if (mine) shmem_ctx_uint64_iput(t->ctx, there, from, (ptrdiff_t)dst, (ptrdiff_t)sst, n, number);
    for (size_t i = 0; i < n; i++) model[i * dst] = from[i * sst];
    break;
  case 2:
    if (mine) shmem_ctx_uint64_ibput(t->ctx, there, from, (ptrdiff_t)dst, (ptrdiff_t)sst, block, n, number);
    for (size_t i = 0; i < n; i++) memcpy(model + i * dst, from + i * sst, block * 8);
    break;
  case 3:
    if (mine) shmem_ctx_uint64_atomic_add(t->ctx, there, from[0], number);
    *model += from[0];
    break;
  case 4:
    if (mine) EXPECT(shmem_ctx_uint64_atomic_swap(t->ctx, there, from[0], number) == *model, "swapped with PE %d", to);
    *model = from[0];
    break;
  default:
    if (mine) shmem_ctx_uint64_put_signal(t->ctx, there, from, n, &w->signals[actor], 1, SHMEM_SIGNAL_ADD, number);
    memcpy(model, from, n * 8);
    w->counts[to][actor]++;
    break;
  }
  if (mine) shmem_ctx_fence(t->ctx); /* the next action may be on the same words, by another context */
  if (mine) shmem_ctx_quiet(t->ctx);
}

static void everybody_acts(world *w)
{
  shmem_barrier_all();
  for (int i = 0; i < ACTIONS; i++)
    for (int actor = 0; actor < w->n; actor++) act(w, actor);
  for (int from = 0; from < w->n; from++) {
    uint64_t want = w->counts[w->me][from];
    EXPECT(shmem_signal_wait_until(&w->signals[from], SHMEM_CMP_GE, want) == want, "signals of PE %d", from);
  }
  shmem_barrier_all();
}

/* --- programs ----------------------------------------------------------------------------------------------------- */

static void compare(world *w, uint64_t seed, int step)
{
  for (size_t i = 0; i < WORDS; i++)
    EXPECT(w->mine[i] == model_of(w, w->me)[i], "word %zu of seed %llu, step %d", i, (unsigned long long)seed, step);
  if (failures) shmem_global_exit(1); /* later results would mean nothing */
}

static void begin(world *w, uint64_t seed)
{
  w->random = seed;
  for (int pe = 0; pe < w->n; pe++)
    for (size_t i = 0; i < WORDS; i++) model_of(w, pe)[i] = next_random(&w->random);
  memcpy(w->mine, model_of(w, w->me), WORDS * 8);
  memset(w->signals, 0, MAX_PES * sizeof *w->signals);
  memset(w->counts, 0, sizeof w->counts);
  memset(w->teams, 0, sizeof w->teams);
  team *all = &w->teams[0];
  *all = (team){.handle = SHMEM_TEAM_WORLD, .ctx = SHMEM_CTX_DEFAULT, .n = w->n, .me = w->me, .there = true};
  for (int pe = 0; pe < w->n; pe++) all->pe[pe] = pe;
  shmem_barrier_all();
}

static void run_seed(world *w, uint64_t seed)
{
  begin(w, seed);
  for (int step = 0; step < STEPS; step++) {
    uint64_t what = pick(w, 8);
    if (what < 2)
      change_teams(w);
    else if (what < 3)
      everybody_acts(w);
    else
      one_collective(w);
    compare(w, seed, step);
  }
  for (int i = 1; i < TEAMS; i++)
    if (w->teams[i].there) end_team(w, &w->teams[i]);
  shmem_barrier_all();
}

int main(int argc, char **argv)
{
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  shmem_init();
  world *w = calloc(1, sizeof *w);
  w->me = shmem_my_pe();
  w->n = shmem_n_pes();
  w->mine = shmem_malloc(WORDS * sizeof *w->mine);
  w->signals = shmem_calloc(MAX_PES, sizeof *w->signals);
  w->model = calloc((size_t)w->n * WORDS, sizeof *w->model);
  for (uint64_t seed = first; seed < first + seeds; seed++) run_seed(w, seed);
  shmem_free(w->signals);
  shmem_free(w->mine);
  free(w->model);
  free(w);
  shmem_finalize();
  return failures != 0;
}
