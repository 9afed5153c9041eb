/* The names that programs of the last decades call to start, to allocate and to ask, from mpp/shmem.h. */
#include <mpp/shmem.h>
#include <mpp/shmemx.h>

#include "pes.h"

int main(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  start_pes(0);
  int me = _my_pe(), n = _num_pes();
  EXPECT(me == shmem_my_pe() && n == shmem_n_pes(), "PE %d of %d", me, n);
  long *a = shmalloc(100 * sizeof *a), *b = shmemalign(256, 64);
  EXPECT(a && b && (uintptr_t)b % 256 == 0, "symmetric memory");
  a[0] = me;
  a[1] = 7;
  a[2] = me;
  shmem_barrier_all();
  EXPECT(shmem_long_g(a, (me + 1) % n) == (me + 1) % n, "symmetric memory");
  shmem_barrier_all();
  a = shrealloc(a, 1000 * sizeof *a);
  EXPECT(a && a[0] == me && a[1] == 7, "what shrealloc keeps");
  shmem_barrier_all();
  long before = (shmem_swap)(a + 1, me, (me + 1) % n); /* the routine, not the C11 generic */
  EXPECT(before == 7, "%ld swapped", before);
  shmem_barrier_all();
  EXPECT(a[1] == (me + n - 1) % n, "swapped to %ld", a[1]);
  long mine[_SHMEM_REDUCE_SYNC_SIZE],
      work[_SHMEM_REDUCE_MIN_WRKDATA_SIZE]; /* programs exist whose work arrays are private */
  for (int i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++) mine[i] = _SHMEM_SYNC_VALUE;
  shmem_long_max_to_all(a + 3, a + 2, 1, 0, 0, n, work, mine);
  EXPECT(a[3] == n - 1, "the greatest of all PEs: %ld", a[3]);
  static long sync[_SHMEM_BCAST_SYNC_SIZE];
  a[4] = -1;
  shmem_broadcast64(a + 4, a, 1, me, me, 0, 1, sync); /* programs name the root of a set of one PE by its PE number */
  EXPECT(a[4] == -1, "a root's own destination: %ld", a[4]);
  long *odd = shmemalign(2, 10);
  EXPECT(odd != NULL, "memory at a multiple of 2");
  shfree(odd);
  shmem_set_cache_inv();
  shmem_set_cache_line_inv(a);
  shmem_clear_cache_inv();
  shmem_clear_cache_line_inv(a);
  shmem_udcflush();
  shmem_udcflush_line(a);
  shmem_pcontrol(0);
  shmem_long_p(a, 1, me);
  shmem_pcontrol(1);
  shmem_pcontrol(5, "what a tool would take", 2);
  EXPECT(_SHMEM_CMP_EQ == SHMEM_CMP_EQ && _SHMEM_SYNC_VALUE == SHMEM_SYNC_VALUE && _SHMEM_MAJOR_VERSION == 1 &&
             _SHMEM_BCAST_SYNC_SIZE >= 1 && _SHMEM_ALLTOALL_SYNC_SIZE >= 1 && _SHMEM_ALLTOALLS_SYNC_SIZE >= 1 &&
             _SHMEM_REDUCE_MIN_WRKDATA_SIZE >= 1,
         "the old constants");
  EXPECT(OSHMEM_SPEC_VERSION == 10600, "Open MPI's version of the standard is %d", OSHMEM_SPEC_VERSION);
  EXPECT(strcmp(_SHMEM_VENDOR_STRING, SHMEM_VENDOR_STRING) == 0 && _SHMEM_MAX_NAME_LEN == SHMEM_MAX_NAME_LEN, "name");
  shfree(a);
  EXPECT(shmalloc(1000 * sizeof *a) == (void *)a, "what shfree gives back is there again");
  shfree(a);
  shfree(b);
  return failures != 0; /* and the end of the program finalizes */
}
