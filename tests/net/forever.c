/* Works with all other PEs until it is ended: rounds of add and barrier. Says when it is under way. */
#include <shmem.h>
#include <stdio.h>

static long counter;

int main(void)
{
  shmem_init();
  for (long round = 0;; round++) {
    shmem_long_atomic_add(&counter, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    if (round == 100 && shmem_my_pe() == 0) {
      puts("under way");
      fflush(stdout);
    }
  }
}
