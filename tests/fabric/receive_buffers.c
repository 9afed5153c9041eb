/* receive_buffers.c - prints the memory of PE 0 after a barrier, in KiB. */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
  char line[128];
  long kib = -1;
  shmem_init();
  shmem_barrier_all();
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmRSS: %ld", &kib);
  if (status) fclose(status);
  if (shmem_my_pe() == 0) printf("%ld\n", kib);
  shmem_finalize();
  return 0;
}
