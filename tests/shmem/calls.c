/* Runs the generated tests of every routine, on memory of the heap and, where PEs are processes, on static memory. */
#include "shmem/calls.h"

#include "generated_calls.h"

static void run_all(const room *r)
{
  for (size_t i = 0; i < n_call_tests; i++) {
    int before = failures;
    call_tests[i].run(r);
    if (failures != before) fprintf(stderr, "FAIL %s on PE %d\n", call_tests[i].name, r->me);
  }
}

#ifndef WTL_THREADS
static _Alignas(64) char static_a[ROOM_BYTES], static_b[ROOM_BYTES], static_large_a[LARGE_BYTES],
    static_large_b[LARGE_BYTES];
#endif

int main(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  room heap = {shmem_malloc(ROOM_BYTES),
               shmem_malloc(ROOM_BYTES),
               shmem_malloc(LARGE_BYTES),
               shmem_malloc(LARGE_BYTES),
               me,
               n,
               (me + n - 1) % n,
               (me + 1) % n};
  run_all(&heap);
#ifndef WTL_THREADS
  room fixed = {static_a, static_b, static_large_a, static_large_b, me, n, heap.left, heap.right};
  if (n <= 4) run_all(&fixed);
#endif
  if (me == 0) printf("%zu routines\n", n_call_tests);
  shmem_finalize();
  return failures != 0;
}
