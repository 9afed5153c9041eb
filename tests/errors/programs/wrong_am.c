/* What is wrong with active messages ends the job with a line that says so. usage: wrong_am CASE */
#include <setjmp.h>
#include <unistd.h>

#include "am/am_tests.h"

enum { DO = 1, ANSWER = 2, NOBODYS = 77 };

static const char *what;
static shmemx_am_mutex mutex, other;
static shmemx_am_token_t kept_token;
static jmp_buf place;
static long target;

static void on_do(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from;
  kept_token = token;
  if (!strcmp(what, "request in handler")) shmemx_am_request(0, DO, NULL, 0);
  if (!strcmp(what, "put in handler")) shmem_long_p(&target, 1, 0);
  if (!strcmp(what, "barrier in handler")) shmem_barrier_all();
  if (!strcmp(what, "quiet in handler")) shmemx_am_quiet();
  if (!strcmp(what, "returns with mutex")) shmemx_am_mutex_lock(&mutex);
  if (!strcmp(what, "longjmp")) longjmp(place, 1);
  if (!strcmp(what, "reply in reply")) shmemx_am_reply(ANSWER, NULL, 0, token);
  if (!strcmp(what, "wrong token")) shmemx_am_reply(ANSWER, NULL, 0, token + 1);
  if (!strcmp(what, "slow lock")) {
    shmemx_am_mutex_lock(&mutex);
    usleep(20000);
    shmemx_am_mutex_unlock(&mutex);
  }
}

static void on_answer(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from;
  shmemx_am_reply(ANSWER, NULL, 0, token);
}

static void provoke(int me, int n)
{
  int to = (me + 1) % n;
  if (!strcmp(what, "no handler")) shmemx_am_request(to, NOBODYS, NULL, 0);
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
  if (!strcmp(what, "no function")) shmemx_am_attach(DO, NULL);
  if (!strcmp(what, "reply outside")) shmemx_am_reply(ANSWER, NULL, 0, 0);
  if (!strcmp(what, "locks twice")) shmemx_am_mutex_lock(&mutex), shmemx_am_mutex_lock(&mutex);
  if (!strcmp(what, "unlocks free")) shmemx_am_mutex_unlock(&mutex);
  if (!strcmp(what, "destroys held")) shmemx_am_mutex_lock(&mutex), shmemx_am_mutex_destroy(&mutex);
  if (!strcmp(what, "locks destroyed")) shmemx_am_mutex_destroy(&mutex), shmemx_am_mutex_lock(&mutex);
  if (!strcmp(what, "both orders")) {
    for (int turn = 0; turn < 2; turn++) {
      shmemx_am_mutex_lock(turn ? &other : &mutex);
      shmemx_am_mutex_lock(turn ? &mutex : &other);
      shmemx_am_mutex_unlock(&mutex);
      shmemx_am_mutex_unlock(&other);
    }
  }
  if (!strcmp(what, "longjmp") && setjmp(place)) {
    shmem_barrier_all();
    return;
  }
  shmemx_am_request(to, DO, NULL, 0);
  shmemx_am_quiet();
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
  if (me == 0) provoke(me, n);
  if (me != 0 && !strcmp(what, "detached")) shmemx_am_detach(DO), shmem_barrier_all();
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
