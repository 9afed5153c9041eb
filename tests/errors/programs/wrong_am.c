/* wrong_am.c - makes one wrong call of active messages, which must end the job with a line. usage: wrong_am CASE
 * With EACH, PE 0 makes those of all cases, each in a copy of its process. */
#include <limits.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <unistd.h>

#include "am/am_tests.h"
#ifdef EACH
#include "support/copies.h"
#endif

enum { DO = 1, ANSWER = 2, LATE = 3, NOBODYS = 77, MANY = 30 };

static const char *what;
static shmemx_am_mutex mutex, other, many[MANY];
static shmemx_am_token_t kept_token;
static jmp_buf place;
static long target;
static atomic_bool has_begun; /* a handler, on this PE */

static void on_do(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from;
  kept_token = token;
  if (!strcmp(what, "request in handler")) shmemx_am_request(0, DO, NULL, 0);
  if (!strcmp(what, "put in handler")) shmem_long_p(&target, 1, 0);
  if (!strcmp(what, "barrier in handler")) shmem_barrier_all();
  if (!strcmp(what, "quiet in handler")) shmemx_am_quiet();
  if (!strcmp(what, "init in handler")) shmem_init();
  if (!strcmp(what, "finalize in handler")) shmem_finalize();
  if (!strcmp(what, "returns with mutex")) shmemx_am_mutex_lock(&mutex);
  if (!strcmp(what, "exit in handler")) exit(0);
  if (!strncmp(what, "longjmp", 7)) longjmp(place, 1);
  if (!strcmp(what, "reply in reply")) shmemx_am_reply(ANSWER, NULL, 0, token);
  if (!strcmp(what, "wrong token")) shmemx_am_reply(ANSWER, NULL, 0, token + 1);
  for (int turn = 0; turn < (!strcmp(what, "slow lock") ? 1 : !strcmp(what, "slow locks") ? 3 : 0); turn++) {
    shmemx_am_mutex_lock(&mutex);
    usleep(20000);
    shmemx_am_mutex_unlock(&mutex);
  }
  if (!strcmp(what, "waits long with one") || !strcmp(what, "waits long on a context with one")) usleep(1000000);
  if (!strcmp(what, "held for long")) {
    atomic_store(&has_begun, true);
    shmemx_am_mutex_lock(&mutex);
    shmemx_am_mutex_unlock(&mutex);
  }
}

static void on_answer(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from;
  shmemx_am_reply(ANSWER, NULL, 0, token);
}

static void on_late(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from, (void)token;
}

static void take_both(shmemx_am_mutex *first, shmemx_am_mutex *second)
{
  shmemx_am_mutex_lock(first);
  shmemx_am_mutex_lock(second);
  shmemx_am_mutex_unlock(second);
  shmemx_am_mutex_unlock(first);
}

static shmemx_am_mutex *garbage(void)
{
  static shmemx_am_mutex never_made;
  memset(&never_made, 0xa5, sizeof never_made);
  return &never_made;
}

