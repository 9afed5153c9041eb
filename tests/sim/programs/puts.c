/* PE 0 puts ARG bytes to PE 1, ARG times, each at once after the other; then all are complete, and right. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
  shmem_init();
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  int times = argc > 2 ? atoi(argv[2]) : 1;
  unsigned char *to = shmem_malloc(n), *from = malloc(n);
  if (!to || !from) return 1;
  memset(to, 0, n);
  shmem_barrier_all();
  for (int i = 0; shmem_my_pe() == 0 && i < times; i++) {
    memset(from, i + 1, n);
    shmem_putmem(to, from, n, 1);
  }
  shmem_barrier_all();
  for (size_t k = 0; shmem_my_pe() == 1 && k < n; k++)
    if (to[k] != (unsigned char)times) return 1;
  free(from);
  shmem_free(to);
  shmem_finalize();
  return 0;
}
