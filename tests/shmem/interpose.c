/* A profiling tool's way in: it defines shmem_putmem and calls pshmem_putmem; both the program's calls and the
 * library's work go on. */
#include <shmem.h>

#include "pes.h"

static _Thread_local int intercepted;

void shmem_putmem(void *dest, const void *source, size_t nelems, int pe)
{
  intercepted++;
  pshmem_putmem(dest, source, nelems, pe);
}

int main(int argc, char **argv)
{
  (void)argc;
  (void)argv;
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes(), from[10];
  int *to = shmem_calloc(10, sizeof *to);
  for (int i = 0; i < 10; i++) from[i] = me * 100 + i;
  shmem_putmem(to, from, sizeof from, (me + 1) % n);
  shmem_barrier_all();
  for (int i = 0; i < 10; i++) EXPECT(to[i] == (me + n - 1) % n * 100 + i, "element %d", i);
  EXPECT(intercepted == 1, "intercepted %d times", intercepted);
  shmem_free(to);
  shmem_finalize();
  return failures != 0;
}