static void provoke(int me, int n)
{
  int to = (me + 1) % n;
  if (!strcmp(what, "detached")) {
    shmemx_am_detach(DO);
    shmem_barrier_all();
    shmemx_am_request(to, DO, NULL, 0);
  }
  if (!strcmp(what, "no such PE")) shmemx_am_request(n, DO, NULL, 0);
  if (!strcmp(what, "no buffer")) shmemx_am_request(to, DO, NULL, 8);
  if (!strcmp(what, "too long")) shmemx_am_request(to, DO, &mutex, (size_t)-8);
  if (!strcmp(what, "too many words")) shmemx_am_request_words(to, DO, 5, 1, 2, 3, 4);
  if (!strcmp(what, "place not symmetric")) {
    long here;
    shmemx_am_request_put(to, DO, &here, &here, sizeof here);
  }
  if (!strcmp(what, "attaches a number of the library's")) shmemx_am_attach(INT_MIN, on_do);
  if (!strcmp(what, "detaches a number of the library's")) shmemx_am_detach(INT_MIN + 15);
  if (!strcmp(what, "sends to a number of the library's")) shmemx_am_request(to, INT_MIN + 1, NULL, 0);
  if (!strcmp(what, "no function")) shmemx_am_attach(DO, NULL);
  if (!strcmp(what, "reply outside")) shmemx_am_reply(ANSWER, NULL, 0, 0);
  if (!strcmp(what, "locks twice")) shmemx_am_mutex_lock(&mutex), shmemx_am_mutex_lock(&mutex);
  if (!strcmp(what, "unlocks free")) shmemx_am_mutex_unlock(&mutex);
  if (!strcmp(what, "destroys held")) shmemx_am_mutex_lock(&mutex), shmemx_am_mutex_destroy(&mutex);
  if (!strcmp(what, "locks destroyed")) shmemx_am_mutex_destroy(&mutex), shmemx_am_mutex_lock(&mutex);
  if (!strcmp(what, "locks no mutex")) shmemx_am_mutex_lock(garbage());
  if (!strcmp(what, "tries no mutex")) shmemx_am_mutex_trylock(garbage());
  if (!strcmp(what, "unlocks no mutex")) shmemx_am_mutex_unlock(garbage());
  if (!strcmp(what, "destroys no mutex")) shmemx_am_mutex_destroy(garbage());
  if (!strcmp(what, "makes held anew")) shmemx_am_mutex_lock(&mutex), shmemx_am_mutex_init(&mutex);
  if (!strcmp(what, "waits with one"))
    for (int turn = 0; turn < 2; turn++) {
      shmemx_am_mutex_lock(&mutex);
      shmemx_am_request(to, DO, NULL, 0);
      shmemx_am_quiet();
      shmemx_am_mutex_unlock(&mutex);
    }
  if (!strcmp(what, "waits on a context with one")) {
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    shmemx_ctx_am_request(ctx, to, DO, NULL, 0);
    shmemx_am_mutex_lock(&mutex);
    shmemx_ctx_am_quiet(ctx);
    shmemx_ctx_am_quiet(ctx);
    shmemx_am_mutex_unlock(&mutex);
    shmem_ctx_destroy(ctx);
  }
  if (!strcmp(what, "waits long on a context with one")) {
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    shmemx_ctx_am_request(ctx, to, DO, NULL, 0);
    shmemx_am_mutex_lock(&mutex);
    shmemx_ctx_am_quiet(ctx);
    shmemx_am_mutex_unlock(&mutex);
    shmem_ctx_destroy(ctx);
    return;
  }
  if (!strcmp(what, "held for long")) {
    shmemx_am_mutex_lock(&mutex);
    shmem_long_p(&target, 1, to);
    while (!atomic_load(&has_begun)) usleep(1000);
    usleep(1000000);
    shmemx_am_mutex_unlock(&mutex);
    return;
  }
  if (!strcmp(what, "sends in each way with one")) {
    uint64_t done = 0;
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx)) shmem_global_exit(1);
    shmemx_am_mutex_lock(&mutex);
    shmemx_am_request_words(to, DO, 1, 7, 0, 0, 0);
    shmemx_am_request_nbi(to, DO, NULL, 0, &done);
    shmemx_ctx_am_request(ctx, to, DO, NULL, 0);
    shmemx_am_request_put(to, DO, &target, &target, sizeof target);
    shmemx_am_mutex_unlock(&mutex);
    shmem_uint64_wait_until(&done, SHMEM_CMP_EQ, 1);
    shmem_ctx_destroy(ctx);
    return;
  }
  if (!strcmp(what, "only meets with one")) {
    shmemx_am_mutex_lock(&mutex);
    shmem_barrier_all();
    shmemx_am_mutex_unlock(&mutex);
    return;
  }
  if (!strcmp(what, "waits long with one")) {
    for (int turn = 0; turn < 2; turn++) {
      shmemx_am_mutex_lock(&mutex);
      shmemx_am_request(to, DO, NULL, 0);
      shmemx_am_quiet();
      shmemx_am_mutex_unlock(&mutex);
    }
    return;
  }
  if (!strcmp(what, "sends with one")) {
    shmemx_am_mutex_lock(&mutex);
    for (int i = 0; i < 3; i++) shmemx_am_request(to, DO, NULL, 0);
    shmemx_am_mutex_unlock(&mutex);
  }
  if (!strcmp(what, "sends with new ones"))
    for (int turn = 0; turn < 20; turn++) {
      shmemx_am_mutex_init(&many[0]);
      shmemx_am_mutex_lock(&many[0]);
      shmemx_am_request(to, DO, NULL, 0);
      shmemx_am_mutex_unlock(&many[0]);
      shmemx_am_mutex_destroy(&many[0]);
    }
  if (!strcmp(what, "circles of new ones"))
    for (int turn = 0; turn < 20; turn++) {
      shmemx_am_mutex_init(&many[0]);
      take_both(&many[0], &mutex);
      take_both(&mutex, &many[0]);
      shmemx_am_mutex_destroy(&many[0]);
    }
  if (!strcmp(what, "meets with one")) {
    shmemx_am_mutex_lock(&mutex);
    return;
  }
  if (!strcmp(what, "early")) shmemx_am_request(to, LATE, NULL, 0);
  if (!strcmp(what, "both orders"))
    for (int turn = 0; turn < 2; turn++) take_both(turn ? &other : &mutex, turn ? &mutex : &other);
  if (!strcmp(what, "circle of three"))
    for (int turn = 0; turn < 4; turn++) take_both(&many[turn % 3], &many[(turn + 1) % 3]);
  if (!strcmp(what, "mutex in the place of another"))
    for (int turn = 0; turn < 2; turn++) {
      shmemx_am_mutex_init(&many[0]);
      take_both(turn ? &many[0] : &mutex, turn ? &mutex : &many[0]);
      shmemx_am_mutex_destroy(&many[0]);
    }
  if (!strcmp(what, "only tried"))
    for (int turn = 0; turn < 2; turn++) {
      shmemx_am_mutex_lock(&many[turn]);
      if (!shmemx_am_mutex_trylock(&many[1 - turn]) || shmemx_am_mutex_trylock(&many[turn])) shmem_global_exit(1);
      shmemx_am_mutex_unlock(&many[0]);
      shmemx_am_mutex_unlock(&many[1]);
    }
  if (!strcmp(what, "many in one order"))
    for (int i = 0; i < MANY; i++)
      for (int k = i + 1; k < MANY; k++) take_both(&many[i], &many[k]);
  if (!strcmp(what, "longjmp and end") && setjmp(place)) exit(0);
  if (!strcmp(what, "longjmp") && setjmp(place)) {
    shmem_barrier_all();
    return;
  }
  shmemx_am_request(to, DO, NULL, 0);
  shmemx_am_quiet();
}

