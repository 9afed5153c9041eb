/* A profiling tool's way in: it defines shmem_putmem and calls pshmem_putmem; both the program's calls and the
 * library's work go on. So does it with a routine whose name is also a C11 generic. */
#include <pshmem.h>

static _Thread_local int intercepted;

void shmem_putmem(void *dest, const void *source, size_t nelems, int pe)
{
  intercepted++;
  pshmem_putmem(dest, source, nelems, pe);
}

long shmem_swap(long *dest, long value, int pe)
{
  intercepted++;
  return pshmem_swap(dest, value, pe);
}

#include "pes.h" /* with it shmem.h, and the generics of what is defined above */

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
  long *word = shmem_calloc(1, sizeof *word);
  EXPECT((shmem_swap)(word, 7, (me + 1) % n) == 0, "not the zero that was there");
  shmem_barrier_all();
  EXPECT(*word == 7 && intercepted == 2, "%ld, intercepted %d times", *word, intercepted);
  shmem_free(word);
  shmem_free(to);
  shmem_finalize();
  return failures != 0;
}
