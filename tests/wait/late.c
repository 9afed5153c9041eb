/*
 * Every blocking call of OpenSHMEM goes through the door (late.h).
 *
 * usage: late asleep|busy|either [list]: how a waiting PE looks. With list, prints the calls instead, one a line.
 */
#include <shmem.h>
#include <shmemx.h>

#include "late.h"

typedef struct place {
  long lock, data, sum[2], done;
  long from[2], to[4], sync[SHMEM_SYNC_SIZE];
  uint64_t signal;
} place;

typedef struct walk {
  watcher watcher;
  place *p;
  int me;
  void *block, *more;
  shmem_team_t team[2];
} walk;

static void late(walk *w)
{
  come_late(&w->watcher);
}

/* --- the calls ---------------------------------------------------------------------------------------------------- */

/* A collective over all, with what every kind of them needs. */
#define COLLECTIVE(NAME, CALL)                                                                                         \
  static void call_##NAME(walk *w)                                                                                     \
  {                                                                                                                    \
    const shmem_team_t world = SHMEM_TEAM_WORLD;                                                                       \
    long *to = w->p->to, *from = w->p->from, *sync = w->p->sync;                                                       \
    unsigned long *bits = (unsigned long *)w->p->sum;                                                                  \
    const int n = shmem_n_pes();                                                                                       \
    (void)world, (void)to, (void)from, (void)sync, (void)bits, (void)n;                                                \
    late(w);                                                                                                           \
    CALL;                                                                                                              \
  }
COLLECTIVE(barrier_all, shmem_barrier_all())
COLLECTIVE(sync_all, shmem_sync_all())
COLLECTIVE(team_sync, shmem_team_sync(world))
COLLECTIVE(barrier, shmem_barrier(0, 0, n, sync))
COLLECTIVE(sync, shmem_sync(0, 0, n, sync))
COLLECTIVE(split_strided, shmem_team_split_strided(world, 0, 1, n, NULL, 0, &w->team[0]))
COLLECTIVE(destroy, shmem_team_destroy(w->team[0]))
COLLECTIVE(split_2d, shmem_team_split_2d(world, n, NULL, 0, &w->team[0], NULL, 0, &w->team[1]))
COLLECTIVE(and_reduce, shmem_ulong_and_reduce(world, bits, bits, 2))
COLLECTIVE(or_reduce, shmem_ulong_or_reduce(world, bits, bits, 2))
COLLECTIVE(xor_reduce, shmem_ulong_xor_reduce(world, bits, bits, 2))
COLLECTIVE(min_reduce, shmem_long_min_reduce(world, w->p->sum, w->p->sum, 2))
COLLECTIVE(max_reduce, shmem_long_max_reduce(world, w->p->sum, w->p->sum, 2))
COLLECTIVE(sum_reduce, shmem_long_sum_reduce(world, w->p->sum, w->p->sum, 2))
COLLECTIVE(prod_reduce, shmem_long_prod_reduce(world, w->p->sum, w->p->sum, 2))
COLLECTIVE(sum_inscan, shmem_long_sum_inscan(world, w->p->sum, w->p->sum, 2))
COLLECTIVE(sum_exscan, shmem_long_sum_exscan(world, w->p->sum, w->p->sum, 2))
COLLECTIVE(and_to_all, shmem_long_and_to_all(to, from, 1, 0, 0, n, w->p->sum, sync))
COLLECTIVE(or_to_all, shmem_long_or_to_all(to, from, 1, 0, 0, n, w->p->sum, sync))
COLLECTIVE(xor_to_all, shmem_long_xor_to_all(to, from, 1, 0, 0, n, w->p->sum, sync))
COLLECTIVE(min_to_all, shmem_long_min_to_all(to, from, 1, 0, 0, n, w->p->sum, sync))
COLLECTIVE(max_to_all, shmem_long_max_to_all(to, from, 1, 0, 0, n, w->p->sum, sync))
COLLECTIVE(sum_to_all, shmem_long_sum_to_all(to, from, 1, 0, 0, n, w->p->sum, sync))
COLLECTIVE(prod_to_all, shmem_long_prod_to_all(to, from, 1, 0, 0, n, w->p->sum, sync))
COLLECTIVE(broadcast, shmem_long_broadcast(world, &w->p->data, &w->p->data, 1, 0))
COLLECTIVE(broadcastmem, shmem_broadcastmem(world, &w->p->data, &w->p->data, 8, 0))
COLLECTIVE(broadcast64, shmem_broadcast64(to, from, 1, 0, 0, 0, n, sync))
COLLECTIVE(fcollect, shmem_long_fcollect(world, to, from, 1))
COLLECTIVE(fcollectmem, shmem_fcollectmem(world, to, from, 8))
COLLECTIVE(fcollect64, shmem_fcollect64(to, from, 1, 0, 0, n, sync))
COLLECTIVE(collect, shmem_long_collect(world, to, from, 1))
COLLECTIVE(collectmem, shmem_collectmem(world, to, from, 8))
COLLECTIVE(collect64, shmem_collect64(to, from, 1, 0, 0, n, sync))
COLLECTIVE(alltoall, shmem_long_alltoall(world, to, from, 1))
COLLECTIVE(alltoallmem, shmem_alltoallmem(world, to, from, 8))
COLLECTIVE(alltoall64, shmem_alltoall64(to, from, 1, 0, 0, n, sync))
COLLECTIVE(alltoalls, shmem_long_alltoalls(world, to, from, 2, 1, 1))
COLLECTIVE(alltoallsmem, shmem_alltoallsmem(world, to, from, 1, 1, 8))
COLLECTIVE(alltoalls64, shmem_alltoalls64(to, from, 1, 1, 1, 0, 0, n, sync))