/* Another PE has sent a message for a handler that is attached only after a while. */
static void attach_late(void)
{
  for (int turn = 0; turn < 100; turn++) shmemx_am_poll(), usleep(10000);
  shmemx_am_attach(LATE, on_late);
}

int main(int argc, char **argv)
{
  (void)argc;
  what = argv[1];
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  shmemx_am_mutex_init(&mutex);
  shmemx_am_mutex_init(&other);
  shmemx_am_attach(DO, on_do);
  shmemx_am_attach(ANSWER, on_answer);
  shmem_barrier_all();
#ifdef EACH
  for (int i = 1; i < argc && me == 0; i++) {
    what = argv[i];
    if (copy_makes(what)) provoke(me, n), copy_went_on();
    memset(&mutex, 0, sizeof mutex); /* a copy may have held it */
    shmemx_am_mutex_init(&mutex);
  }
  what = "";
#endif
  if (!strcmp(what, "no handler")) {
    if (me == 0) shmemx_am_request(1 % n, NOBODYS, NULL, 0);
    shmem_finalize();
    return 0;
  }
  if (me == 0 && *what) provoke(me, n);
  if (me != 0 && !strcmp(what, "early")) attach_late();
  if (me != 0 && !strcmp(what, "only meets with one")) shmem_barrier_all();
  if (me != 0 && !strcmp(what, "held for long")) {
    shmem_long_wait_until(&target, SHMEM_CMP_EQ, 1);
    shmemx_am_request(0, DO, NULL, 0);
  }
  if (me != 0 && !strcmp(what, "detached")) shmemx_am_detach(DO), shmem_barrier_all();
  if (me == 0 && !strcmp(what, "meets with one")) shmemx_am_request(1 % n, DO, NULL, 0);
  shmem_barrier_all();
  if (me == 0 && !strcmp(what, "meets with one")) shmemx_am_mutex_unlock(&mutex);
  shmem_finalize();
  return 0;
}
