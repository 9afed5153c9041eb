/*
 * Runs the generated tests of every routine, on memory of the heap and, where PEs are processes, on static memory.
 *
 * usage: calls [short] [collectives]. Up to 4 PEs try all lengths, rounds and roots; with `short`, some of them. With
 * `collectives`, those alone.
 *
 * Linked with the routines of generate_breakers.py it breaks one routine after the other instead, and demands that its
 * test notices and that it passes again when the routine is mended. Prints "routine<TAB>noticed" or "routine<TAB>not
 * noticed".
 */
#include "shmem/calls.h"

#include "generated_calls.h"

enum kinds { COLLECTIVE = 1, WITH_CONTEXT = 2, OTHER = 4, ALL = 7 };

static enum kinds kind_of(const test *t)
{
  if (t->collective) return COLLECTIVE;
  return strncmp(t->name, "shmem_ctx_", strlen("shmem_ctx_")) == 0 ? WITH_CONTEXT : OTHER;
}

static void run_those(const room *r, enum kinds kinds)
{
  for (const test *t = call_tests; t < call_tests + n_call_tests; t++) {
    if (!(kind_of(t) & kinds)) continue;
    int before = failures;
    t->run(r);
    if (failures != before) fprintf(stderr, "FAIL %s on PE %d\n", t->name, r->me);
  }
}

void wtl_break(const char *name) __attribute__((weak));

/* Of any PE. */
static bool fails(const room *r, const test *t, int *symmetric)
{
  failures = 0;
  quiet_failures = true;
  t->run(r);
  quiet_failures = false;
  wtl_break(NULL);
  shmem_quiet();
  shmem_barrier_all();
  symmetric[1] = failures != 0;
  shmem_int_max_reduce(SHMEM_TEAM_WORLD, symmetric, symmetric + 1, 1);
  bool any = symmetric[0];
  shmem_barrier_all();
  return any;
}

/* On one node puts are in order by themselves. */
static bool keeps_order(const room *r, const char *name)
{
  return shmem_ptr(r->a, r->right) && (strstr(name, "fence") || strstr(name, "quiet"));
}

enum { TURNS = 50 };

static int break_each(room *r)
{
  int *symmetric = shmem_calloc(2, sizeof *symmetric), bad = 0;
  EXPECT(shmem_ctx_create(0, &r->ctx) == 0, "a context");
  for (size_t i = 0; i < n_call_tests; i++) {
    const test *t = &call_tests[i];
    bool noticed = keeps_order(r, t->name), passes;
    for (int turn = 0; turn < TURNS && !noticed; turn++) { /* a wait that does not wait may be lucky */
      shmem_barrier_all();
      wtl_break(t->name);
      noticed = fails(r, t, symmetric);
    }
    passes = !fails(r, t, symmetric);
    bad += !noticed || !passes;
    if (r->me == 0)
      printf("%s\t%s%s\n", t->name, noticed ? "noticed" : "not noticed", passes ? "" : "; fails unbroken");
    fflush(stdout); /* so that it is known what never ended */
  }
  failures = 0;
  shmem_barrier_all();
  shmem_free(symmetric);
  return bad;
}

#ifndef WTL_THREADS
static _Alignas(64) char static_a[ROOM_BYTES], static_b[ROOM_BYTES], static_large_a[LARGE_BYTES],
    static_large_b[LARGE_BYTES];
static long static_sync[2 * SHMEM_SYNC_SIZE];
#endif

_Thread_local shmem_team_t group_team[N_GROUPS];

static void make_teams(const room *r)
{
  group_team[0] = SHMEM_TEAM_WORLD;
  for (int which = 1; r->n >= 3 && which < N_GROUPS; which++) {
    group g = groups(r, which);
    int rc = shmem_team_split_strided(SHMEM_TEAM_WORLD, g.first, g.step, g.n, NULL, 0, &group_team[which]);
    EXPECT(rc == 0 && (group_team[which] == SHMEM_TEAM_INVALID) == (g.me < 0), "team %d", which);
    EXPECT(shmem_team_my_pe(group_team[which]) == g.me, "number in team %d", which);
  }
}

int main(int argc, char **argv)
{
  enum kinds kinds = ALL;
  bool full = true;
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "short") == 0)
      full = false;
    else if (strcmp(argv[i], "collectives") == 0)
      kinds = COLLECTIVE;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  room heap = {shmem_malloc(ROOM_BYTES),
               shmem_malloc(ROOM_BYTES),
               shmem_malloc(LARGE_BYTES),
               shmem_malloc(LARGE_BYTES),
               me,
               n,
               (me + n - 1) % n,
               (me + 1) % n,
               SHMEM_CTX_DEFAULT,
               shmem_calloc(2 * SHMEM_SYNC_SIZE, sizeof(long)),
               full && n <= 4};
  for (int i = 0; i < 2 * SHMEM_SYNC_SIZE; i++) heap.sync[i] = SHMEM_SYNC_VALUE;
  make_teams(&heap);
  if (wtl_break && !getenv("WTL_TEST_BREAK")) { /* with that, one routine is broken all the time (broken_programs.py) */
    int bad = break_each(&heap);
    shmem_finalize();
    return bad != 0;
  }
  run_those(&heap, kinds);
  if (n <= 4 && kinds & WITH_CONTEXT) { /* again, with a context that was made */
    EXPECT(shmem_ctx_create(0, &heap.ctx) == 0, "a context");
    run_those(&heap, WITH_CONTEXT);
    shmem_ctx_destroy(heap.ctx);
  }
#ifndef WTL_THREADS
  room fixed = {static_a,  static_b,   static_large_a,    static_large_b, me,       n,
                heap.left, heap.right, SHMEM_CTX_DEFAULT, static_sync,    heap.full};
  if (n <= 4) run_those(&fixed, kinds);
#endif
  if (me == 0) printf("%zu routines\n", n_call_tests);
  shmem_finalize();
  return failures != 0;
}
