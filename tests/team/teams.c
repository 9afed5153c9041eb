/*
 * teams.c - tests teams: their members, the numbers of the members, and barriers and collectives of the members alone.
 *
 * It works with any number of PEs, on one node and on several.
 */
#include <shmem.h>

#include "pes.h"

static _Thread_local int *room; /* symmetric, for the collectives of all teams */

/* The PEs of `team`, by their numbers in the world, as its PEs tell each other. */
static void expect_members(shmem_team_t team, const int want[], int n, const char *what)
{
  EXPECT(shmem_team_n_pes(team) == n, "%s has %d PEs, not %d", what, shmem_team_n_pes(team), n);
  for (int i = 0; i < n; i++) {
    int pe = shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
    EXPECT(pe == want[i], "%s: PE %d is %d of the world, not %d", what, i, pe, want[i]);
    EXPECT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, want[i], team) == i, "%s: and back", what);
    if (want[i] == shmem_my_pe()) EXPECT(shmem_team_my_pe(team) == i, "%s: my number", what);
  }
  EXPECT(shmem_team_translate_pe(team, n, SHMEM_TEAM_WORLD) == -1, "%s has no PE %d", what, n);
  EXPECT(shmem_team_translate_pe(team, -1, SHMEM_TEAM_WORLD) == -1, "%s has no PE -1", what);
}

/* All PEs of the team collect their numbers, several times in a row. */
static void expect_collects(shmem_team_t team, const int want[], int n, const char *what)
{
  static const int rounds = 20;
  int *source = room, *dest = room + 4;
  for (int round = 0; round < rounds; round++) {
    source[0] = shmem_my_pe() * 100 + round;
    EXPECT(shmem_int_fcollect(team, dest, source, 1) == 0, "%s", what);
    for (int i = 0; i < n; i++)
      EXPECT(dest[i] == want[i] * 100 + round, "%s, round %d: PE %d brought %d", what, round, i, dest[i]);
    EXPECT(shmem_team_sync(team) == 0, "%s", what); /* the others have read dest before it is written again */
  }
}

static void try_team(shmem_team_t parent, int parent_n, int start, int stride, int size, const char *what)
{
  shmem_team_t team = SHMEM_TEAM_WORLD;
  int me = shmem_team_my_pe(parent), want[256];
  bool good = size >= 1, in = false;
  for (int i = 0; i < size && i < 256; i++) {
    int pe = start + i * stride;
    if (pe < 0 || pe >= parent_n) good = false;
    if (pe == me) in = true;
    want[i] = shmem_team_translate_pe(parent, pe, SHMEM_TEAM_WORLD);
  }
  int rc = shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team);
  EXPECT((rc == 0) == good, "%s (%d, %d, %d): %d", what, start, stride, size, rc);
  EXPECT((team != SHMEM_TEAM_INVALID) == (good && in), "%s (%d, %d, %d) has this PE", what, start, stride, size);
  if (good && in) {
    expect_members(team, want, size, what);
    expect_collects(team, want, size, what);
    shmem_team_destroy(team);
  }
  EXPECT(shmem_team_sync(parent) == 0, "%s", what);
}

static void strided(shmem_team_t parent)
{
  int n = shmem_team_n_pes(parent);
  try_team(parent, n, 0, 1, n, "the whole parent");
  try_team(parent, n, n - 1, -1, n, "the parent backwards");
  try_team(parent, n, 0, 2, (n + 1) / 2, "every second PE");
  try_team(parent, n, n / 2, 1, n - n / 2, "the upper half");
  try_team(parent, n, n - 1, 0, 1, "one PE");
  try_team(parent, n, n - 1, -2, (n + 1) / 2, "every second PE backwards");
  try_team(parent, n, 0, 1, n + 1, "more than there are");
  try_team(parent, n, 0, 1, 0, "nobody");
  try_team(parent, n, -1, 1, 1, "PE -1");
}

