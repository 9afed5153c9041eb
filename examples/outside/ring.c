/* ring.c - a token goes once round all PEs: each adds its number and passes the sum on with a signal. */
#include <shmem.h>
#include <stdio.h>

static long sum;
static uint64_t signal;

int main(void)
{
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
  if (me > 0) shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 1);
  long more = sum + me;
  if (n > 1) shmem_long_put_signal(&sum, &more, 1, &signal, 1, SHMEM_SIGNAL_SET, next);
  if (me == 0) {
    if (n > 1) shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 1);
    printf("the PEs' numbers add up to %ld\n", sum);
  }
  shmem_finalize();
  return 0;
}
