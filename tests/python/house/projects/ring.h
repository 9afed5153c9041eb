/* ring.h - the program of several projects: each PE writes its number to its neighbour, and PE 0 adds them up. */
#include <shmem.h>
#include <stdio.h>

static int ring(void)
{
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  long *cell = (long *)shmem_malloc(2 * sizeof *cell);
  cell[0] = cell[1] = 0;
  shmem_barrier_all();
  shmem_long_p(&cell[0], me, (me + 1) % n);
  shmem_barrier_all();
  shmem_long_atomic_add(&cell[1], cell[0], 0);
  shmem_barrier_all();
  if (me == 0) printf("the PEs' numbers add up to %ld\n", cell[1]);
  shmem_free(cell);
  shmem_finalize();
  return 0;
}