/* A team of a team of a team; several teams at a time. */
static void nested(void)
{
  int n = shmem_n_pes(), me = shmem_my_pe();
  shmem_team_t backwards, even = SHMEM_TEAM_INVALID;
  EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &backwards) == 0, "backwards");
  EXPECT(shmem_team_my_pe(backwards) == n - 1 - me, "backwards");
  EXPECT(shmem_team_split_strided(backwards, 0, 2, (n + 1) / 2, NULL, 0, &even) == 0, "of it every second");
  bool in = (n - 1 - me) % 2 == 0;
  EXPECT((even != SHMEM_TEAM_INVALID) == in, "of it every second");
  if (in) {
    int want[256];
    for (int i = 0; i < (n + 1) / 2; i++) want[i] = n - 1 - 2 * i;
    EXPECT(shmem_team_my_pe(even) == (n - 1 - me) / 2, "number in it");
    expect_collects(even, want, (n + 1) / 2, "of it every second");
    strided(even);
    shmem_team_destroy(even);
  }
  strided(backwards);
  shmem_team_destroy(backwards);
}

/* The same, split in two directions. */
static void two_dimensions(int xrange)
{
  int n = shmem_n_pes(), me = shmem_my_pe(), width = xrange < n ? xrange : n, want[256], count = 0;
  shmem_team_t x, y;
  EXPECT(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y) == 0, "2d by %d", xrange);
  for (int pe = me - me % width; pe < n && pe < me - me % width + width; pe++) want[count++] = pe;
  expect_members(x, want, count, "the row");
  expect_collects(x, want, count, "the row");
  count = 0;
  for (int pe = me % width; pe < n; pe += width) want[count++] = pe;
  expect_members(y, want, count, "the column");
  expect_collects(y, want, count, "the column");
  EXPECT(shmem_team_my_pe(x) == me % width && shmem_team_my_pe(y) == me / width, "coordinates");
  shmem_barrier_all();
  shmem_team_destroy(x);
  shmem_team_destroy(y);
  EXPECT(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &x, NULL, 0, &y) != 0 && x == SHMEM_TEAM_INVALID &&
             y == SHMEM_TEAM_INVALID,
         "2d by 0");
}

/* As many at a time as there is space for; then no more; and again when they are gone. */
static void many(void)
{
  shmem_team_t team[100];
  for (int turn = 0; turn < 2; turn++) {
    int made = 0, n = shmem_n_pes();
    while (made < 100 && shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team[made]) == 0) made++;
    EXPECT(made >= 60 && made < 100, "%d teams at a time", made);
    EXPECT(made == 100 || team[made] == SHMEM_TEAM_INVALID, "the one that there is no space for");
    for (int i = 0; i < made; i++) EXPECT(shmem_team_sync(team[i]) == 0, "team %d", i);
    for (int i = 0; i < made; i++) shmem_team_destroy(team[made - 1 - i]);
  }
}

/* Teams of `size` neighbours, `rounds` from each PE: however many the job has, each PE is in few. */
static void many_of_few(int size, int rounds)
{
  int n = shmem_n_pes(), me = shmem_my_pe(), made = 0;
  shmem_team_t team, mine[64];
  for (int i = 0; i < rounds; i++)
    for (int start = 0; start + size <= n; start++) {
      bool in = me >= start && me < start + size;
      EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, size, NULL, 0, &team) == 0, "%d from %d", i, start);
      EXPECT((team != SHMEM_TEAM_INVALID) == in, "%d from %d", i, start);
      if (in) mine[made++] = team;
    }
  for (int i = 0; i < made; i++) {
    int sum = 0, part = me + 1;
    EXPECT(shmem_team_n_pes(mine[i]) == size, "PEs of team %d", i);
    room[0] = part;
    shmem_int_sum_reduce(mine[i], &room[1], &room[0], 1);
    for (int k = 0; k < size; k++) sum += shmem_team_translate_pe(mine[i], k, SHMEM_TEAM_WORLD) + 1;
    EXPECT(room[1] == sum, "team %d: %d for %d", i, room[1], sum);
  }
  for (int i = 0; i < made; i++) shmem_team_destroy(mine[i]);
  shmem_barrier_all();
}

