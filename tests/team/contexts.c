/*
 * Contexts: PEs by their numbers in the context's team, threads with contexts of their own, and completion of one
 * context apart from the others. usage: contexts [threads]
 */
#include <shmem.h>

#include <pthread.h>

#include "pes.h"

enum { WORDS = 64, THREADS = 4, ROUNDS = 200 };

/* Every form names a PE by its number in the team: here the world backwards. */
static void of_a_team(uint64_t *data)
{
  int me = shmem_my_pe(), n = shmem_n_pes(), to = (me + 1) % n;
  shmem_team_t backwards, got = SHMEM_TEAM_INVALID;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  uint64_t from[4] = {1 + (uint64_t)me, 2, 3, 4}, back[4];
  shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &backwards);
  EXPECT(shmem_team_create_ctx(backwards, SHMEM_CTX_SERIALIZED, &ctx) == 0, "a context of a team");
  EXPECT(shmem_ctx_get_team(ctx, &got) == 0 && got == backwards, "its team");
  int there = n - 1 - to;
  memset(data, 0, WORDS * sizeof *data);
  shmem_barrier_all();
  shmem_ctx_uint64_put(ctx, data, from, 4, there);
  shmem_ctx_uint64_p(ctx, data + 4, 5, there);
  shmem_ctx_uint64_put_nbi(ctx, data + 5, from, 2, there);
  shmem_ctx_uint64_iput(ctx, data + 8, from, 2, 1, 4, there);
  shmem_ctx_fence(ctx);
  EXPECT(shmem_ctx_uint64_atomic_fetch_add(ctx, data + 20, 7, there) == 0, "what was there");
  shmem_ctx_uint64_put_signal(ctx, data + 24, from, 4, data + 30, 1, SHMEM_SIGNAL_ADD, there);
  shmem_ctx_signal_add(ctx, data + 30, 1, there);
  shmem_ctx_pe_quiet(ctx, (int[]){there, n - 1 - me}, 2);
  shmem_ctx_uint64_get(ctx, back, data, 4, there);
  EXPECT(memcmp(back, from, sizeof from) == 0, "got what was put");
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
  uint64_t left = (uint64_t)((me + n - 1) % n);
  EXPECT(data[0] == 1 + left && data[3] == 4 && data[4] == 5 && data[5] == 1 + left && data[6] == 2, "puts");
  EXPECT(data[8] == 1 + left && data[10] == 2 && data[14] == 4 && data[9] == 0, "a strided put");
  EXPECT(data[20] == 7 && data[24] == 1 + left && data[30] == 2, "an AMO and signals");
  shmem_barrier_all();
  shmem_ctx_destroy(ctx);
  shmem_team_destroy(backwards);
}

/* A context of some PEs; destroying the team ends its contexts, and new ones are others. */
static void ends_with_its_team(uint64_t *data)
{
  int n = shmem_n_pes();
  shmem_team_t team;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID, again = SHMEM_CTX_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, n / 2, 1, n - n / 2, NULL, 0, &team);
  if (team != SHMEM_TEAM_INVALID) {
    EXPECT(shmem_team_create_ctx(team, 0, &ctx) == 0, "a context of a team");
    shmem_ctx_uint64_atomic_add(ctx, data, 1, 0);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    if (shmem_team_my_pe(team) == 0) EXPECT(*data == (uint64_t)(n - n / 2), "%llu added", (unsigned long long)*data);
    shmem_team_destroy(team);
  }
  EXPECT(shmem_ctx_create(0, &again) == 0 && again != ctx, "a new one is another one");
  shmem_ctx_destroy(again);
  shmem_barrier_all();
}

static void not_there(void)
{
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  shmem_team_t team = SHMEM_TEAM_WORLD;
  EXPECT(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID, "of no team");
  EXPECT(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID, "the team of none");
  EXPECT(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team) == 0 && team == SHMEM_TEAM_WORLD, "of the default one");
  shmem_ctx_destroy(SHMEM_CTX_INVALID);
  shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, NULL, 0);
  shmem_ctx_session_stop(SHMEM_CTX_INVALID);
  shmem_ctx_fence(SHMEM_CTX_INVALID);
  shmem_ctx_quiet(SHMEM_CTX_INVALID);
  shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, &(int){0}, 1);
  shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, NULL, 0);
}

/* As many as there is space for; then the handle is SHMEM_CTX_INVALID; and again when they are gone. */
static void many(void)
{
  enum { MOST = 2000 };
  shmem_ctx_t *ctx = calloc(MOST, sizeof(shmem_ctx_t));
  for (int turn = 0; turn < 2; turn++) {
    int made = 0;
    for (int i = 0; i < MOST; i++) ctx[i] = SHMEM_CTX_DEFAULT;
    while (made < MOST && shmem_ctx_create(turn ? SHMEM_CTX_PRIVATE : SHMEM_CTX_NOSTORE, &ctx[made]) == 0) made++;
    EXPECT(made >= 1000 && made < MOST, "%d contexts at a time", made);
    EXPECT(ctx[made] == SHMEM_CTX_INVALID, "the handle of the one too many is %p", (void *)ctx[made]);
    for (int i = 0; i < made; i++) {
      shmem_ctx_quiet(ctx[i]);
      shmem_ctx_destroy(ctx[i]);
      ctx[i] = SHMEM_CTX_INVALID;
    }
  }
  free(ctx);
}

/* In a session, and without one: the same is there after quiet; operations of other contexts may be under way
 * meanwhile. */
