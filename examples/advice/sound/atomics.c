/* atomics.c - counts in tables of random PEs with atomic operations. */
#include <shmem.h>
#include <stdlib.h>

enum { COUNTERS = 4096, COUNTS = 1000000 };
static unsigned long counter[COUNTERS];

int main(int argc, char **argv)
{
  int counts = argc > 1 ? atoi(argv[1]) : COUNTS;
  shmem_init();
  unsigned long random = (unsigned long)shmem_my_pe() + 1, n = (unsigned long)shmem_n_pes();
  for (int i = 0; i < counts; i++) {
    random = random * 6364136223846793005ul + 1442695040888963407ul;
    shmem_ulong_atomic_add(&counter[(random >> 33) % COUNTERS], 1, (int)((random >> 48) % n));
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
