/* Touches its whole symmetric heap, then says so. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
  shmem_init();
  size_t bytes = (size_t)atol(argc > 1 ? argv[1] : "0") << 20;
  char *all = shmem_malloc(bytes);
  if (all) memset(all, 1, bytes);
  shmem_barrier_all();
  printf("PE %d touched %zu MiB\n", shmem_my_pe(), bytes >> 20);
  shmem_finalize();
  return 0;
}