/* Made and ended over and over, of changing PEs: no barrier of an old team is taken for one of a new one. */
static void over_and_over(void)
{
  int n = shmem_n_pes(), me = shmem_my_pe();
  uint64_t random = 7; /* the same on all */
  for (int turn = 0; turn < 40; turn++) {
    int start = (int)(next_random(&random) % (uint64_t)n),
        size = 1 + (int)(next_random(&random) % (uint64_t)(n - start));
    int syncs = (int)(next_random(&random) % 5);
    shmem_team_t team;
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, size, NULL, 0, &team) == 0, "turn %d", turn);
    bool in = me >= start && me < start + size;
    EXPECT((team != SHMEM_TEAM_INVALID) == in, "turn %d", turn);
    if (!in) continue;
    for (int i = 0; i < syncs; i++) {
      room[0] = me * 1000 + turn * 10 + i;
      shmem_team_sync(team);
      int right = shmem_team_translate_pe(team, (shmem_team_my_pe(team) + 1) % size, SHMEM_TEAM_WORLD);
      EXPECT(shmem_int_g(&room[0], right) == right * 1000 + turn * 10 + i, "turn %d sync %d", turn, i);
      shmem_team_sync(team);
    }
    shmem_team_destroy(team);
  }
}

static void shared(void)
{
  int n = shmem_team_n_pes(SHMEM_TEAM_SHARED), want[256], count = 0;
  for (int pe = 0; pe < shmem_n_pes() && count < 256; pe++)
    if (shmem_ptr(room, pe)) want[count++] = pe;
  EXPECT(n == count, "%d PEs share memory with this one, the team has %d", count, n);
  expect_members(SHMEM_TEAM_SHARED, want, count, "the shared team");
  expect_collects(SHMEM_TEAM_SHARED, want, count, "the shared team");
  strided(SHMEM_TEAM_SHARED);
  for (int i = 0; i < n; i++)
    EXPECT(shmem_team_ptr(SHMEM_TEAM_SHARED, room, i) == shmem_ptr(room, want[i]), "team_ptr of %d", i);
  EXPECT(!shmem_team_ptr(SHMEM_TEAM_SHARED, room, n) && !shmem_team_ptr(SHMEM_TEAM_INVALID, room, 0), "team_ptr");
  shmem_barrier_all();
}

static void configured(void)
{
  shmem_team_config_t config = {5}, got = {-1}, untouched = {-2};
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), &config, SHMEM_TEAM_NUM_CONTEXTS, &team);
  EXPECT(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0, "the team is there");
  EXPECT(got.num_contexts == 5, "asked for 5 contexts, has %d", got.num_contexts);
  EXPECT(shmem_team_get_config(team, 0, &untouched) == 0 && untouched.num_contexts == -2, "nothing was asked for");
  EXPECT(shmem_team_get_config(SHMEM_TEAM_INVALID, 0, &untouched) != 0, "there is no team");
  shmem_team_destroy(team);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), &config, 0, &team);
  shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got);
  EXPECT(got.num_contexts == 0, "not asked for contexts, has %d", got.num_contexts);
  shmem_team_destroy(team);
}

static void nothing(void)
{
  shmem_team_t team = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;
  EXPECT(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0 && team == SHMEM_TEAM_INVALID,
         "of none");
  EXPECT(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &team, NULL, 0, &other) != 0 &&
             other == SHMEM_TEAM_INVALID,
         "of none, in two directions");
  EXPECT(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1 &&
             shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1,
         "numbers in none");
  shmem_team_destroy(SHMEM_TEAM_INVALID);
}

int main(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  shmem_init();
  room = shmem_malloc(512 * sizeof *room);
  strided(SHMEM_TEAM_WORLD);
  nested();
  for (int xrange = 1; xrange <= shmem_n_pes() + 1; xrange += xrange < 4 ? 1 : 3) two_dimensions(xrange);
  many();
  many_of_few(1, 60);
  many_of_few(2, 12);
  over_and_over();
  shared();
  configured();
  nothing();
  shmem_finalize();
  return failures != 0;
}
