/*
 * executables.c - tests which objects are symmetric between PEs that run different executables.
 *
 * It is built twice, with its variables in another order. It prints "good, statics are 1" (or 0), for all other PEs.
 * usage: executables [put]. put: to a static variable of the next PE.
 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

#ifdef OTHER_ORDER
static struct {
  long b, a;
} in = {-2, -1};
#else
static struct {
  long a, b;
} in = {-1, -2};
#endif

/* On the heap everything works. Returns whether static memory is accessible; -1: the PEs differ. */
static int look(const char *what)
{
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, accessible = shmem_addr_accessible(&in.a, next);
  long *heap = shmem_calloc(1, sizeof *heap);
  if (strcmp(what, "put") == 0) shmem_long_p(&in.a, 7, next);
  shmem_long_p(heap, me + 1, next);
  shmem_barrier_all();
  int bad = *heap != (me + n - 1) % n + 1 || in.a != -1 || in.b != -2;
  for (int pe = 0; pe < n; pe++) {
    if (pe == me) continue;
    bad |= shmem_addr_accessible(&in.a, pe) != accessible || shmem_addr_accessible(heap, pe) != 1;
    bad |= !accessible && shmem_ptr(&in.a, pe);
  }
  shmem_free(heap);
  shmem_finalize();
  return bad ? -1 : accessible;
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  int first = look(what), again = look(what);
  if (first < 0 || first != again) return 1;
  printf("good, statics are %d\n", first);
  return 0;
}