static void sessions(uint64_t *data)
{
  int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
  const size_t big = 100000;
  uint64_t *large = shmem_malloc(big * sizeof *large), *source = malloc(big * sizeof *source);
  shmem_ctx_session_config_t config = {WORDS};
  shmem_ctx_t batch, other;
  EXPECT(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &batch) == 0 && shmem_ctx_create(0, &other) == 0, "contexts");
  for (size_t i = 0; i < big; i++) source[i] = (uint64_t)me << 32 | i;
  memset(data, 0, WORDS * sizeof *data);
  shmem_barrier_all();
  shmem_ctx_uint64_put_nbi(other, large, source, big, right);
  for (int round = 0; round < 2; round++) {
    shmem_ctx_t ctx = round ? SHMEM_CTX_DEFAULT : batch;
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    for (size_t i = 0; i < WORDS; i++) shmem_ctx_uint64_put_nbi(ctx, data + i, source + i + round, 1, right);
    shmem_ctx_quiet(ctx);
    shmem_ctx_session_stop(ctx);
    shmem_sync_all();
    for (size_t i = 0; i < WORDS; i++)
      EXPECT(data[i] == ((uint64_t)left << 32 | (i + (size_t)round)), "word %zu of batch %d", i, round);
    shmem_sync_all();
  }
  shmem_ctx_quiet(other);
  shmem_sync_all();
  for (size_t i = 0; i < big; i++) EXPECT(large[i] == ((uint64_t)left << 32 | i), "word %zu of the other context", i);
  shmem_barrier_all();
  shmem_ctx_destroy(batch);
  shmem_ctx_destroy(other);
  free(source);
  shmem_free(large);
}

typedef struct player {
  uint64_t *count, *mine; /* symmetric */
  shmem_ctx_t common;
  int thread;
  int wrong;
  pthread_t id;
} player;

/* A thread has a context of its own and one that it shares with the others. */
static void *play(void *arg)
{
  player *p = arg;
  int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n;
  shmem_ctx_t ctx;
  if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) {
    p->wrong++;
    return NULL;
  }
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    uint64_t *word = p->mine + p->thread * 8, got;
    shmem_ctx_uint64_p(ctx, word, round, right);
    shmem_ctx_uint64_atomic_add(p->common, p->count, 1, 0);
    shmem_ctx_quiet(ctx);
    got = shmem_ctx_uint64_g(ctx, word, right);
    if (got != round) p->wrong++;
    if (round % 50 == 0) {
      shmem_ctx_t more;
      if (shmem_ctx_create(0, &more) != 0) p->wrong++;
      shmem_ctx_destroy(more);
    }
  }
  shmem_ctx_quiet(p->common);
  shmem_ctx_destroy(ctx);
  return NULL;
}

static void threads(uint64_t *data)
{
  player players[THREADS];
  shmem_ctx_t common;
  memset(data, 0, WORDS * sizeof *data);
  EXPECT(shmem_ctx_create(0, &common) == 0, "a context");
  shmem_barrier_all();
  for (int t = 0; t < THREADS; t++) {
    players[t] = (player){.count = data, .mine = data + 8, .common = common, .thread = t};
    pthread_create(&players[t].id, NULL, play, &players[t]);
  }
  for (int t = 0; t < THREADS; t++) {
    pthread_join(players[t].id, NULL);
    EXPECT(players[t].wrong == 0, "thread %d went wrong %d times", t, players[t].wrong);
  }
  shmem_barrier_all();
  if (shmem_my_pe() == 0)
    EXPECT(*data == (uint64_t)shmem_n_pes() * THREADS * ROUNDS, "%llu counted", (unsigned long long)*data);
  shmem_barrier_all();
  shmem_ctx_destroy(common);
}

/* A variable of this PE alone, set by another thread of it. */
static void *set_later(void *variable)
{
  for (int i = 0; i < 100; i++) sched_yield();
  __atomic_store_n((uint64_t *)variable, 5, __ATOMIC_RELEASE);
  return NULL;
}

static void private_variable(void)
{
  uint64_t here = 0;
  size_t which;
  pthread_t id;
  pthread_create(&id, NULL, set_later, &here);
  shmem_uint64_wait_until(&here, SHMEM_CMP_EQ, 5);
  pthread_join(id, NULL);
  here = 0;
  pthread_create(&id, NULL, set_later, &here);
  which = shmem_uint64_wait_until_any(&here, 1, NULL, SHMEM_CMP_EQ, 5);
  EXPECT(which == 0 && here == 5, "any of one private variable");
  pthread_join(id, NULL);
}

/*
 * Two threads hand a token on to each other by plain stores, the other one asleep by then. Were it the sleep's own end
 * that showed them the token, this would take longer than the test may.
 */
enum { LAPS = 2000 };
typedef struct runner {
  uint64_t *turn, number;
} runner;

static void *run_laps(void *arg)
{
  runner *r = arg;
  for (int lap = 0; lap < LAPS; lap++) {
    shmem_uint64_wait_until(r->turn, SHMEM_CMP_EQ, r->number);
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* until the other one sleeps */
    __atomic_store_n(r->turn, 1 - r->number, __ATOMIC_RELAXED);
  }
  return NULL;
}

static void threads_hand_on(uint64_t *turn)
{
  runner other = {turn, 1};
  pthread_t id;
  *turn = 0;
  pthread_create(&id, NULL, run_laps, &other);
  run_laps(&(runner){turn, 0});
  shmem_uint64_wait_until(turn, SHMEM_CMP_EQ, 0);
  pthread_join(id, NULL);
}

int main(int argc, char **argv)
{
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  uint64_t *data = shmem_calloc(WORDS, sizeof *data);
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    threads(data);
    private_variable();
    threads_hand_on(data);
  } else {
    of_a_team(data);
    memset(data, 0, WORDS * sizeof *data);
    shmem_barrier_all();
    ends_with_its_team(data);
    not_there();
    many();
    sessions(data);
  }
  shmem_finalize();
  return failures != 0;
}