static void call_malloc(walk *w)
{
  late(w);
  w->block = shmem_malloc(100);
}
static void call_realloc(walk *w)
{
  late(w);
  w->block = shmem_realloc(w->block, 1000);
}
static void call_free(walk *w)
{
  late(w);
  shmem_free(w->block);
}
static void call_malloc_with_hints(walk *w)
{
  late(w);
  w->block = shmem_malloc_with_hints(100, 0);
}
static void call_calloc(walk *w)
{
  late(w);
  w->more = shmem_calloc(10, 10);
}
static void call_align(walk *w)
{
  late(w);
  w->block = shmem_align(64, 100);
}

/* PE 1 waits for a variable, which is 0 until PE 0 sets it. */
#define WAITING(NAME, CALL)                                                                                            \
  static void call_##NAME(walk *w)                                                                                     \
  {                                                                                                                    \
    long *done = &w->p->done, one = 1;                                                                                 \
    size_t which[1];                                                                                                   \
    (void)which, (void)one;                                                                                            \
    *done = 0;                                                                                                         \
    w->p->signal = 0;                                                                                                  \
    shmem_sync_all();                                                                                                  \
    late(w);                                                                                                           \
    if (w->me == 0) {                                                                                                  \
      shmem_long_p(done, 1, 1);                                                                                        \
      shmem_signal_add(&w->p->signal, 1, 1);                                                                           \
    } else if (w->me == 1) {                                                                                           \
      CALL;                                                                                                            \
    }                                                                                                                  \
    shmem_barrier_all();                                                                                               \
  }
WAITING(wait_until, shmem_long_wait_until(done, SHMEM_CMP_EQ, 1))
WAITING(wait_until_all, shmem_long_wait_until_all(done, 1, NULL, SHMEM_CMP_EQ, 1))
WAITING(wait_until_any, shmem_long_wait_until_any(done, 1, NULL, SHMEM_CMP_EQ, 1))
WAITING(wait_until_some, shmem_long_wait_until_some(done, 1, which, NULL, SHMEM_CMP_EQ, 1))
WAITING(wait_until_all_vector, shmem_long_wait_until_all_vector(done, 1, NULL, SHMEM_CMP_EQ, &one))
WAITING(wait_until_any_vector, shmem_long_wait_until_any_vector(done, 1, NULL, SHMEM_CMP_EQ, &one))
WAITING(wait_until_some_vector, shmem_long_wait_until_some_vector(done, 1, which, NULL, SHMEM_CMP_EQ, &one))
WAITING(long_wait, shmem_long_wait(done, 0))
WAITING(wait, shmem_wait(done, 0))
WAITING(old_wait_until, (shmem_wait_until)(done, SHMEM_CMP_EQ, 1)) /* not the generic */
WAITING(signal_wait_until, shmem_signal_wait_until(&w->p->signal, SHMEM_CMP_EQ, 1))

static void call_shmalloc(walk *w)
{
  late(w);
  w->block = shmalloc(100);
}
static void call_shrealloc(walk *w)
{
  late(w);
  w->block = shrealloc(w->block, 1000);
}
static void call_shfree(walk *w)
{
  late(w);
  shfree(w->block);
}
static void call_shmemalign(walk *w)
{
  late(w);
  w->block = shmemalign(64, 100);
}

static void call_set_lock(walk *w)
{
  if (w->me == 0) shmem_set_lock(&w->p->lock);
  shmem_sync_all();
  late(w);
  if (w->me == 1) shmem_set_lock(&w->p->lock);
  if (w->me <= 1) shmem_clear_lock(&w->p->lock);
}

/* PE 0 holds what the handler of PE 1's request needs: of each kind another, for it may still be wanted when PE 0 goes
 * on. */
enum { HANDLER = 1, CTX_HANDLER = 2 };
static shmemx_am_mutex needed, needed_by_ctx;

static void on_request(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from, (void)token;
  shmemx_am_mutex_lock(&needed);
  shmemx_am_mutex_unlock(&needed);
}

static void on_ctx_request(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from, (void)token;
  shmemx_am_mutex_lock(&needed_by_ctx);
  shmemx_am_mutex_unlock(&needed_by_ctx);
}

static void call_am_quiet(walk *w)
{
  if (w->me == 0) shmemx_am_mutex_lock(&needed);
  shmemx_am_attach(HANDLER, on_request);
  shmem_sync_all();
  late(w);
  if (w->me == 0) shmemx_am_mutex_unlock(&needed);
  if (w->me != 1) return;
  shmemx_am_request(0, HANDLER, NULL, 0);
  shmemx_am_quiet();
}

