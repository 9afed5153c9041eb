/* Says that it began; its PEs meet for ever. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
  shmem_init();
  if (shmem_my_pe() == 0) {
    puts("began");
    fflush(stdout);
  }
  for (;;) shmem_barrier_all();
}
