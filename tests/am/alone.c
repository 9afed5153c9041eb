/*
 * alone.c - tests that a held message leaves although its sender makes no further call.
 *
 * A message may wait for the reply to an earlier one, so that it leaves together with others. The reply arrives while
 * no thread takes it: with WATTLE_PROGRESS=caller no handler runs outside of a call. The sender is not the first PE of
 * its node, because that one sends heartbeats, and with a heartbeat all held messages leave.
 */
#include <unistd.h>

#include "am_tests.h"

enum { ID = 9, LIMIT_S = 120, STEP_US = 100000 };

static struct state {
  _Atomic uint64_t come;
  uint64_t *told; /* symmetric */
} all[MOST_PES];

static struct state *mine(void)
{
  return &all[shmem_my_pe()];
}

static void on_message(void *buf, size_t n, int from, shmemx_am_token_t token)
{
  (void)buf, (void)n, (void)from, (void)token;
  mine()->come++;
}

int main(int argc, char **argv)
{
  (void)argc, (void)argv;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  struct state *s = mine();
  _Atomic uint64_t *told;
  s->told = shmem_calloc(1, sizeof *s->told);
  told = (_Atomic uint64_t *)(void *)s->told;
  shmemx_am_attach(ID, on_message);
  shmem_barrier_all();
  if (me == n - 1) {
    shmemx_am_request(0, ID, NULL, 0);
    for (int i = 0; i < LIMIT_S * 10 && *told < 1; i++) usleep(STEP_US);
    usleep(STEP_US); /* its answer comes */
    shmemx_am_request(0, ID, NULL, 0);
    for (int i = 0; i < LIMIT_S * 10 && *told < 2; i++) usleep(STEP_US);
    EXPECT(*told == 2, "%lu of 2 messages left", (unsigned long)*told);
  }
  if (me == 0)
    for (uint64_t i = 1; i <= 2; i++) {
      shmem_uint64_wait_until((uint64_t *)(void *)&s->come, SHMEM_CMP_GE, i);
      shmem_uint64_p(s->told, i, n - 1);
      shmem_quiet();
    }
  shmem_barrier_all();
  shmem_free(s->told);
  shmem_finalize();
  return failures != 0;
}
