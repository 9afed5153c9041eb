/* deadlock.c - makes a deadlock: PE 0 waits for a word that no PE sets, and the others wait for PE 0. */
#include <shmem.h>

static long never;

int main(void)
{
  shmem_init();
  if (shmem_my_pe() == 0) shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
  shmem_finalize();
}
