/* header.c - includes shmem.h in every standard of C. With C11 it also uses the generics, after any other header. */
#include <mpp/pshmem.h>
#include <pshmemx.h>
#include <shmem.h>
#include <shmemx.h>

static void on_message(void *buf, size_t n, int pe, shmemx_am_token_t token)
{
  if (pe) shmemx_am_reply(1, buf, n, token);
}

int use(long *symmetric, int pe)
{
  long value = shmem_long_g(symmetric, pe);
  shmem_long_p(symmetric, value + 1, pe);
  shmem_ctx_long_put(SHMEM_CTX_DEFAULT, symmetric, &value, 1, pe);
#if __STDC_VERSION__ >= 201112L
  shmem_p(symmetric, value, pe);
  shmem_put(SHMEM_CTX_DEFAULT, symmetric, &value, 1, pe);
  value = shmem_atomic_fetch_add(symmetric, 1L, pe);
  volatile long *changing = symmetric;
  shmem_wait_until(changing, SHMEM_CMP_NE, 0L);
  if (!shmem_test(changing, SHMEM_CMP_NE, 0L)) shmem_wait_until_all(changing, 1, NULL, SHMEM_CMP_NE, 0L);
#endif
  shmemx_long_ibput(symmetric, &value, 1, 1, 1, 1, pe);
#if __STDC_VERSION__ >= 201112L
  shmemx_ibput(symmetric, &value, 1, 1, 1, 1, pe);
  shmemx_sum_inscan(SHMEM_TEAM_WORLD, symmetric, symmetric, 1);
#endif
  shmemx_am_attach(1, on_message);
  shmemx_am_request(pe, 1, &value, sizeof value);
  pshmemx_am_quiet();
  pshmem_quiet();
  return value == SHMEM_CMP_EQ && shmem_long_test(symmetric, SHMEM_CMP_EQ, 0);
}
