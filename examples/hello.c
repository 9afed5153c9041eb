/*
 * hello.c - the smallest useful OpenSHMEM program: every PE writes its number into its right neighbour's memory.
 *
 *   oshcc hello.c -o hello && oshrun -n 4 ./hello
 */
#include <shmem.h>
#include <stdio.h>

static int from_left = -1; /* static, hence symmetric: it exists on every PE, and other PEs may write to it */

int main(void)
{
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();

  shmem_int_p(&from_left, me, (me + 1) % n); /* one-sided: the neighbour does nothing to receive it */
  shmem_barrier_all();                       /* now every put is complete and visible */

  int expected = (me + n - 1) % n;
  printf("PE %d of %d: my left neighbour is %d\n", me, n, from_left);
  int wrong = from_left != expected;
  if (wrong) fprintf(stderr, "PE %d: got %d, expected %d\n", me, from_left, expected);
  shmem_finalize();
  return wrong;
}
