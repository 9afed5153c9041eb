/* shmem.h in every standard of C; the C11 ones use the generics too. */
#include <shmem.h>

int use(long *symmetric, int pe)
{
  long value = shmem_long_g(symmetric, pe);
  shmem_long_p(symmetric, value + 1, pe);
  shmem_ctx_long_put(SHMEM_CTX_DEFAULT, symmetric, &value, 1, pe);
#if __STDC_VERSION__ >= 201112L
  shmem_p(symmetric, value, pe);
  shmem_put(SHMEM_CTX_DEFAULT, symmetric, &value, 1, pe);
  value = shmem_atomic_fetch_add(symmetric, 1L, pe);
#endif
  pshmem_quiet();
  return value == SHMEM_CMP_EQ && shmem_long_test(symmetric, SHMEM_CMP_EQ, 0);
}