static void call_ctx_am_quiet(walk *w)
{
  shmem_ctx_t ctx;
  if (w->me == 0) shmemx_am_mutex_lock(&needed_by_ctx);
  shmemx_am_attach(CTX_HANDLER, on_ctx_request);
  shmem_sync_all();
  late(w);
  if (w->me == 0) shmemx_am_mutex_unlock(&needed_by_ctx);
  if (w->me != 1) return;
  if (shmem_ctx_create(0, &ctx) != 0) abort();
  shmemx_ctx_am_request(ctx, 0, CTX_HANDLER, NULL, 0);
  shmemx_ctx_am_quiet(ctx);
  shmem_ctx_destroy(ctx);
}

static const struct {
  const char *name;
  void (*make)(walk *);
} calls[] = {
    {"shmem_barrier_all", call_barrier_all},
    {"shmem_sync_all", call_sync_all},
    {"shmem_team_sync", call_team_sync},
    {"shmem_barrier", call_barrier},
    {"shmem_sync", call_sync},
    {"shmem_team_split_strided", call_split_strided},
    {"shmem_team_destroy", call_destroy},
    {"shmem_team_split_2d", call_split_2d},
    {"shmem_ulong_and_reduce", call_and_reduce},
    {"shmem_ulong_or_reduce", call_or_reduce},
    {"shmem_ulong_xor_reduce", call_xor_reduce},
    {"shmem_long_min_reduce", call_min_reduce},
    {"shmem_long_max_reduce", call_max_reduce},
    {"shmem_long_sum_reduce", call_sum_reduce},
    {"shmem_long_prod_reduce", call_prod_reduce},
    {"shmem_long_sum_inscan", call_sum_inscan},
    {"shmem_long_sum_exscan", call_sum_exscan},
    {"shmem_long_and_to_all", call_and_to_all},
    {"shmem_long_or_to_all", call_or_to_all},
    {"shmem_long_xor_to_all", call_xor_to_all},
    {"shmem_long_min_to_all", call_min_to_all},
    {"shmem_long_max_to_all", call_max_to_all},
    {"shmem_long_sum_to_all", call_sum_to_all},
    {"shmem_long_prod_to_all", call_prod_to_all},
    {"shmem_long_broadcast", call_broadcast},
    {"shmem_broadcastmem", call_broadcastmem},
    {"shmem_broadcast64", call_broadcast64},
    {"shmem_long_fcollect", call_fcollect},
    {"shmem_fcollectmem", call_fcollectmem},
    {"shmem_fcollect64", call_fcollect64},
    {"shmem_long_collect", call_collect},
    {"shmem_collectmem", call_collectmem},
    {"shmem_collect64", call_collect64},
    {"shmem_long_alltoall", call_alltoall},
    {"shmem_alltoallmem", call_alltoallmem},
    {"shmem_alltoall64", call_alltoall64},
    {"shmem_long_alltoalls", call_alltoalls},
    {"shmem_alltoallsmem", call_alltoallsmem},
    {"shmem_alltoalls64", call_alltoalls64},
    {"shmem_malloc", call_malloc},
    {"shmem_realloc", call_realloc},
    {"shmem_free", call_free},
    {"shmem_malloc_with_hints", call_malloc_with_hints},
    {"shmem_calloc", call_calloc},
    {"shmem_align", call_align},
    {"shmem_long_wait_until", call_wait_until},
    {"shmem_long_wait_until_all", call_wait_until_all},
    {"shmem_long_wait_until_any", call_wait_until_any},
    {"shmem_long_wait_until_some", call_wait_until_some},
    {"shmem_long_wait_until_all_vector", call_wait_until_all_vector},
    {"shmem_long_wait_until_any_vector", call_wait_until_any_vector},
    {"shmem_long_wait_until_some_vector", call_wait_until_some_vector},
    {"shmem_long_wait", call_long_wait},
    {"shmem_wait", call_wait},
    {"shmem_wait_until", call_old_wait_until},
    {"shmem_signal_wait_until", call_signal_wait_until},
    {"shmalloc", call_shmalloc},
    {"shrealloc", call_shrealloc},
    {"shfree", call_shfree},
    {"shmemalign", call_shmemalign},
    {"shmem_set_lock", call_set_lock},
    {"shmemx_am_quiet", call_am_quiet},
    {"shmemx_ctx_am_quiet", call_ctx_am_quiet},
};
enum { N_CALLS = sizeof calls / sizeof calls[0] };

int main(int argc, char **argv)
{
  if (argc > 2) {
    for (int i = 0; i < N_CALLS; i++) puts(calls[i].name);
    return 0;
  }
  shmem_init();
  walk w = {.me = shmem_my_pe()};
  w.p = shmem_calloc(1, sizeof *w.p);
  watch(&w.watcher, argc > 1 ? argv[1] : "either");
  for (int i = 0; i < N_CALLS; i++) calls[i].make(&w);
  shmem_sync_all();
  shmem_finalize();
  return failures != 0;
}
